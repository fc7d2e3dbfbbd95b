package commit

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
)

// Writers of a log leave notes for the next writer in the lock file. Notes are not synced, so they
// are trusted only within the boot of the machine that wrote them: within one boot every process
// reads what was written last. The empty note states nothing, and without a known boot id no notes
// are written.

// cleanNote is written after a commit. It states that the segment directory has no files but
// committed segments as long as head is the log's head, so that the next writer does not list the
// directory, which grows with history. If an older note reappears after a crash, an orphan remains
// in place: readers ignore it, and placing a segment of the same name finds it.
//
// Its form is the boot id, a slash and the file name of the head's digest. The zero head has no
// note, since an empty log has no group that a digest could name.
func cleanNote(d *disk.Disk, head canon.Digest) string {
	if d.Boot == "" || head.IsZero() {
		return ""
	}
	return d.Boot + "/" + head.FileName()
}

// OpenNote is set while a writer is active. A process that finds it knows that the writer did not
// complete: the manifest may contain bytes that exist in memory only, and if a sync of it failed,
// no later sync would report that (docs/design.md#failed-sync).
//
// Its form is the boot id followed by "/open". It equals the note of every other writer of the same
// boot: which process stopped does not matter.
func OpenNote(d *disk.Disk) string {
	if d.Boot == "" {
		return ""
	}
	return d.Boot + "/open"
}

// isSuspect reports that syncs of a log's manifest prove nothing: a writer stopped before it
// completed, as its note shows, or a sync failed and left its mark.
//
// note is the note that was found before this writer set its own.
func isSuspect(d *disk.Disk, log manifest.Log, note string) (bool, error) {
	if note != "" && note == OpenNote(d) {
		return true, nil
	}
	_, ok, err := d.Lookup(layout.SuspectPath(log))
	return ok, err
}
