package filestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

var _ ports.Trash = (*Store)(nil)

// The directory of deleted sessions and the format of its control files.
const (
	trashDir     = "trash"
	trashVersion = 1
)

// trashName is the name of a session in the trash. It includes the time, since a session may be
// deleted, restored and deleted again.
func trashName(s id.Session, atMs int64) string { return fmt.Sprintf("%s.%d", s, atMs) }

// parseTrashName is the inverse of trashName; other spellings are not names of the trash.
func parseTrashName(name string) (s id.Session, atMs int64, ok bool) {
	at := strings.LastIndexByte(name, '.')
	if at < 0 {
		return s, 0, false
	}
	s, err := id.ParseSession(name[:at])
	if err != nil {
		return s, 0, false
	}
	atMs, err = strconv.ParseInt(name[at+1:], 10, 64)
	return s, atMs, err == nil && trashName(s, atMs) == name
}

// TrashEntries implements ports.Trash. The result is sorted by name.
func (s *Store) TrashEntries(ctx context.Context) ([]ports.TrashEntry, error) {
	if err := ctx.Err(); err != nil {
		return nil, readFault(err)
	}
	entries, err := s.fs.List(trashDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []ports.TrashEntry
	for _, e := range entries {
		session, atMs, ok := parseTrashName(e.Name)
		if !ok || e.Kind != osfs.Directory {
			continue
		}
		t := ports.TrashEntry{Name: e.Name, Root: path.Join(trashDir, e.Name), Session: session, AtMs: atMs}
		// The record of who deleted the session is optional: the session is complete without it.
		if doc, ok, err := s.readControl(path.Join(t.Root, ports.TrashFile.Name), ports.TrashFile.Kind); err == nil &&
			ok {
			t.Control = ports.Control{V: doc.V, Data: doc.Data}
		}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b ports.TrashEntry) int { return strings.Compare(a.Name, b.Name) })
	return out, readFault(err)
}

// Discard implements ports.Trash. unless is called when all locks are held, and its error cancels
// the deletion. Errors are those of lockSession, and STORE_OUTCOME_UNKNOWN.
func (s *Store) Discard(ctx context.Context, session id.Session, atMs int64, data canon.Value,
	unless func() error) (ports.TrashEntry, error) {
	out := ports.TrashEntry{Name: trashName(session, atMs), Session: session, AtMs: atMs,
		Control: ports.Control{V: trashVersion, Data: data}}
	out.Root = path.Join(trashDir, out.Name)
	if _, err := s.toWrite(); err != nil {
		return out, err
	}
	locks, err := s.lockSession(ctx, session)
	if err != nil {
		return out, err
	}
	defer locks.unlock()
	if err := unless(); err != nil {
		return out, err
	}
	return out, writeFault(s.discard(session, out, locks))
}

// discard moves the session's directory to the trash, with its record, under the given locks.
//
// What a crash leaves: before the move the session in its place, and a temporary file in trash/;
// after it the session in the trash, possibly without its record, which TrashEntries accepts. A failed
// sync is followed by an attempt to move the session back; the result is STORE_OUTCOME_UNKNOWN in
// both cases.
func (s *Store) discard(session id.Session, to ports.TrashEntry, locks *sessionLocks) error {
	made, err := s.mkdirs(trashDir)
	if err != nil {
		return err
	}
	for _, dir := range made {
		if err := s.fs.SyncDir(path.Dir(dir), osfs.Order); err != nil {
			return err
		}
	}
	// Everything that can fail for lack of space is done before the move.
	note, err := s.stageControl(trashDir, controlfile.Document{Kind: ports.TrashFile.Kind, V: to.Control.V,
		Data: to.Control.Data})
	if err != nil {
		return err
	}
	if moveNeedsClosedFiles {
		locks.unlockLogs()
	}
	err = s.fs.Place(sessionDir(session), to.Root)
	if err != nil && s.exists(sessionDir(session)) {
		_ = s.fs.Remove(note)
		return err
	}
	// The new directory is synced before the old one: of a rename, a disk without a journal may
	// persist only one half.
	if err == nil {
		err = s.fs.Place(note, path.Join(to.Root, ports.TrashFile.Name))
	}
	for _, dir := range []string{to.Root, trashDir, "sessions"} {
		if err == nil {
			err = s.fs.SyncDir(dir, osfs.Durable)
		}
	}
	if err == nil {
		return nil
	}
	_ = s.fs.Remove(note)
	if s.fs.Place(to.Root, sessionDir(session)) == nil {
		_ = s.fs.Remove(path.Join(sessionDir(session), ports.TrashFile.Name))
	}
	return moveOutcomeUnknown(err, session)
}

// exists reports whether a name exists; it shows whether a failed move took place.
func (s *Store) exists(name string) bool {
	_, exists, err := s.stat(name)
	return err == nil && exists
}

