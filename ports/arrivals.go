package ports

import (
	"context"
	"io"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/manifest"
)

// Arrivals take whole sessions in: all of one at once, or nothing of it.
type Arrivals interface {
	// Arrive begins to take in the session s. Whatever is handed over lies where no
	// reader looks until Commit. The store is made where it is not there yet;
	// cleanups are kept away until the arrival ends. STORE_LOCKED says that one is
	// at work.
	Arrive(ctx context.Context, s id.Session) (Arrival, error)
}

// Arrival is one session on its way in. It is used by one goroutine. Whoever begins
// one ends it with End, after Commit as well.
type Arrival interface {
	// Segment hands over the next segment of a log with its Group: name is "" for the
	// session's own log, else that of a side log of it. Bytes and group are written as
	// they are; whether they fit together was checked before.
	Segment(ctx context.Context, log string, seg manifest.Segment) error

	// Object hands over an object: bytes that do not have the digest ref are
	// STORE_CORRUPT. One that is there already, whole, is not written again.
	Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest, bytes io.Reader) error

	// Control hands over a control file of the session's own folder.
	Control(ctx context.Context, f ControlFile, c Control) error

	// Commit makes the session visible. nil promises that all that was handed over
	// survives a power cut. placed is false when the session was there already, by
	// whomever: then nothing became visible, and the caller looks at what is there. An
	// unborn session, to which nothing was ever committed, makes way. Any error but
	// STORE_OUTCOME_UNKNOWN promises that nothing became visible.
	Commit(ctx context.Context) (placed bool, err error)

	// End lets go of everything, and removes what was not committed but for objects,
	// which a cleanup takes.
	End() error
}
