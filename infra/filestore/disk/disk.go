// Package disk is the directory of a store as every part of a store uses it: whether it is a store and may be written,
// its files and locks, the names whose sync failed in this process, and the faults that errors of the disk become. It
// reads no log, and decides nothing about what is stored.
//
// Start with Disk, then state.go and files.go.
package disk

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
)

// Options configures how a store is opened. The zero value is usable with OpenDir; Open also
// requires Locks.
type Options struct {
	// LockWait bounds how long an operation waits for a lock; 0 fails at once with the busy code.
	LockWait time.Duration
	// AllowNetworkFS permits a store on a filesystem where file locks are not reliable
	// (docs/design.md#network-filesystems). Without it Open returns STORE_NETWORK_FS there.
	AllowNetworkFS bool

	// Tenant is the name of the tenant, which a new store records; "" records none.
	Tenant string

	// Locks are the locks on the same tree; OpenDir sets them.
	Locks *lock.Locks
	// Boot identifies the current boot of the machine; "" when it is unknown. It must not contain
	// white space. OpenDir sets it. Writer notes are trusted only within one boot: see
	// package commit.
	Boot string
	// Random supplies keys, ids and temporary names; nil selects crypto/rand. Reads are serialized.
	Random io.Reader
	// Now dates a new store and quarantine entries; nil selects time.Now.
	Now func() time.Time
}

// Disk is the directory of one store. It is safe for concurrent use by goroutines; several processes may open the same
// directory, and coordinate through lock files.
type Disk struct {
	osfs.FS
	Options
	files *counted

	mu         sync.Mutex
	known      State           // set once the store exists; it never changes afterwards
	syncFailed map[string]bool // names whose directory sync failed in this process
	random     sync.Mutex      // serializes reads of Random
}

// Open opens the store in a tree. It reads store.json and changes nothing. Errors: STORE_NETWORK_FS
// without AllowNetworkFS, STORE_INVALID for a directory with other content, STORE_NEWER for an
// unsupported format, STORE_CORRUPT for a damaged store.json, STORE_IO otherwise. A foreign or
// read-only store opens; writing to it is refused later, by ToWrite.
func Open(tree osfs.FS, o Options) (*Disk, error) {
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if strings.ContainsAny(o.Boot, " \t\r\n") {
		o.Boot = "" // the lock record separates its fields by white space, so a note is one word
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	files := &counted{FS: tree}
	d := &Disk{FS: files, Options: o, files: files, syncFailed: map[string]bool{}}
	// A filesystem whose type cannot be determined is treated as local: refusing it would make the
	// store unusable only because the system did not answer.
	if !o.AllowNetworkFS {
		if v, err := tree.Volume(); err == nil && v.Network {
			return nil, fault.New(fault.StoreNetworkFS, "the store is on a network filesystem (%s)", v.Type).
				With("filesystem", v.Type)
		}
	}
	_, err := d.State()
	return d, err
}

// Lookup is Stat for a file that may be missing: ok is false then, and err nil.
func (d *Disk) Lookup(name string) (info osfs.Info, ok bool, err error) {
	info, err = d.Stat(name)
	return info, err == nil, UnlessMissing(err)
}

// QuarantineName is the first unused name of an entry at or after the time atMs.
func (d *Disk) QuarantineName(owner string, atMs int64) (string, error) {
	for {
		name := fmt.Sprintf("%s/%s.%d", layout.QuarantineDir, owner, atMs)
		_, taken, err := d.Lookup(name)
		if err != nil || !taken {
			return name, err
		}
		atMs++ // two repairs in one millisecond, or a clock that was set back
	}
}

// TempName returns an unused name in dir: 64 random bits, so that concurrent writers do not
// collide.
func (d *Disk) TempName(dir string) (string, error) {
	raw, err := d.Entropy(8)
	return path.Join(dir, layout.TempPrefix+hex.EncodeToString(raw)), err
}

// Entropy returns n random bytes, or STORE_IO.
func (d *Disk) Entropy(n int) ([]byte, error) {
	d.random.Lock()
	defer d.random.Unlock()
	b := make([]byte, n)
	// Locked above: a reader that a test injects need not be safe for several goroutines.
	if _, err := io.ReadFull(d.Random, b); err != nil {
		return nil, fault.Wrap(err, fault.StoreIO, "the system returned no random bytes")
	}
	return b, nil
}

// Mkdirs creates a directory with its missing parents. It returns the names whose entries must be
// durable before anything inside counts; the parents of an existing directory are not among them.
func (d *Disk) Mkdirs(dir string) (made []string, err error) {
	err = d.Mkdir(dir)
	if errors.Is(err, fs.ErrNotExist) && dir != "." {
		if made, err = d.Mkdirs(path.Dir(dir)); err != nil {
			return nil, err
		}
		err = d.Mkdir(dir)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return append(made, dir), nil
}

// Entries is List for a directory that may be missing: it has no entries then.
func (d *Disk) Entries(dir string) ([]osfs.Entry, error) {
	entries, err := d.List(dir)
	return entries, UnlessMissing(err)
}

// EntriesFor is Entries for a caller that may give up. Errors are those of ReadFault.
func (d *Disk) EntriesFor(ctx context.Context, dir string) ([]osfs.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, ReadFault(err)
	}
	entries, err := d.Entries(dir)
	return entries, ReadFault(err)
}

// UnlessMissing returns err, and nil for fs.ErrNotExist.
//
//go:noinline
func UnlessMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// RemoveAll removes a file, or a directory with its content. A file that is already gone is not an
// error: another process may be cleaning up as well.
func (d *Disk) RemoveAll(name string) error {
	info, exists, err := d.Lookup(name)
	if err != nil && !errors.Is(err, osfs.ErrSymlink) || err == nil && !exists {
		return err
	}
	if err == nil && info.Kind == osfs.Directory {
		entries, err := d.List(name)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := d.RemoveAll(path.Join(name, e.Name)); err != nil {
				return err
			}
		}
	}
	return UnlessMissing(d.Remove(name))
}
