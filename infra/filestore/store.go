// Package filestore implements the ports of a store on one directory of plain files: logs with
// their manifests and segments, content-addressed objects, locks, the keyring, control files, the
// trash and the quarantine (docs/format.md).
//
// It decides how bytes become durable (the commit protocol, docs/design.md#commit-protocol) and how
// leftovers of a crash are distinguished from committed data. It does not interpret events: which
// event may follow which is decided by the engine, and the verdict over a log is computed by
// package manifest. It never opens a file outside the directory it was given.
//
// Start with Store and Open in this file. Each part is a package of its own, and imports only those before it: layout
// names every file, disk is the directory, read and inspect read it, commit appends to logs, arrive imports sessions,
// repair moves damaged files to the quarantine, and upkeep changes everything else.
package filestore

import (
	"time"

	"github.com/waybill/waybill/infra/filestore/arrive"
	"github.com/waybill/waybill/infra/filestore/commit"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/inspect"
	"github.com/waybill/waybill/infra/filestore/read"
	"github.com/waybill/waybill/infra/filestore/repair"
	"github.com/waybill/waybill/infra/filestore/upkeep"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Options configures how a store is opened.
type Options = disk.Options

// LockWaitDefault is how long the command line waits for a lock. Two callers that race on one
// attempt should both get the recorded answer instead of a lock error, and a commit takes far less
// than this (docs/design.md#commit-protocol).
const LockWaitDefault = 2 * time.Second

// Store is one store, composed of its parts. It is safe for concurrent use by goroutines; several processes may open
// the same directory, and coordinate through lock files.
type Store struct {
	*read.Reader
	*inspect.Inspector
	*commit.Committer
	*arrive.Importer
	*repair.Repairer
	*upkeep.Keeper
	disk  *disk.Disk
	close func() error
}

// Store implements every port that the engine requires.
var (
	_ ports.Logs            = (*Store)(nil)
	_ ports.Locks           = (*Store)(nil)
	_ ports.Objects         = (*Store)(nil)
	_ ports.ObjectStreams   = (*Store)(nil)
	_ ports.Sessions        = (*Store)(nil)
	_ ports.UnknownEntries  = (*Store)(nil)
	_ ports.SideLogs        = (*Store)(nil)
	_ ports.Identity        = (*Store)(nil)
	_ ports.Tenancy         = (*Store)(nil)
	_ ports.Keyring         = (*Store)(nil)
	_ ports.HeadCache       = (*Store)(nil)
	_ ports.Inspector       = (*Store)(nil)
	_ ports.Digests         = (*Store)(nil)
	_ ports.SessionControls = (*Store)(nil)
	_ ports.Controls        = (*Store)(nil)
	_ ports.SessionImporter = (*Store)(nil)
	_ ports.Repairs         = (*Store)(nil)
	_ ports.Retention       = (*Store)(nil)
	_ ports.Tombstones      = (*Store)(nil)
	_ ports.Trash           = (*Store)(nil)
	_ ports.Availability    = (*Store)(nil)
	_ ports.PerformerStatus = (*Store)(nil)
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

// Open opens the store in a tree. Errors are those of disk.Open.
func Open(tree osfs.FS, o Options) (*Store, error) {
	d, err := disk.Open(tree, o)
	if err != nil {
		return nil, err
	}
	r := read.New(d)
	c := commit.New(d, r)
	return &Store{r, inspect.New(d, r), c, arrive.New(d, r, c), repair.New(d, r), upkeep.New(d, r), d,
		func() error { return nil }}, nil
}

// Exists reports whether the directory is a store, of this program or of another one. A directory without content is
// none. Errors are those of disk.Disk.State.
func (s *Store) Exists() (bool, error) {
	state, err := s.disk.State()
	return state.Exists, err
}

// Close releases the directory. Locks that are held remain held until they are unlocked or the
// process ends.
func (s *Store) Close() error { return s.close() }
