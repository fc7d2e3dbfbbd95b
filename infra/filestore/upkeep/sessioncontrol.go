package upkeep

import (
	"context"
	"errors"
	"io/fs"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/infra/filestore/commit"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// UpdateSessionControl implements ports.SessionControls. The error of change is returned unchanged,
// and then nothing was written. A missing session is SESSION_NOT_FOUND.
func (k *Keeper) UpdateSessionControl(ctx context.Context, session id.Session, f ports.ControlFile,
	change func(ports.Control) (ports.Control, error)) error {
	return k.changeSessionControl(ctx, session, f, func(name string) error {
		_, exists, err := k.d.Lookup(layout.SessionDir(session))
		if err == nil && !exists {
			err = fault.New(fault.SessionNotFound, "the store has no session %s", session)
		}
		if err != nil {
			return err
		}
		return k.update(name, f.Kind, func(old ports.Control) (ports.Control, error) {
			next, err := change(old)
			if err == nil {
				err = disk.WriteFault(commit.FinishArrivalLocked(k.d, layout.SessionDir(session)))
			}
			return next, err
		})
	})
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
		return k.d.SyncOrRewrite(name, disk.Bytes(b)) // after an error the file still exists
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
	held, err := k.d.LockToWrite(ctx, lock.Exclusive)
	if err != nil {
		return err
	}
	defer held.Unlock()
	return disk.WriteFault(change(name))
}
