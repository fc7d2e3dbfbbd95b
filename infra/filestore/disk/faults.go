package disk

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

// ReadFault maps an error of reading to a fault: STORE_IO, STORE_CORRUPT for a link or special file
// in place of a file or a file in place of a directory, STORE_FULL, or INTERRUPTED. File names are
// relative to the store. Faults, visitor errors and the sentinel errors of the ports are returned
// unchanged.
//
//go:noinline
func ReadFault(err error) error { return ioFault(err, "reading", fault.StoreIO) }

// WriteFault is ReadFault for writing: a filesystem that refuses writes is STORE_READ_ONLY.
//
//go:noinline
func WriteFault(err error) error { return ioFault(err, "writing", fault.StoreReadOnly) }

// ioFault maps err; doing is the verb of the message, refused the code for a permission error.
//
// In order of precedence:
//   - a visitor's error, a fault, ports.ErrWitness and manifest.ErrNotOnChain are returned as they
//     are;
//   - a canceled or expired context is INTERRUPTED;
//   - a symbolic link or special file in place of a file, or a file in place of a directory, is
//     STORE_CORRUPT;
//   - no space left is STORE_FULL;
//   - a read-only filesystem or missing permission is the code refused;
//   - everything else is STORE_IO.
func ioFault(err error, doing string, refused fault.Code) error {
	var known *fault.Fault
	var caller callerError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &caller):
		return caller.error
	case errors.As(err, &known), errors.Is(err, ports.ErrWitness), errors.Is(err, manifest.ErrNotOnChain):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.Wrap(err, fault.Interrupted, "%s the store was interrupted", doing)
	}
	// The message has only the store-relative name and the system's words: the location of the
	// store on the machine is private.
	name, why := "the store", err.Error()
	var pe *fs.PathError
	if errors.As(err, &pe) {
		name, why = pe.Path, pe.Err.Error()
	}
	if name == "." {
		name = "the store's directory"
	}
	code := fault.StoreIO
	switch {
	case errors.Is(err, osfs.ErrSymlink), errors.Is(err, osfs.ErrNotRegular), osfs.IsNotDirectory(err):
		code = fault.StoreCorrupt
	case osfs.IsFull(err):
		code = fault.StoreFull
	case osfs.IsReadOnly(err):
		code = refused // a permission error while reading is STORE_IO, not STORE_READ_ONLY
	}
	return fault.Wrap(err, code, "%s %s failed: %s", doing, name, why).With("path", name)
}

// Corrupt is STORE_CORRUPT for a stored file that does not match its reference or its format.
//
// name is the path relative to the store; it starts the message and is the detail "path".
func Corrupt(name, format string, args ...any) *fault.Fault {
	f := fault.New(fault.StoreCorrupt, format, args...)
	f.Message = name + ": " + f.Message
	return f.With("path", name)
}

// BusyFault maps a busy lock to code; what names the locked thing. The holder is in the message
// and in the details "holder" and "holderPid" where it is known. Other errors are mapped by
// WriteFault.
func BusyFault(err error, code fault.Code, what string) error {
	var busy *lock.Busy
	if !errors.As(err, &busy) {
		return WriteFault(err)
	}
	f := fault.Wrap(err, code, "%s is in use by another process", what)
	if busy.PID != 0 {
		f.Message = what + ": " + busy.Error()
		f = f.With("holder", ports.Holder{PID: busy.PID}).With("holderPid", busy.PID)
	}
	return f
}

// callerError marks an error that a function of the caller returned.
type callerError struct{ error }

// Unchanged marks an error of a visitor or another function of the caller, so that ReadFault and WriteFault return it
// as it is; nil stays nil.
func Unchanged(err error) error {
	if err == nil {
		return nil
	}
	return callerError{err}
}
