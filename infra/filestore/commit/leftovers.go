package commit

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/filestore/read"
	"github.com/waybill/waybill/infra/osfs"
)

// removeLeftovers handles what a crash or a failed disk left of an append that was never
// acknowledged, before anything else is written: the uncommitted tail of the manifest, a manifest
// whose syncs prove nothing, orphaned segments and temporary files, an import mark beyond the head (docs/design.md#log-tail,
// docs/design.md#failed-sync).
//
// The segment directory is listed only when the note of the last writer does not state that it is
// clean: listing it costs time in proportion to the history of the log.
func (a *appendOp) removeLeftovers() error {
	if dir := path.Dir(a.log.Root); a.at.IsZero() && strings.HasPrefix(dir, "sessions/") {
		// A side log without commits has no arrival mark of its own: the session's applies.
		if err := finishArrival(a.d, dir); err != nil {
			return err
		}
	}
	suspect, err := isSuspect(a.d, a.log, a.foundNote)
	switch {
	case err != nil:
		return err
	case suspect:
		// The copy omits the tail as well: cutting it first would sync a file whose syncs prove
		// nothing.
		err = a.copyManifest()
	case a.tail > 0:
		err = a.cut()
	}
	if err != nil || a.foundNote != "" && a.foundNote == cleanNote(a.d, a.at.Digest) {
		return err
	}
	return a.removeUnfinished()
}

// cut truncates the manifest to its last group. Until that is durable nothing may be written behind
// it: a crash could mix sectors of two groups, which readers could not distinguish from damage.
func (a *appendOp) cut() error {
	if err := a.manifest.Truncate(a.at.Bytes); err != nil {
		return err
	}
	if err := a.manifest.Sync(osfs.Order); err != nil {
		a.unsynced = true
		MarkSuspect(a.d, a.log)
		return err
	}
	return nil
}

// copyManifest replaces the manifest by a synced copy and opens the copy.
func (a *appendOp) copyManifest() error {
	a.unsynced = true
	if err := CopyManifest(a.d, a.log, a.at.Bytes); err != nil {
		return err
	}
	return a.reopen()
}

// reopen opens the file that the manifest's name refers to now.
func (a *appendOp) reopen() error {
	_ = a.manifest.Close()
	a.manifest = nil
	return a.open()
}

// quarantineOrphans moves segments that no group commits to the quarantine and removes temporary
// files of the segment directory: only the holder of this log's lock writes there. A segment beyond
// the head is SESSION_UNHEALTHY, unless an import that did not finish left it.
func (a *appendOp) quarantineOrphans() error {
	names, err := read.SegmentNames(a.d, a.log)
	if err != nil {
		return err
	}
	var orphans []string
	for _, name := range names {
		if layout.IsTemp(name) && !a.isStaged(name) {
			_ = a.d.Remove(path.Join(layout.SegmentsDir(a.log), name))
		}
		first, _, ok := manifest.ParseSegmentName(name)
		switch {
		case !ok || first < a.at.Next:
		case first > a.at.Next && !a.isPending():
			// It proves that more was committed than the manifest shows.
			return fault.New(fault.SessionUnhealthy,
				"%s holds %s beyond event %d: what was committed before it is lost", a.log.Owner, name, a.at.Next)
		default:
			orphans = append(orphans, name)
		}
	}
	return a.quarantine(orphans)
}

// isStaged reports a temporary file of this append: quarantineOrphans may also run between staging
// and placing.
func (a *appendOp) isStaged(name string) bool {
	at := path.Join(layout.SegmentsDir(a.log), name)
	return slices.ContainsFunc(a.incoming, func(f *pendingFile) bool { return f.IsAt(at) })
}

// quarantine moves orphaned segments of this log to the quarantine.
func (a *appendOp) quarantine(orphans []string) error {
	if len(orphans) == 0 {
		return nil
	}
	if _, err := a.d.Mkdirs(layout.QuarantineDir); err != nil {
		return err
	}
	// Moved, not removed: an orphan may be all that is left of work that the user wants back, and
	// whether it was acknowledged cannot be determined here.
	for _, name := range orphans {
		if err := a.quarantineSegment(name); err != nil {
			return err
		}
	}
	// Both directories are synced, so that moved files are durable at their new names.
	return a.d.SyncDirs(osfs.Order, layout.QuarantineDir, layout.SegmentsDir(a.log))
}

// quarantineSegment moves one segment to a free name: a log may leave several orphans of one range.
//
// The name in the quarantine is the path of the log with dots for slashes, a dot, the segment's
// name, and a number where that is taken.
func (a *appendOp) quarantineSegment(name string) (err error) {
	base := strings.ReplaceAll(a.log.Root, "/", ".") + "." + name
	for n := 0; n < 1000; n++ {
		to := path.Join(layout.QuarantineDir, base)
		if n > 0 {
			to = fmt.Sprintf("%s.%d", to, n)
		}
		if err = a.d.Place(path.Join(layout.SegmentsDir(a.log), name), to); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return err
}
