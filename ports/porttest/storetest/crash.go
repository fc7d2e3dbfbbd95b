package storetest

import (
	"fmt"
	"math/rand/v2"
	"path"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// crashDisk is a simulated disk with a file store, and the boots of its machine.
type crashDisk struct {
	t testing.TB

	mu    sync.Mutex // guards the fields below
	fs    *crashfs.FS
	locks *lock.Memory
	boots int
	seed  byte

	weak    atomic.Bool // a manifest is not synced: the sync fails
	starved atomic.Bool // no file can be opened
}

// Crash is a file store on a simulated disk that does not exist yet. A power cut loses all that was not synced.
func Crash(t testing.TB) suite.Bench {
	d := &crashDisk{t: t}
	d.boot(crashfs.New())
	return suite.Bench{
		Open: d.open,
		Damage: damage(t, func() (osfs.FS, func()) {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.fs, func() {}
		}),
		Power: &suite.Power{
			Cut: func() {
				d.mu.Lock()
				defer d.mu.Unlock()
				// The first state is the one in which nothing that was not synced is left.
				d.fs.Crashes(1, func(s crashfs.State) bool {
					d.boot(s.FS)
					return false
				})
			},
			Weaken: func() func() { d.weak.Store(true); return func() { d.weak.Store(false) } },
		},
		Starve: func() func() { d.starved.Store(true); return func() { d.starved.Store(false) } },
	}
}

// boot starts the machine with a disk; no lock is held.
func (d *crashDisk) boot(f *crashfs.FS) {
	d.fs, d.locks = f, lock.NewMemory()
	d.boots++
	f.Faults = func(op crashfs.Op) *crashfs.Fault {
		switch {
		case d.weak.Load() && op.Action == "sync" && path.Base(op.Name) == manifest.FileName:
			return &crashfs.Fault{Err: syscall.EIO}
		case d.starved.Load() && (op.Action == "open" || op.Action == "read"):
			return &crashfs.Fault{Err: syscall.EMFILE}
		}
		return nil
	}
}

// open opens the store as another process does.
func (d *crashDisk) open(wait time.Duration) suite.Store {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seed++
	s, err := filestore.Open(d.fs, filestore.Options{LockWait: wait, Locks: d.locks.On(d.fs), Boot: fmt.Sprint("boot ", d.boots),
		Random: rand.NewChaCha8([32]byte{d.seed}), Now: func() time.Time { return time.UnixMilli(1_760_000_000_000) }})
	Fatal(d.t, err)
	return s
}
