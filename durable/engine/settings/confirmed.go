package settings

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/ports"
)

// confirmedList is what a control file has, of which the audit log records the digest that a person confirmed.
type confirmedList interface {
	Digest() (canon.Digest, error)
	Data() (canon.Value, error)
}

// listFile is a control file with a list L of a version.
type listFile[L confirmedList] struct {
	file    ports.ControlFile
	version int64
	of      func(ports.Control) (L, error) // reads the list
}

// update changes the list under the lock of its file, unless check refuses the stored one. It returns the digest of
// the changed list. STORE_CONFLICT if that is not the one that was signed; a zero one was not.
func (f listFile[L]) update(ctx context.Context, c ports.Controls, signed canon.Digest, check func(L) error,
	change func(L) (L, error)) (after canon.Digest, err error) {
	err = c.UpdateControl(ctx, f.file, func(old ports.Control) (ports.Control, error) {
		list, err := f.of(old)
		if err == nil {
			err = check(list)
		}
		if err == nil {
			list, err = change(list)
		}
		if err == nil {
			after, err = list.Digest()
		}
		if err == nil && !signed.IsZero() && after != signed {
			err = changedMeanwhile()
		}
		if err != nil {
			return old, err
		}
		data, err := list.Data()
		return ports.Control{V: f.version, Data: data}, err
	})
	return after, err
}

// ifSigned returns the digest that a change leads to if the caller signed it, else the zero one.
func ifSigned(by ledger.Caller, expected canon.Digest) canon.Digest {
	if by.Signer.Principal == "" {
		return canon.Digest{}
	}
	return expected
}
