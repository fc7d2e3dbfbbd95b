package ports

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
)

// ControlFile names a control file of the store and the kind that it must be of.
type ControlFile struct{ Name, Kind string }

// Control is what a control file holds; the zero Control is one that is not there.
type Control struct {
	V    int64
	Data canon.Value
}

// Controls keeps the store's small documents that are replaced as a whole.
type Controls interface {
	// Control reads one. A damaged one is STORE_CORRUPT; its version is for the
	// caller to judge.
	Control(ctx context.Context, f ControlFile) (Control, error)

	// UpdateControl replaces one by what change makes of it; no other update comes
	// in between, and an error of change leaves all as it is. nil promises that the
	// new one survives a power cut; readers see the old one or the new one whole. A
	// store that is not there is made.
	UpdateControl(ctx context.Context, f ControlFile, change func(Control) (Control, error)) error
}
