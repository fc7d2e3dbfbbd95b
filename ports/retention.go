package ports

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Retention looks at all that a store keeps and removes what nobody needs (locks
// section 2.2). What may go is decided by its caller.
type Retention interface {
	// LogRoots lists every log that may refer to objects: of sessions, of sessions in
	// the trash, side logs of both and of the store, those of unknown names too.
	LogRoots(ctx context.Context) ([]LogRoot, error)

	// Mentions hands over the contents of files that are no log, no object and no
	// control file, such as what was quarantined: they may name objects.
	Mentions(ctx context.Context, visit func(content []byte)) error

	// Sizes lists the objects of a kind by digest, with the bytes of their files.
	Sizes(ctx context.Context, kind manifest.ObjectKind) ([]Sized, error)

	// Survey adds up the files of every folder. It takes no lock: what moves meanwhile
	// may be missed or counted twice.
	Survey(ctx context.Context) (Survey, error)

	// Erase removes the bytes of an artifact and leaves a tombstone with data, which is
	// made of their number. One that has a tombstone keeps it, and loses what bytes
	// are left. nil promises that the bytes do not come back; after an error the
	// artifact may be whole or erased, never without bytes and tombstone. One that was
	// never stored is ARTIFACT_NOT_FOUND.
	Erase(ctx context.Context, ref canon.Digest, data func(bytes int64) canon.Value) (Erased, error)

	// Alone calls do while no commit is under way and none can begin (R6). STORE_LOCKED
	// says that somebody was at work all the time that a lock is waited for. What do
	// removed is only safe to miss: a power cut may bring it back.
	Alone(ctx context.Context, do func(Broom) error) error
}

// Broom removes things, as long as the call of Alone lasts that it came with. What is
// gone already is no error.
type Broom interface {
	// Object removes the file of an object.
	Object(kind manifest.ObjectKind, ref canon.Digest) error
	// Leftover removes a file or folder that Survey found; gone is false when somebody
	// works where it lies.
	Leftover(path string) (gone bool, err error)
	// Unborn removes the folder of a session that nothing was committed to; gone is
	// false when somebody is about to, or something else lies in it.
	Unborn(s id.Session) (gone bool, err error)
}

// LogRoot names a log of a store.
type LogRoot struct {
	Root    string // folder, relative to the store
	Owner   string // session or store id
	Session id.Session
	Name    string // of a side log; "" is a session's own
	Trash   string // the session's name in the trash, "" outside of it
}

// Sized is an object with the bytes that its file has on the disk; Erased says that
// it stands beside its tombstone.
type Sized struct {
	Ref    canon.Digest
	Bytes  int64
	Erased bool
}

// Survey is what Survey found.
type Survey struct {
	Folders   []Folder // each with its own files only
	Leftovers []Leftover
}

// Folder is how much lies in one folder.
type Folder struct {
	Path  string // relative to the store; "." is the store itself
	Files int64
	Bytes int64
}

// Leftover is something on its way to a name that never got there. No reader looks
// at it. It counts in no folder.
type Leftover struct {
	Path  string
	Bytes int64
}

// Erased is what became of an artifact.
type Erased struct {
	Bytes   int64       // that were removed now
	Data    canon.Value // of its tombstone
	Already bool        // the tombstone was there
}