// moveOutcomeUnknown is STORE_OUTCOME_UNKNOWN for a move that may have happened: a failed sync
// proves neither outcome (docs/design.md#failed-sync), so only reading the directories shows it.
func moveOutcomeUnknown(cause error, session id.Session) error {
	return fault.Wrap(cause, fault.StoreOutcomeUnknown, "moving session %s failed half-way: %v", session,
		readFault(cause)).
		Suggest("Find it with %s and %s, and check the disk.",
			fault.Command{"sessions", "list", "--trash"}, fault.Command{"sessions", "list"}).
		With("sessionId", session.String())
}

// stageControl writes a control file to a temporary name in dir, and syncs it.
func (s *Store) stageControl(dir string, doc controlfile.Document) (temp string, err error) {
	b, err := controlfile.Encode(doc)
	if err != nil {
		return "", err
	}
	if temp, err = s.tempName(dir); err != nil {
		return "", err
	}
	if err = s.writeTemp(temp, b); err != nil {
		_ = s.fs.Remove(temp)
	}
	return temp, err
}

// Restore implements ports.Trash. Errors: SESSION_NOT_FOUND for a name that is not in the trash,
// VALIDATION_ERROR when the store has another session of the same id, STORE_OUTCOME_UNKNOWN.
func (s *Store) Restore(ctx context.Context, name string) (id.Session, error) {
	session, _, ok := parseTrashName(name)
	if !ok {
		return session, fault.New(fault.SessionNotFound, "the trash has no session %q", name)
	}
	if _, err := s.toWrite(); err != nil {
		return session, err
	}
	held, err := s.lockUseExclusive(ctx)
	if err != nil {
		return session, err
	}
	defer held.Unlock()
	root, dir := path.Join(trashDir, name), sessionDir(session)
	if _, exists, err := s.stat(root); err != nil || !exists {
		if err == nil {
			err = fault.New(fault.SessionNotFound, "the trash has no session %q", name)
		}
		return session, readFault(err)
	}
	if _, exists, err := s.stat(dir); err != nil || exists {
		gone := false
		if err == nil {
			gone, err = s.removeUnborn(ctx, session)
		}
		if err == nil && !gone {
			err = fault.New(fault.ValidationError, "the store holds another session under the id %s", session).
				Suggest("Delete that session first, or leave this one in the trash.")
		}
		if err != nil {
			return session, writeFault(err)
		}
	}
	return session, writeFault(s.restore(session, root, dir))
}

// restore removes the trash record first, so that readers of sessions need not know it, and then
// moves the directory from root to dir.
//
// A crash after the first step leaves the session in the trash without its record, and it can be
// restored again.
func (s *Store) restore(session id.Session, root, dir string) error {
	note := path.Join(root, ports.TrashFile.Name)
	if err := s.fs.Remove(note); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.fs.SyncDir(root, osfs.Order); err != nil {
		return err
	}
	if err := s.fs.Place(root, dir); err != nil {
		if s.exists(root) {
			return err
		}
		return moveOutcomeUnknown(err, session)
	}
	for _, parent := range []string{"sessions", trashDir} {
		if err := s.fs.SyncDir(parent, osfs.Durable); err != nil {
			return moveOutcomeUnknown(err, session)
		}
	}
	return nil
}

// Empty implements ports.Trash. A name that is not in the trash is not an error.
func (s *Store) Empty(ctx context.Context, name string) error {
	if _, _, ok := parseTrashName(name); !ok {
		return nil
	}
	if _, err := s.toWrite(); err != nil {
		return err
	}
	held, err := s.lockUseExclusive(ctx)
	if err != nil {
		return err
	}
	defer held.Unlock()
	root := path.Join(trashDir, name)
	if _, exists, err := s.stat(root); err != nil || !exists {
		return readFault(err)
	}
	return writeFault(s.removeTree(root))
}

// removeTree removes a directory with its content. It is renamed first, durably: no reader meets a
// part of it, and nothing that only it referenced is reported as missing.
//
// A crash after the rename leaves a temporary directory, which gc removes.
func (s *Store) removeTree(dir string) error {
	temp, err := s.tempName(path.Dir(dir))
	if err != nil {
		return err
	}
	if err := s.fs.Place(dir, temp); err != nil {
		return err
	}
	if err := s.fs.SyncDir(path.Dir(dir), osfs.Durable); err != nil {
		// Whether the rename is durable is unknown (docs/design.md#failed-sync), so nothing may be
		// removed.
		_ = s.fs.Place(temp, dir)
		return err
	}
	return s.removeAll(temp)
}

// removeAll removes a file, or a directory with its content. A file that is already gone is not an
// error: another process may be cleaning up as well.
func (s *Store) removeAll(name string) error {
	info, exists, err := s.stat(name)
	if err != nil && !errors.Is(err, osfs.ErrSymlink) || err == nil && !exists {
		return err
	}
	if err == nil && info.Kind == osfs.Directory {
		entries, err := s.fs.List(name)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := s.removeAll(path.Join(name, e.Name)); err != nil {
				return err
			}
		}
	}
	if err := s.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
