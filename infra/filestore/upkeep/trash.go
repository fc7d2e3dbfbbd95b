package upkeep

import (
	"context"
	"path"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Discard implements ports.Trash. unless is called when all locks are held, and its error cancels
// the deletion. Errors are those of lockSession, and STORE_OUTCOME_UNKNOWN.
func (k *Keeper) Discard(ctx context.Context, session id.Session, atMs int64, data canon.Value,
	unless func() error) (ports.TrashEntry, error) {
	out := ports.TrashEntry{Name: layout.TrashName(session, atMs), Session: session, AtMs: atMs,
		Control: ports.Control{V: layout.TrashVersion, Data: data}}
	out.Root = path.Join(layout.TrashDir, out.Name)
	if _, err := k.d.ToWrite(); err != nil {
		return out, err
	}
	locks, err := k.lockSession(ctx, session)
	if err != nil {
		return out, err
	}
	defer locks.unlock()
	if err := unless(); err != nil {
		return out, err
	}
	return out, disk.WriteFault(k.discard(session, out, locks))
}

// discard moves the session's directory to the trash, with its record, under the given locks.
//
// What a crash leaves: before the move the session in its place, and a temporary file in trash/;
// after it the session in the trash, possibly without its record, which TrashEntries accepts. A failed
// sync is followed by an attempt to move the session back; the result is STORE_OUTCOME_UNKNOWN in
// both cases.
func (k *Keeper) discard(session id.Session, to ports.TrashEntry, locks *sessionLocks) error {
	made, err := k.d.Mkdirs(layout.TrashDir)
	if err != nil {
		return err
	}
	for _, dir := range made {
		if err := k.d.SyncDir(path.Dir(dir), osfs.Order); err != nil {
			return err
		}
	}
	// Everything that can fail for lack of space is done before the move.
	doc := controlfile.Document{Kind: ports.TrashFile.Kind, V: to.Control.V, Data: to.Control.Data}
	note, err := k.d.WriteTemp(layout.TrashDir, disk.Document(doc))
	if err != nil {
		return err
	}
	if layout.MoveNeedsClosedFiles {
		locks.logs.Unlock()
	}
	err = k.d.Place(layout.SessionDir(session), to.Root)
	if err != nil && k.exists(layout.SessionDir(session)) {
		_ = k.d.Remove(note)
		return err
	}
	// The new directory is synced before the old one: of a rename, a disk without a journal may
	// persist only one half.
	if err == nil {
		err = k.d.Place(note, path.Join(to.Root, ports.TrashFile.Name))
	}
	for _, dir := range []string{to.Root, layout.TrashDir, "sessions"} {
		if err == nil {
			err = k.d.SyncDir(dir, osfs.Durable)
		}
	}
	if err == nil {
		return nil
	}
	_ = k.d.Remove(note)
	if k.d.Place(to.Root, layout.SessionDir(session)) == nil {
		_ = k.d.Remove(path.Join(layout.SessionDir(session), ports.TrashFile.Name))
	}
	return moveOutcomeUnknown(err, session)
}

// exists reports whether a name exists; it shows whether a failed move took place.
func (k *Keeper) exists(name string) bool {
	_, exists, err := k.d.Lookup(name)
	return err == nil && exists
}

// moveOutcomeUnknown is STORE_OUTCOME_UNKNOWN for a move that may have happened: a failed sync
// proves neither outcome (docs/design.md#failed-sync), so only reading the directories shows it.
func moveOutcomeUnknown(cause error, session id.Session) error {
	return fault.Wrap(cause, fault.StoreOutcomeUnknown, "moving session %s failed half-way: %v", session,
		disk.ReadFault(cause)).
		Suggest("Find it with %s and %s, and check the disk.",
			fault.Command{"sessions", "list", "--trash"}, fault.Command{"sessions", "list"}).With("sessionId", session.String())
}

// Restore implements ports.Trash. Errors: SESSION_NOT_FOUND for a name that is not in the trash,
// VALIDATION_ERROR when the store has another session of the same id, STORE_OUTCOME_UNKNOWN.
func (k *Keeper) Restore(ctx context.Context, name string) (id.Session, error) {
	session, _, ok := layout.ParseTrashName(name)
	if !ok {
		return session, fault.New(fault.SessionNotFound, "the trash has no session %q", name)
	}
	held, err := k.d.LockToWrite(ctx, lock.Exclusive)
	if err != nil {
		return session, err
	}
	defer held.Unlock()
	root, dir := path.Join(layout.TrashDir, name), layout.SessionDir(session)
	_, exists, err := k.d.Lookup(root)
	if err == nil && !exists {
		err = fault.New(fault.SessionNotFound, "the trash has no session %q", name)
	}
	if err != nil {
		return session, disk.ReadFault(err)
	}
	if _, exists, err = k.d.Lookup(dir); err == nil && exists {
		var gone bool
		if gone, err = k.removeUnborn(ctx, session); err == nil && !gone {
			err = fault.New(fault.ValidationError, "the store holds another session under the id %s", session).
				Suggest("Delete that session first, or leave this one in the trash.")
		}
	}
	if err == nil {
		err = k.restore(session, root, dir)
	}
	return session, disk.WriteFault(err)
}

// restore removes the trash record first, so that readers of sessions need not know it, and then
// moves the directory from root to dir.
//
// A crash after the first step leaves the session in the trash without its record, and it can be
// restored again.
func (k *Keeper) restore(session id.Session, root, dir string) error {
	note := path.Join(root, ports.TrashFile.Name)
	if err := k.d.Remove(note); disk.UnlessMissing(err) != nil {
		return err
	}
	if err := k.d.SyncDir(root, osfs.Order); err != nil {
		return err
	}
	if err := k.d.Place(root, dir); err != nil {
		if k.exists(root) {
			return err
		}
		return moveOutcomeUnknown(err, session)
	}
	for _, parent := range []string{"sessions", layout.TrashDir} {
		if err := k.d.SyncDir(parent, osfs.Durable); err != nil {
			return moveOutcomeUnknown(err, session)
		}
	}
	return nil
}

// Empty implements ports.Trash. A name that is not in the trash is not an error.
func (k *Keeper) Empty(ctx context.Context, name string) error {
	if _, _, ok := layout.ParseTrashName(name); !ok {
		return nil
	}
	held, err := k.d.LockToWrite(ctx, lock.Exclusive)
	if err != nil {
		return err
	}
	defer held.Unlock()
	root := path.Join(layout.TrashDir, name)
	if _, exists, err := k.d.Lookup(root); err != nil || !exists {
		return disk.ReadFault(err)
	}
	return disk.WriteFault(k.removeTree(root))
}

// removeTree removes a directory with its content. It is renamed first, durably: no reader meets a
// part of it, and nothing that only it referenced is reported as missing.
//
// A crash after the rename leaves a temporary directory, which gc removes.
func (k *Keeper) removeTree(dir string) error {
	temp, err := k.d.TempName(path.Dir(dir))
	if err != nil {
		return err
	}
	if err := k.d.Place(dir, temp); err != nil {
		return err
	}
	if err := k.d.SyncDir(path.Dir(dir), osfs.Durable); err != nil {
		// Whether the rename is durable is unknown (docs/design.md#failed-sync), so nothing may be
		// removed.
		_ = k.d.Place(temp, dir)
		return err
	}
	return k.d.RemoveAll(temp)
}
