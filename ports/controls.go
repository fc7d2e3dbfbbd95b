package ports

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
)

// ControlFile names a control file and the kind that it must be of.
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

// The control files that lie in a session's own folder.
var (
	// ImportedFile says that the session came as a bundle, and which one (R20).
	ImportedFile = ControlFile{"imported.json", "imported"}
	// KeepFile says that cleanups and deletions leave the session alone.
	KeepFile = ControlFile{"keep", "keep"}
)

// SessionControls keeps the control files of sessions: ImportedFile and KeepFile.
// Any other name is a bug of the caller's. They are no part of a session's log, and
// neither its lock nor its health matters here.
type SessionControls interface {
	// SessionControl reads one, as Control does. A session that is not there has none.
	SessionControl(ctx context.Context, s id.Session, f ControlFile) (Control, error)

	// UpdateSessionControl replaces one, as UpdateControl does. It makes no session:
	// one that is not there is SESSION_NOT_FOUND. It waits for cleanups, so it must not
	// be called while one is held off or under way in the same call: STORE_LOCKED.
	UpdateSessionControl(ctx context.Context, s id.Session, f ControlFile, change func(Control) (Control, error)) error

	// DropSessionControl removes one, damaged or not; none to remove is no error. nil
	// promises that it does not come back. It waits as UpdateSessionControl does.
	DropSessionControl(ctx context.Context, s id.Session, f ControlFile) error
}
