package ports

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Retention lists what a store contains and removes what is not needed (docs/design.md#retention).
// The caller decides what to remove.
//
// It names what it lists by places. A place is where a store has something: one or more names separated by "/", or "."
// for the store itself, such as a path in its directory, or a table and a key. A place contains the longer ones that
// begin with it. A caller shows a place and passes it back; that of a log is the root of the log.
type Retention interface {
	// LogRoots lists every log that may refer to objects: of sessions, of sessions in the trash,
	// and side logs of both and of the store, including side logs with unknown names.
	LogRoots(ctx context.Context) ([]LogRoot, error)

	// UnreadEntries lists what is in a store, is not read and may refer to objects, such as symbolic
	// links, special files, and files in place of sessions and logs. Nothing may be removed while
	// there is one.
	UnreadEntries(ctx context.Context) ([]UnreadEntry, error)

	// ReadOtherContent calls visit with all content that is not in a log, an object or a control
	// file, such as what is in the quarantine: it may contain digests of objects.
	ReadOtherContent(ctx context.Context, visit func(content []byte)) error

	// EachSize calls each for every object of a kind, in no particular order, with its size. It builds no list:
	// there may be a million.
	EachSize(ctx context.Context, kind manifest.ObjectKind, each func(SizedObject)) error

	// Survey adds up what is in every place. It takes no lock: what is moved meanwhile
	// may be missed or counted twice.
	Survey(ctx context.Context) (Survey, error)

	// Erase removes the bytes of an artifact and writes a tombstone with the result of data, which
	// is called with their number. An existing tombstone is kept, and remaining bytes are removed.
	// nil promises that the removal is as durable as an Append; after an error the artifact is
	// either complete or erased, never without both bytes and tombstone. ARTIFACT_NOT_FOUND: it was
	// never stored.
	Erase(ctx context.Context, ref canon.Digest, data func(bytes int64) canon.Value) (ErasureResult, error)

	// Exclusive calls do while no commit is running and none can begin
	// (docs/design.md#commit-protocol). STORE_LOCKED: writers were active for the whole lock
	// timeout. Removals by do need not be durable: after a crash what was removed may exist again.
	Exclusive(ctx context.Context, do func(Sweeper) error) error
}

// Sweeper removes parts of a store. It is valid until the callback of Exclusive returns. Removing what does not
// exist is no error.
type Sweeper interface {
	// RemoveObject removes an object.
	RemoveObject(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) error
	// RemoveLeftover removes a leftover that Survey listed; gone is false if a process may use it.
	// INTERNAL: what is at that place is none.
	RemoveLeftover(ctx context.Context, place string) (gone bool, err error)
	// RemoveUnborn removes a session without commits; gone is false if it has some, if a writer holds
	// the session, or if there is more at its place than a first commit writes.
	RemoveUnborn(ctx context.Context, s id.Session) (gone bool, err error)
	// RemoveLog removes a side log of the store that has the given head; gone is false if a writer holds it, if it has
	// another head, or if there is more at its place than a log. INTERNAL: it is no side log of the store. A log that was removed reads as empty, and the next append
	// begins a new one.
	RemoveLog(ctx context.Context, log manifest.Log, head manifest.Head) (gone bool, err error)
}

// LogRoot names a log of a store.
type LogRoot struct {
	Root      string // manifest.Log.Root: the place of the log
	Owner     string // session or store id
	Session   id.Session
	Name      string // of a side log; "" for a session's own log
	TrashName string // name of the session in the trash, "" if it is not in the trash
}

// UnreadEntry is an entry that Retention.UnreadEntries lists. Message says what it is and what to do.
type UnreadEntry struct {
	Place   string
	Message string
}

// SizedObject is an object with its size in bytes. Erased reports that a tombstone exists
// beside its bytes.
type SizedObject struct {
	Ref    canon.Digest
	Bytes  int64
	Erased bool
}

// Survey is the result of Retention.Survey.
type Survey struct {
	Places    []PlaceUsage // each without the places that it contains
	Leftovers []Leftover   // in the order of their places
}

// PlaceUsage is what is stored at one place.
type PlaceUsage struct {
	Place string
	Count int64 // number of files, or of what the store has in their stead
	Bytes int64
}

// Leftover is what an operation that did not end has left, such as a temporary file after a
// crash. Readers ignore it, and it counts in no PlaceUsage.
type Leftover struct {
	Place string
	Bytes int64
}

// ErasureResult is the result of an erasure.
type ErasureResult struct {
	Bytes   int64       // removed by this call
	Data    canon.Value // of its tombstone
	Already bool        // the tombstone existed before
}
