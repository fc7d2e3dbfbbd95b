package filestore

import (
	"path"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Writers of a log leave each other notes in its lock file. They are not synced,
// so they are believed only within the run of the machine that wrote them: within
// one, everybody reads what was written last. "" says nothing, and where the run
// cannot be told there are no notes.

// tidyNote stands behind a commit: nothing but committed segments lies in this log
// as long as its head is that one. The next writer then spares listing the folder,
// which grows with history. Should an older note come back all the same, an orphan
// stays where it is: no reader minds it, and its name is noticed on placing.
func (s *Store) tidyNote(head canon.Digest) string {
	if s.o.Boot == "" || head.IsZero() {
		return ""
	}
	return s.o.Boot + "/" + head.FileName()
}

// openNote stands while a writer is at work. Who finds it knows that the writer
// never came to its end: what is in the manifest may be in memory only, and when a
// sync of it failed before the end came, no later sync would say so (R7).
func (s *Store) openNote() string {
	if s.o.Boot == "" {
		return ""
	}
	return s.o.Boot + "/open"
}

// isSuspect reports that syncs of a log's manifest prove nothing any more: a
// writer died at work, as its note shows, or a sync failed and left its mark.
func (s *Store) isSuspect(log manifest.Log, note string) (bool, error) {
	if note != "" && note == s.openNote() {
		return true, nil
	}
	_, ok, err := s.stat(path.Join(log.Root, suspectFile))
	return ok, err
}
