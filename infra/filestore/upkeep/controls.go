package upkeep

import (
	"context"
	"path"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/filestore/read"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/ports"
)

// UpdateControl implements ports.Controls. The error of change is returned as it is.
func (k *Keeper) UpdateControl(ctx context.Context, f ports.ControlFile,
	change func(ports.Control) (ports.Control, error)) error {
	if !layout.IsControl(f.Name) {
		return fault.New(fault.Internal, "%q is not a control file that can be changed", f.Name)
	}
	// The lock of cleanups also serves updates: both are rare and short.
	held, err := k.d.LockToWrite(ctx, lock.Exclusive)
	if err != nil {
		return err
	}
	defer held.Unlock()
	if err := read.CheckPrivate(k.d, f.Name); err != nil {
		return err
	}
	// A store that was copied may lack the directory; the store itself always exists here.
	if dir := path.Dir(f.Name); dir != "." {
		if err := k.directory(dir); err != nil {
			return disk.WriteFault(err)
		}
	}
	return disk.WriteFault(k.update(f.Name, f.Kind, change))
}

// update replaces a control file by what change returns. The file is read under the lock: change sees exactly the
// document that it replaces. The error of change is returned unchanged, and then nothing was written.
func (k *Keeper) update(name, kind string, change func(ports.Control) (ports.Control, error)) error {
	old, _, err := k.d.ReadControl(name, kind)
	if err != nil {
		return err
	}
	next, err := change(ports.Control{V: old.V, Data: old.Data})
	if err != nil {
		return disk.Unchanged(err)
	}
	return k.d.PutControl(name, controlfile.Document{Kind: kind, V: next.V, Data: next.Data}, k.d.Replace)
}
