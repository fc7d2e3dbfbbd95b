package filestore

import (
	"context"
	"errors"
	"io/fs"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// readFault and writeFault say what the world refused, naming files relative to
// the store. They pass on what is a fault already, or no matter of the disk's.
func readFault(err error) error  { return ioFault(err, "reading", fault.StoreIO) }
func writeFault(err error) error { return ioFault(err, "writing", fault.StoreReadOnly) }

func ioFault(err error, doing string, refused fault.Code) error {
	var known *fault.Fault
	var visit visitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &visit):
		return visit.error
	case errors.As(err, &known), errors.Is(err, ports.ErrWitness), errors.Is(err, manifest.ErrNotOnChain):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.Wrap(err, fault.Interrupted, "%s the store was interrupted", doing)
	}
	// Only the store-relative name and the system's words go into the message: where
	// a store lies on a machine is nobody's business who gets an error.
	name, why := "the store", err.Error()
	var pe *fs.PathError
	if errors.As(err, &pe) {
		name, why = pe.Path, pe.Err.Error()
	}
	if name == "." {
		name = "the store's folder"
	}
	code := fault.StoreIO
	switch {
	case errors.Is(err, osfs.ErrSymlink), errors.Is(err, osfs.ErrNotRegular):
		code = fault.StoreCorrupt
	case osfs.IsFull(err):
		code = fault.StoreFull
	case osfs.IsReadOnly(err):
		code = refused // reading what may not be read is no question of writing
	}
	return fault.Wrap(err, code, "%s %s failed: %s", doing, name, why).With("path", name)
}

// corrupt is a stored file that is not what refers to it says.
func corrupt(name, format string, args ...any) *fault.Fault {
	f := fault.New(fault.StoreCorrupt, format, args...)
	f.Message = name + ": " + f.Message
	return f.With("path", name)
}

// busyFault turns a lock that somebody holds into the answer for its caller.
func busyFault(err error, code fault.Code, what string) error {
	var busy *lock.Busy
	if !errors.As(err, &busy) {
		return writeFault(err)
	}
	f := fault.Wrap(err, code, "%s is in use by another process", what)
	if busy.PID != 0 {
		f.Message = what + ": " + busy.Error()
		f = f.With("holderPid", busy.PID)
	}
	return f
}
