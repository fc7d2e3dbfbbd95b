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

const (
	trashDir     = "trash"
	trashVersion = 1
)

// trashName is what a session is called in the trash: it may be deleted, restored
// and deleted again, so that its id alone would not do.
func trashName(s id.Session, atMs int64) string { return fmt.Sprintf("%s.%d", s, atMs) }

// parseTrashName undoes trashName; any other spelling is none of ours.
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

// Trashed implements ports.Trash.
func (s *Store) Trashed(ctx context.Context) ([]ports.Trashed, error) {
	if err := ctx.Err(); err != nil {
		return nil, readFault(err)
	}
	entries, err := s.fs.List(trashDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []ports.Trashed
	for _, e := range entries {
		session, atMs, ok := parseTrashName(e.Name)
		if !ok || e.Kind != osfs.Directory {
			continue
		}
		t := ports.Trashed{Name: e.Name, Root: path.Join(trashDir, e.Name), Session: session, AtMs: atMs}
		// Who put it there is a courtesy: the session is what it is without.
		if doc, ok, err := s.readControl(path.Join(t.Root, ports.TrashFile.Name), ports.TrashFile.Kind); err == nil &&
			ok {
			t.Control = ports.Control{V: doc.V, Data: doc.Data}
		}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b ports.Trashed) int { return strings.Compare(a.Name, b.Name) })
	return out, readFault(err)
}

// Discard implements ports.Trash.
func (s *Store) Discard(ctx context.Context, session id.Session, atMs int64, data canon.Value,
	unless func() error) (ports.Trashed, error) {
	out := ports.Trashed{Name: trashName(session, atMs), Session: session, AtMs: atMs,
		Control: ports.Control{V: trashVersion, Data: data}}
	out.Root = path.Join(trashDir, out.Name)
	if _, err := s.toWrite(); err != nil {
		return out, err
	}
	quiet, err := s.quieten(ctx, session)
	if err != nil {
		return out, err
	}
	defer quiet.end()
	if err := unless(); err != nil {
		return out, err
	}
	return out, writeFault(s.discard(session, out, quiet))
}

func (s *Store) discard(session id.Session, to ports.Trashed, quiet *quiet) error {
	made, err := s.mkdirs(trashDir)
	if err != nil {
		return err
	}
	for _, dir := range made {
		if err := s.fs.SyncDir(path.Dir(dir), osfs.Order); err != nil {
			return err
		}
	}
	// All that can fail for want of room is done before anything moves.
	note, err := s.stageControl(trashDir, controlfile.Document{Kind: ports.TrashFile.Kind, V: to.Control.V,
		Data: to.Control.Data})
	if err != nil {
		return err
	}
	if movesOnlyClosed {
		quiet.letWriters()
	}
	err = s.fs.Place(sessionDir(session), to.Root)
	if err != nil && s.isThere(sessionDir(session)) {
		_ = s.fs.Remove(note)
		return err
	}
	// The new name is durable before the old one is gone for good: of a move, a disk
	// without a journal may keep either half.
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
	return movedPerhaps(err, session)
}

// isThere tells whether a move that failed has happened all the same.
func (s *Store) isThere(name string) bool {
	_, there, err := s.stat(name)
	return err == nil && there
}

// movedPerhaps: a sync that failed proves nothing either way (R7), so that only
// looking tells where a session lies.
func movedPerhaps(cause error, session id.Session) error {
	return fault.Wrap(cause, fault.StoreOutcomeUnknown, "moving session %s failed half-way: %v", session,
		readFault(cause)).
		Suggest("See with 'waybill sessions list --trash' and 'waybill sessions list' where it lies, and look after "+
			"the disk.").With("sessionId", session.String())
}

// stageControl writes a control file beside where it will stand, and syncs it.
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

// Restore implements ports.Trash.
func (s *Store) Restore(ctx context.Context, name string) (id.Session, error) {
	session, _, ok := parseTrashName(name)
	if !ok {
		return session, fault.New(fault.SessionNotFound, "nothing in the trash is called %q", name)
	}
	if _, err := s.toWrite(); err != nil {
		return session, err
	}
	held, err := s.useAlone(ctx)
	if err != nil {
		return session, err
	}
	defer held.Unlock()
	root, dir := path.Join(trashDir, name), sessionDir(session)
	if _, there, err := s.stat(root); err != nil || !there {
		if err == nil {
			err = fault.New(fault.SessionNotFound, "nothing in the trash is called %q", name)
		}
		return session, readFault(err)
	}
	if _, there, err := s.stat(dir); err != nil || there {
		gone := false
		if err == nil {
			gone, err = s.removeUnborn(ctx, session)
		}
		if err == nil && !gone {
			err = fault.New(fault.ValidationError, "the store holds another session under the id %s", session).
				Suggest("Delete that one first, or leave this one where it is.")
		}
		if err != nil {
			return session, writeFault(err)
		}
	}
	return session, writeFault(s.restore(session, root, dir))
}

// restore takes the trash's own file away first: no reader of a session has to know
// about it.
func (s *Store) restore(session id.Session, root, dir string) error {
	note := path.Join(root, ports.TrashFile.Name)
	if err := s.fs.Remove(note); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.fs.SyncDir(root, osfs.Order); err != nil {
		return err
	}
	if err := s.fs.Place(root, dir); err != nil {
		if s.isThere(root) {
			return err
		}
		return movedPerhaps(err, session)
	}
	for _, parent := range []string{"sessions", trashDir} {
		if err := s.fs.SyncDir(parent, osfs.Durable); err != nil {
			return movedPerhaps(err, session)
		}
	}
	return nil
}

// Empty implements ports.Trash.
func (s *Store) Empty(ctx context.Context, name string) error {
	if _, _, ok := parseTrashName(name); !ok {
		return nil
	}
	if _, err := s.toWrite(); err != nil {
		return err
	}
	held, err := s.useAlone(ctx)
	if err != nil {
		return err
	}
	defer held.Unlock()
	root := path.Join(trashDir, name)
	if _, there, err := s.stat(root); err != nil || !there {
		return readFault(err)
	}
	return writeFault(s.vanish(root))
}

// vanish removes a folder with all that is in it. It loses its name first, durably:
// no reader meets half of it, and nothing that it alone referred to is missed.
func (s *Store) vanish(dir string) error {
	temp, err := s.tempName(path.Dir(dir))
	if err != nil {
		return err
	}
	if err := s.fs.Place(dir, temp); err != nil {
		return err
	}
	if err := s.fs.SyncDir(path.Dir(dir), osfs.Durable); err != nil {
		// Whether the name is gone nobody knows (R7), so nothing may be removed behind it.
		_ = s.fs.Place(temp, dir)
		return err
	}
	return s.removeAll(temp)
}

// removeAll removes a file, or a folder with all that is in it. What is gone already
// is no error: somebody else may be cleaning up as well.
func (s *Store) removeAll(name string) error {
	info, there, err := s.stat(name)
	if err != nil && !errors.Is(err, osfs.ErrSymlink) || err == nil && !there {
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
