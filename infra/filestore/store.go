// Package filestore implements the ports of a store on one directory of plain files: logs with
// their manifests and segments, content-addressed objects, locks, the keyring, control files, the
// trash and the quarantine (docs/format.md).
//
// It decides how bytes become durable (the commit protocol, docs/design.md#commit-protocol) and how
// leftovers of a crash are distinguished from committed data. It does not interpret events: which
// event may follow which is decided by the engine, and the verdict over a log is computed by
// package manifest. It never opens a file outside the directory it was given.
//
// Start with Store and Open in this file; read.go and append.go read and write logs, arrival.go
// imports whole sessions, inspect.go verifies everything outside the logs, and repair.go moves
// damaged files to the quarantine.
package filestore

import (
	"crypto/rand"
	"encoding/hex"
	"io"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Options configures how a store is opened. The zero value is usable with OpenDir; Open also
// requires Locks.
type Options struct {
	// LockWait bounds how long an operation waits for a lock; 0 fails at once with the busy code.
	LockWait time.Duration
	// AllowNetworkFS permits a store on a filesystem where file locks are not reliable
	// (docs/design.md#network-filesystems). Without it Open returns STORE_NETWORK_FS there.
	AllowNetworkFS bool

	// Locks are the locks on the same tree; OpenDir sets them.
	Locks *lock.Locks
	// Boot identifies the current boot of the machine; "" when it is unknown. It must not contain
	// white space. OpenDir sets it. Writer notes are trusted only within one boot: see
	// writernotes.go.
	Boot string
	// Random supplies keys, ids and temporary names; nil selects crypto/rand. Reads are serialized.
	Random io.Reader
	// Now dates a new store and quarantine entries; nil selects time.Now.
	Now func() time.Time
}

// LockWaitDefault is how long the command line waits for a lock. Two callers that race on one
// attempt should both get the recorded answer instead of a lock error, and a commit takes far less
// than this (docs/design.md#commit-protocol).
const LockWaitDefault = 2 * time.Second

// Store is one store. It is safe for concurrent use by goroutines; several processes may open the
// same directory, and coordinate through lock files.
type Store struct {
	fs    osfs.FS
	locks *lock.Locks
	o     Options
	close func() error

	mu         sync.Mutex
	known      storeState            // set once the store exists; it never changes afterwards
	held       map[string]*lock.Held // exclusive log locks that this Store took, by log root
	syncFailed map[string]bool       // names whose directory sync failed in this process
	random     sync.Mutex            // serializes reads of o.Random
}

// Store implements every port that the engine requires.
var (
	_ ports.Logs     = (*Store)(nil)
	_ ports.Locks    = (*Store)(nil)
	_ ports.Objects  = (*Store)(nil)
	_ ports.Sessions = (*Store)(nil)
	_ ports.Identity = (*Store)(nil)
	_ ports.Keyring  = (*Store)(nil)

	_ ports.HeadCache = (*Store)(nil)
)

// OpenDir opens the store in the directory dir, with file locks and the boot id of this machine. A
// missing directory is an empty store; the first writing operation creates it. Errors are those of
// Open.
func OpenDir(dir string, o Options) (*Store, error) {
	d := osfs.NewDir(dir)
	o.Locks, o.Boot = lock.Files(d), osfs.Boot()
	s, err := Open(d, o)
	if err != nil {
		_ = d.Close()
		return nil, err
	}
	s.close = d.Close
	return s, nil
}

// Open opens the store in a tree. It reads store.json and changes nothing. Errors: STORE_NETWORK_FS
// without AllowNetworkFS, STORE_INVALID for a directory with other content, STORE_NEWER for an
// unsupported format, STORE_CORRUPT for a damaged store.json, STORE_IO otherwise. A foreign or
// read-only store opens; writing to it is refused later, by toWrite.
func Open(tree osfs.FS, o Options) (*Store, error) {
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if strings.ContainsAny(o.Boot, " \t\r\n") {
		o.Boot = "" // the lock record separates its fields by white space, so a note is one word
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	// A filesystem whose type cannot be determined is treated as local: refusing it would make the
	// store unusable only because the system did not answer.
	s := &Store{
		fs: tree, locks: o.Locks, o: o, close: func() error { return nil },
		held: map[string]*lock.Held{}, syncFailed: map[string]bool{},
	}
	if !o.AllowNetworkFS {
		if v, err := tree.Volume(); err == nil && v.Network {
			return nil, fault.New(fault.StoreNetworkFS, "the store is on a network filesystem (%s)", v.Type).
				With("filesystem", v.Type)
		}
	}
	_, err := s.state()
	return s, err
}

// Close releases the directory. Locks that are held remain held until they are unlocked or the
// process ends.
func (s *Store) Close() error { return s.close() }

// tempPrefix marks files that have not been placed at their final name. Readers ignore them, and gc
// removes those that a crash left.
const tempPrefix = ".tmp-"

// tempName returns an unused name in dir: 64 random bits, so that concurrent writers do not
// collide.
func (s *Store) tempName(dir string) (string, error) {
	raw, err := s.entropy(8)
	return path.Join(dir, tempPrefix+hex.EncodeToString(raw)), err
}

// entropy returns n random bytes, or STORE_IO.
func (s *Store) entropy(n int) ([]byte, error) {
	s.random.Lock()
	defer s.random.Unlock()
	b := make([]byte, n)
	// Locked above: a reader that a test injects need not be safe for several goroutines.
	if _, err := io.ReadFull(s.o.Random, b); err != nil {
		return nil, fault.Wrap(err, fault.StoreIO, "the system returned no random bytes")
	}
	return b, nil
}
