package ports

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
)

// TrashFile lies in the folder of a session in the trash and says who put it there,
// when and why.
var TrashFile = ControlFile{"trash.json", "trash"}

// Trash is where deleted sessions lie until somebody takes them back or empties it.
type Trash interface {
	// Trashed lists what lies in the trash, by name. A folder that is none of ours is
	// not among them.
	Trashed(ctx context.Context) ([]Trashed, error)

	// Discard moves a session with all that lies in its folder to the trash, with data
	// as its TrashFile. Writers are waited for as long as a lock is, then it is
	// SESSION_LOCKED; somebody who carries out a run of it is RUN_BUSY at once; a
	// session that is not there is SESSION_NOT_FOUND. unless is asked while nobody can
	// write to the session, and its error leaves all as it is, as every error but
	// STORE_OUTCOME_UNKNOWN does. nil promises that the move survives a power cut.
	Discard(ctx context.Context, s id.Session, atMs int64, data canon.Value, unless func() error) (Trashed, error)

	// Restore moves a session back, by its name in the trash. Another session under its
	// id is refused with VALIDATION_ERROR; what nothing was committed to makes way.
	// Errors and nil promise what those of Discard do.
	Restore(ctx context.Context, name string) (id.Session, error)

	// Empty removes one from the trash for good; one that is not there is none to
	// remove. Once it returns, with whatever error, it is there whole or not at all,
	// after a power cut as well.
	Empty(ctx context.Context, name string) error
}

// Trashed is a session in the trash. Its log is read like any other, at Root.
type Trashed struct {
	Name    string // what it is called in the trash
	Root    string // its folder, relative to the store
	Session id.Session
	AtMs    int64   // when it was put there
	Control Control // zero where a crash came between; damaged ones read as that too
}
