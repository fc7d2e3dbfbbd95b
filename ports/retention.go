package ports

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Retention lists what a store contains and removes what is not needed (docs/design.md#retention).
// The caller decides what to remove.
type Retention interface {
	// LogRoots lists every log that may refer to objects: of sessions, of sessions in the trash,
	// and side logs of both and of the store, including side logs with unknown names.
	LogRoots(ctx context.Context) ([]LogRoot, error)

	// UnreadEntries lists the entries of a store that are not read and may refer to objects:
	// symbolic links, special files, and files in place of the directories of sessions and logs.
	// Nothing may be removed while there is one.
	UnreadEntries(ctx context.Context) ([]UnreadEntry, error)

	// ReadOtherFiles calls visit with the content of every file that is not a log, an object or a control
	// file, such as quarantined ones: they may contain digests of objects.
	ReadOtherFiles(ctx context.Context, visit func(content []byte)) error

	// EachSize calls each for every object of a kind, in no particular order, with its file size. It builds no list:
	// there may be a million.
	EachSize(ctx context.Context, kind manifest.ObjectKind, each func(SizedObject)) error

	// Survey adds up the files of every directory. It takes no lock: files that are moved meanwhile
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
	// timeout. Removals by do are not durable: after a crash removed files may exist again.
	Exclusive(ctx context.Context, do func(Sweeper) error) error
}

// Sweeper removes files. It is valid until the callback of Exclusive returns. Removing what does not
// exist is no error.
type Sweeper interface {
	// RemoveObject removes the file of an object.
	RemoveObject(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) error
	// RemoveLeftover removes a file or directory that Survey listed; gone is false if a process uses its
	// directory.
	RemoveLeftover(ctx context.Context, path string) (gone bool, err error)
	// RemoveUnborn removes the directory of a session without commits; gone is false if a writer holds
	// the session, or if the directory contains other files.
	RemoveUnborn(ctx context.Context, s id.Session) (gone bool, err error)
	// RemoveLog removes a side log of the store that has the given head; gone is false if a writer holds it, if it has
	// another head, or if its directory contains other files. A log that was removed reads as empty, and the next append
	// begins a new one.
	RemoveLog(ctx context.Context, log manifest.Log, head manifest.Head) (gone bool, err error)
}

// LogRoot names a log of a store.
type LogRoot struct {
	Root      string // directory, relative to the store
	Owner     string // session or store id
	Session   id.Session
	Name      string // of a side log; "" for a session's own log
	TrashName string // name of the session in the trash, "" if it is not in the trash
}

// UnreadEntry is an entry that Retention.UnreadEntries lists. Message says what it is and what to do.
type UnreadEntry struct {
	Path    string // relative to the store
	Message string
}

// SizedObject is an object with the size of its file in bytes. Erased reports that a tombstone exists
// beside the file.
type SizedObject struct {
	Ref    canon.Digest
	Bytes  int64
	Erased bool
}

// Survey is the result of Retention.Survey.
type Survey struct {
	Directories []DirectoryUsage // each with the files directly in it
	Leftovers   []Leftover
}

// DirectoryUsage is the disk usage of one directory.
type DirectoryUsage struct {
	Path  string // relative to the store; "." is the store itself
	Files int64
	Bytes int64
}

// Leftover is a temporary file or directory that was not renamed to its final name, such as after a
// crash. Readers ignore it, and it counts in no DirectoryUsage.
type Leftover struct {
	Path  string
	Bytes int64
}

// ErasureResult is the result of an erasure.
type ErasureResult struct {
	Bytes   int64       // removed by this call
	Data    canon.Value // of its tombstone
	Already bool        // the tombstone existed before
}
