package upkeep

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// UpdateSessionControl implements ports.SessionControls. The error of change is returned unchanged,
// and then nothing was written. A missing session is SESSION_NOT_FOUND.
func (k *Keeper) UpdateSessionControl(ctx context.Context, session id.Session, f ports.ControlFile,
	change func(ports.Control) (ports.Control, error)) error {
	var refusal error // the error of change, which writeFault must not map
	err := k.changeSessionControl(ctx, session, f, func(name string) error {
		if _, exists, err := k.d.Lookup(layout.SessionDir(session)); err != nil || !exists {
			if err == nil {
				err = fault.New(fault.SessionNotFound, "the store has no session %s", session)
			}
			return err
		}
		old, _, err := k.d.ReadControl(name, f.Kind)
		if err != nil {
			return err
		}
		next, err := change(ports.Control{V: old.V, Data: old.Data})
		if err != nil {
			refusal = err
			return nil
		}
		if err := k.commit.FinishArrivalLocked(layout.SessionDir(session)); err != nil {
			return err
		}
		return k.d.PutControl(name, controlfile.Document{Kind: f.Kind, V: next.V, Data: next.Data}, k.d.Replace)
	})
	if refusal != nil {
		return refusal
	}
	return err
}

// DropSessionControl implements ports.SessionControls. A missing file is not an error.
func (k *Keeper) DropSessionControl(ctx context.Context, session id.Session, f ports.ControlFile) error {
	return k.changeSessionControl(ctx, session, f, func(name string) error {
		b, err := k.d.ReadFile(name, limits.ControlFileBytesMax)
		if err == nil {
			err = k.d.Remove(name)
		}
		if errors.Is(err, fs.ErrNotExist) {
			// The removal may exist in memory only, if another process failed to sync the
			// directory.
			if _, exists, err := k.d.Lookup(layout.SessionDir(session)); err != nil || !exists {
				return err
			}
			return k.d.SyncDir(layout.SessionDir(session), osfs.Durable)
		}
		if err != nil {
			return err
		}
		if err = k.d.SyncDir(path.Dir(name), osfs.Durable); err != nil {
			k.d.RewriteBytes(name, b) // the caller gets the error, and the file still exists
		}
		return err
	})
}

// changeSessionControl runs change under the exclusive use lock, as UpdateControl does: no other
// change and no cleanup runs at the same time. change receives the path of the file.
func (k *Keeper) changeSessionControl(ctx context.Context, session id.Session, f ports.ControlFile,
	change func(name string) error) error {
	name, err := layout.SessionControlName(session, f)
	if err != nil {
		return err
	}
	if _, err := k.d.ToWrite(); err != nil {
		return err
	}
	held, err := k.d.LockUse(ctx)
	if err != nil {
		return err
	}
	defer held.Unlock()
	return disk.WriteFault(change(name))
}
