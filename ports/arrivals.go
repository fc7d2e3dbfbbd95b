package ports

import (
	"context"
	"io"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
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
// one ends it with End, after Commit as well. After the first error of any call every
// further one gives that error again, and does nothing.
type Arrival interface {
	// Segment hands over the next segment of a log with its Group: name is "" for the
	// session's own log, else that of a side log of it (see bundle.LogName). Bytes and
	// group are written as they are; whether they fit together, and to what came before,
	// was checked by the caller. Logs come one after the other, or mixed.
	Segment(ctx context.Context, log string, seg manifest.Segment) error

	// Object hands over an object, which is read to its end: bytes that do not have the
	// digest ref are STORE_CORRUPT, more than a store takes of that kind STORE_LIMIT. An
	// error of reading comes back as it is. One that is there already, whole, is not
	// written again; one that is not is replaced. An artifact whose tombstone is there
	// stays erased.
	Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest, bytes io.Reader) error

	// Tombstone hands over what is left of an artifact whose bytes were erased: data of
	// a control file of kind "erased" (see Tombstones). Where the artifact or a
	// tombstone is there already, that stays as it is.
	Tombstone(ctx context.Context, ref canon.Digest, data canon.Value) error

	// Control hands over a control file of the session's own folder (see
	// SessionControls).
	Control(ctx context.Context, f ControlFile, c Control) error

	// Commit makes the session visible. nil promises that all that was handed over
	// survives a power cut. placed is false when the session was there already, by
	// whomever: then nothing became visible, and the caller looks at what is there, and
	// confirms it before it relies on it. An unborn session, to which nothing was ever
	// committed, makes way; SESSION_LOCKED says that somebody is about to. Any error but
	// STORE_OUTCOME_UNKNOWN promises that nothing became visible. Whoever meets the
	// session before Commit has returned may read it; acknowledging anything about it
	// waits until the arrival has ended.
	Commit(ctx context.Context) (placed bool, err error)

	// End lets go of everything, and removes what was not committed but for objects and
	// tombstones, which a cleanup takes. A second End does nothing.
	End() error
}
