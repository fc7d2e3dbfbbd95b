package ports

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
)

// ControlFile names a control file, a small document of a store that is replaced as a whole, and the kind that it
// must have. Where a store has paths, Name is one.
type ControlFile struct{ Name, Kind string }

// Control is the content of a control file; the zero Control means that the file does not exist.
type Control struct {
	V    int64
	Data canon.Value
}

// ErrOpenToOthers is the cause of STORE_CORRUPT for a control file in keys/ that other users can open.
var ErrOpenToOthers = errors.New("other users can open the file")

// Controls reads and writes the small documents of a store that are replaced as a whole.
type Controls interface {
	// Control reads a control file. STORE_CORRUPT: it is damaged. The caller checks its version.
	Control(ctx context.Context, f ControlFile) (Control, error)

	// UpdateControl replaces a control file by the result of change. No other update happens in
	// between, and an error of change leaves the file unchanged and is returned. nil promises that
	// the new content is as durable as an Append; readers see the old or the new content, complete. A
	// store that does not exist is created.
	UpdateControl(ctx context.Context, f ControlFile, change func(Control) (Control, error)) error
}

// The control files of a session.
var (
	// ImportedFile records that the session was imported, and from which bundle
	// (docs/design.md#requirements-on-the-caller).
	ImportedFile = ControlFile{"imported.json", "imported"}
	// KeepFile excludes the session from cleanups and deletion.
	KeepFile = ControlFile{"keep", "keep"}
)

// SessionControls reads and writes the control files of sessions: ImportedFile and KeepFile. Any
// other name is a bug of the caller. These files are not part of a session's log; the lock and the
// health of the log do not matter here.
type SessionControls interface {
	// SessionControl reads a control file as Control does. A session that does not exist has none.
	SessionControl(ctx context.Context, s id.Session, f ControlFile) (Control, error)

	// UpdateSessionControl replaces a control file as UpdateControl does. SESSION_NOT_FOUND: the
	// session does not exist; it is not created. It waits for a running cleanup. A caller that is
	// itself inside Retention.Exclusive, or between BeginImport and End of an import, must not call it:
	// STORE_LOCKED.
	UpdateSessionControl(ctx context.Context, s id.Session, f ControlFile, change func(Control) (Control, error)) error

	// DropSessionControl removes a control file, damaged or not; a missing one is no error. nil
	// promises that the removal is as durable as an Append. It waits as UpdateSessionControl does.
	DropSessionControl(ctx context.Context, s id.Session, f ControlFile) error
}
