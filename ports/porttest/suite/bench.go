package suite

import (
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// Bench is one store under test: how it is opened, and what the suite can do to it behind its back. A field that is nil
// is what the store lacks or the test cannot do: cases that need it are skipped, with a message.
type Bench struct {
	// Open returns a new handle, as another process would have it; handles share the data and exclude each other
	// by locks. lockWait is how long the handle waits for a lock; with 0 it tries once.
	Open func(lockWait time.Duration) Store
	// Damage changes what is stored.
	Damage *Damage
	// Power is a storage that acknowledges before it is durable.
	Power *Power
	// Unread puts something among the sessions that readers cannot follow, such as a link, and returns its place.
	Unread func() (place string)
	// Leftover leaves what an operation leaves that did not end, and returns its place.
	Leftover func() (place string)
	// Unknown puts a log among the sessions under a name that is no session id.
	Unknown func(name string)
	// Starve keeps the process from opening files until restore is called.
	Starve func() (restore func())
}

// Damage changes stored data as a bad disk or a person does: each function changes at least one byte, and no handle
// learns of it.
type Damage struct {
	// Manifest changes the first group of a log.
	Manifest func(log manifest.Log)
	// Segment changes the segment of a log that begins with an event.
	Segment func(log manifest.Log, first int64)
	// Object changes an object.
	Object func(kind manifest.ObjectKind, ref canon.Digest)
	// Control changes a control file of the store, so that it cannot be read.
	Control func(f ports.ControlFile)
	// SessionControl changes a control file of a session, so that it cannot be read.
	SessionControl func(s id.Session, f ports.ControlFile)
	// Keyring changes the keyring, so that it cannot be read.
	Keyring func()
}

// Power is what the suite does to the storage of a store. Storage that acknowledges late is a disk with a cache, or a
// database whose commits wait for a replica.
type Power struct {
	// Cut ends all handles and loses all that is not durable. Handles that are opened later find what is left.
	Cut func()
	// Weaken makes the storage warn from now on that what it writes may not be durable, and keep it where
	// readers see it and Cut loses it: a sync that fails, or a commit that no replica has. It ends with restore;
	// what was written before stays as it is.
	Weaken func() (restore func())
}

// needs skips a case without a part of a bench.
func needs(t testing.TB, has bool, what string) {
	t.Helper()
	if !has {
		t.Skipf("the bench of this store has no %s", what)
	}
}

// handles is the Open of a bench that has one handle.
func handles(s Store) func(time.Duration) Store { return func(time.Duration) Store { return s } }
