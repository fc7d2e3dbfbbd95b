// Package crashfs is a disk in memory for tests that loses unsynced writes as real disks do. It
// distinguishes what a process sees from what the disk holds, fails, tears or stops any operation
// on demand, and enumerates what a power cut may leave. It implements osfs.FS; nothing of the
// product imports it.
//
// The model: every 512-byte sector that was written since its file's last sync may hold its
// content of then, or any later content; the file's size may be any that it had since; every
// directory entry that changed since its directory's last sync may be any that it was since. Each
// on its own: nothing orders unsynced writes. A sync that fails leaves its writes in doubt, and
// later syncs that succeed do not change that (docs/design.md#failed-sync): only a new write does.
package crashfs

import (
	"errors"
	"fmt"
	"sync"
	"syscall"

	"github.com/waybill/waybill/infra/osfs"
)

// SectorBytes is what a disk writes whole or not at all.
const SectorBytes = 512

// ErrKilled is the error of every operation after the process was killed.
var ErrKilled = errors.New("the process was killed")

// Op is one operation on the disk, as a fault or a mutant picks it.
type Op struct {
	N    int    // counted from 0
	Do   string // open, read, write, truncate, stat, sync, close, place, rename, remove, mkdir, list, syncdir
	Name string // what it works on; for place and rename the new name
	Mode osfs.Mode
	Kind osfs.Sync
}

// String is the operation for messages.
func (o Op) String() string { return fmt.Sprintf("#%d %s %s", o.N, o.Do, o.Name) }

// FS is a disk with one process on it.
type FS struct {
	mu     sync.Mutex
	root   *inode
	seq    int // of changes, to tell earlier from later
	n      int // of operations
	killed bool

	// Fault is what goes wrong, if anything; Mutation is what the program under test omits; Before
	// is called before every operation. They are set before use.
	Fault    *Fault
	Mutation Mutation
	Before   func(Op)
	// Vol is the result of Volume.
	Vol osfs.Volume

	late []postponed
}

// New is an empty disk whose root directory exists and is durable.
func New() *FS { return &FS{root: newDir(), Vol: osfs.Volume{Type: "memory"}} }

// Ops counts the operations so far.
func (f *FS) Ops() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

// moment changes with every change of what a power cut can leave.
func (f *FS) moment() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seq
}

// op begins every operation. The caller holds mu on a nil error and must end by done. The caller
// carries out an act other than Perform.
func (f *FS) op(do, name string, mode osfs.Mode, kind osfs.Sync) (op Op, act Act, flaw *Fault, err error) {
	f.mu.Lock()
	op = Op{N: f.n, Do: do, Name: name, Mode: mode, Kind: kind}
	// Unlocked meanwhile: Before may use the disk, as another process would.
	if before := f.Before; before != nil && !f.killed {
		f.mu.Unlock()
		before(op)
		f.mu.Lock()
	}
	f.n++
	if f.killed {
		f.mu.Unlock()
		return op, Perform, nil, fail(op, ErrKilled)
	}
	if f.Mutation != nil {
		act = f.Mutation(op)
	}
	if f.Fault != nil && op.N >= f.Fault.At && op.N <= f.Fault.At+f.Fault.For {
		flaw = f.Fault
		if flaw.Err == nil {
			f.killed = true
		}
		if !flaw.After && flaw.Part == 0 {
			// Nothing happens but the answer. A sync that fails does more than that: it changes
			// what later syncs settle.
			err = f.flawed(op, flaw)
			if do == "sync" || do == "syncdir" {
				return op, act, flaw, nil // what a failed sync does is the inode's business
			}
			f.mu.Unlock()
			return op, act, flaw, err
		}
	}
	return op, act, flaw, nil
}

// done ends an operation that was carried out; err is its own, flaw what was to go wrong.
func (f *FS) done(op Op, flaw *Fault, err error) error {
	f.runLate(op)
	f.mu.Unlock()
	if err == nil && flaw != nil {
		return f.flawed(op, flaw)
	}
	if err != nil {
		return fail(op, err)
	}
	return nil
}

func (f *FS) flawed(op Op, flaw *Fault) error {
	if flaw.Err == nil {
		return fail(op, ErrKilled)
	}
	return fail(op, flaw.Err)
}

// Fault is one thing that goes wrong, once.
type Fault struct {
	At    int   // the operation
	Err   error // what it says; nil: the process is killed there
	After bool  // it happens all the same, and says that it did not
	Part  int   // of a write, this many of 4 quarters happen
	For   int   // so many operations behind it go wrong as well
}

// String is the fault for messages.
func (f Fault) String() string {
	what := "kill"
	if f.Err != nil {
		what = f.Err.Error()
	}
	if f.For > 0 {
		what += fmt.Sprintf(", and for %d more", f.For)
	}
	switch {
	case f.After:
		what += ", done all the same"
	case f.Part > 0:
		what += fmt.Sprintf(", %d/4 done", f.Part)
	}
	return fmt.Sprintf("at #%d: %s", f.At, what)
}

// Faults are the ways in which one operation can go wrong.
func Faults(op Op) []Fault {
	var out []Fault
	for _, err := range []error{syscall.EIO, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EMFILE,
		syscall.EINTR} {
		out = append(out, Fault{At: op.N, Err: err})
	}
	out = append(out, Fault{At: op.N}) // killed before
	switch op.Do {
	case "write":
		for part := 1; part < 4; part++ {
			out = append(out, Fault{At: op.N, Err: syscall.ENOSPC, Part: part}, Fault{At: op.N, Part: part})
		}
		fallthrough
	case "open", "place", "rename", "remove", "mkdir", "truncate", "sync", "syncdir":
		out = append(out, Fault{At: op.N, Err: syscall.EIO, After: true}, Fault{At: op.N, After: true},
			Fault{At: op.N, Err: syscall.EIO, For: 1}, Fault{At: op.N, Err: syscall.EIO, For: 2},
			Fault{At: op.N, Err: syscall.EIO, For: 1 << 20})
	}
	return out
}
