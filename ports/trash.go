package ports

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
)

// TrashFile is the control file of a session in the trash: the actor, time and reason of the
// deletion.
var TrashFile = ControlFile{"trash.json", "trash"}

// Trash stores deleted sessions until they are restored or the trash is emptied.
type Trash interface {
	// TrashEntries lists the sessions in the trash by name. What Waybill did not put there is
	// skipped.
	TrashEntries(ctx context.Context) ([]TrashEntry, error)

	// Discard moves a session, with all that belongs to it, to the trash, with data as its TrashFile. unless
	// is called while no process can write to the session; its error cancels the operation and is
	// returned. SESSION_LOCKED: a writer held the session for the whole lock timeout; RUN_BUSY,
	// without waiting: a performer carries out a run of it; SESSION_NOT_FOUND. After any error but
	// STORE_OUTCOME_UNKNOWN nothing has changed. nil promises that the move is as durable as an Append.
	Discard(ctx context.Context, s id.Session, atMs int64, data canon.Value, unless func() error) (TrashEntry, error)

	// Restore moves a session back, by its name in the trash. VALIDATION_ERROR: a session with its
	// id exists; a session without commits is replaced. Errors and nil promise what those of
	// Discard do.
	Restore(ctx context.Context, name string) (id.Session, error)

	// Empty removes one session from the trash for good; a missing one is no error. After it
	// returns, with any error, and after a crash, the session is in the trash either complete or not
	// at all.
	Empty(ctx context.Context, name string) error
}

// TrashEntry is a session in the trash. Its log is read as any other, with the root Root.
type TrashEntry struct {
	Name    string // its name in the trash
	Root    string // manifest.Log.Root of its log in the trash
	Session id.Session
	AtMs    int64   // when it was deleted
	Control Control // TrashFile; zero after a crash in Discard and for a damaged file
}
