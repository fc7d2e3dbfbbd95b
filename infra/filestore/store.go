// Package filestore keeps a store in one directory of plain files: logs, the
// objects that they refer to, locks, keyring and control files (R4 to R14).
//
// It knows how bytes become durable and how what a crash left is told from what
// was committed; what events mean, and which may follow which, is not its
// business, and the verdict over a log is package manifest's.
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

// Options are what a caller may choose about a store.
type Options struct {
	// LockWait is how long a lock is waited for; 0 fails at once.
	LockWait time.Duration
	// AllowNetworkFS opens a store where locks are not safe (R12).
	AllowNetworkFS bool

	// Locks are the locks on the same tree; OpenDir brings its own.
	Locks *lock.Locks
	// Boot names this run of the machine, "" when that cannot be told; OpenDir
	// brings its own. See notes.go for what rests on it.
	Boot string
	// Random gives keys and temporary names; nil is crypto/rand.
	Random io.Reader
	// Now dates a new store; nil is time.Now.
	Now func() time.Time
}

// LockWaitDefault is how long the command line waits for a lock: racing callers
// of one attempt should get the replay, not an error (R6).
const LockWaitDefault = 2 * time.Second

// Store is one store. It is safe for use by many goroutines.
type Store struct {
	fs    osfs.FS
	locks *lock.Locks
	o     Options
	close func() error

	mu      sync.Mutex
	known   standing              // once there is a store
	held    map[string]*lock.Held // exclusive locks of logs, by root
	doubted map[string]bool       // directories of which a sync failed
	random  sync.Mutex
}

// A Store is everything that the engine needs of one.
var (
	_ ports.Logs     = (*Store)(nil)
	_ ports.Locks    = (*Store)(nil)
	_ ports.Objects  = (*Store)(nil)
	_ ports.Sessions = (*Store)(nil)
	_ ports.Identity = (*Store)(nil)
	_ ports.Keyring  = (*Store)(nil)

	_ ports.HeadCache = (*Store)(nil)
)

// OpenDir opens the store in a directory. One that is not there is an empty store,
// which only a writing call brings into being.
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

// Open opens the store in a tree. It reads, and changes nothing.
func Open(tree osfs.FS, o Options) (*Store, error) {
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if strings.ContainsAny(o.Boot, " \t\r\n") {
		o.Boot = "" // a note is one word
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	// A filesystem whose type cannot be told is taken for a local one: refusing it
	// would lock people out for want of an answer.
	s := &Store{
		fs: tree, locks: o.Locks, o: o, close: func() error { return nil },
		held: map[string]*lock.Held{}, doubted: map[string]bool{},
	}
	if !o.AllowNetworkFS {
		if v, err := tree.Volume(); err == nil && v.Network {
			return nil, fault.New(fault.StoreNetworkFS, "the store lies on a network filesystem (%s)", v.Type).
				With("filesystem", v.Type)
		}
	}
	_, err := s.standing()
	return s, err
}

// Close lets go of the directory. Locks that are held stay so until they are
// unlocked or the process ends.
func (s *Store) Close() error { return s.close() }

// tempPrefix marks files on their way to a name. No reader looks at them, and gc
// removes those that a crash left.
const tempPrefix = ".tmp-"

func (s *Store) tempName(dir string) (string, error) {
	raw, err := s.entropy(8)
	return path.Join(dir, tempPrefix+hex.EncodeToString(raw)), err
}

func (s *Store) entropy(n int) ([]byte, error) {
	s.random.Lock()
	defer s.random.Unlock()
	b := make([]byte, n)
	// A reader that tests hand in need not be safe for several goroutines.
	if _, err := io.ReadFull(s.o.Random, b); err != nil {
		return nil, fault.Wrap(err, fault.StoreIO, "the system gave no random bytes")
	}
	return b, nil
}
