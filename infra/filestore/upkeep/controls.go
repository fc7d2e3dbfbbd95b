package upkeep

import (
	"context"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/ports"
)

// UpdateControl implements ports.Controls. The error of change is returned as it is.
func (k *Keeper) UpdateControl(ctx context.Context, f ports.ControlFile,
	change func(ports.Control) (ports.Control, error)) error {
	if !layout.ControlName.MatchString(f.Name) || f.Name == layout.StoreFile {
		return fault.New(fault.Internal, "%q is not a control file that can be changed", f.Name)
	}
	if _, err := k.d.ToWrite(); err != nil {
		return err
	}
	// The lock of cleanups also serves updates: both are rare and short.
	held, err := k.d.Locks.Acquire(ctx, layout.UseLock, lock.Exclusive, k.d.LockWait)
	if err != nil {
		return disk.BusyFault(err, fault.StoreLocked, "the store")
	}
	defer held.Unlock()
	// Read under the lock: change sees exactly the document that it replaces.
	old, _, err := k.d.ReadControl(f.Name, f.Kind)
	if err != nil {
		return err
	}
	next, err := change(ports.Control{V: old.V, Data: old.Data})
	if err != nil {
		return err
	}
	doc := controlfile.Document{Kind: f.Kind, V: next.V, Data: next.Data}
	return disk.WriteFault(k.d.PutControl(f.Name, doc, k.d.Replace))
}
