// Package crashfs is an in-memory disk for tests that loses unsynced writes as real disks do. It
// distinguishes the state that a process sees from the state that is durable, makes any operation
// fail, tear or kill the process on demand, and enumerates the states that a power cut may leave.
// It implements osfs.FS. It does not model file permissions, links, free space or read errors of
// damaged media, and no package of the product imports it.
//
// A power cut decides three things, each independently of all others:
//   - Sectors: each sector of SectorBytes that was written since its file's last sync has its
//     content of that sync, or any content that it had later.
//   - Sizes: a file has its size of its last sync, or any size that it had later. A sector that was
//     lost in a file that grew reads as zeros.
//   - Entries: each directory entry that changed since its directory's last sync is as it was at
//     that sync, or as it was at any time later. A rename changes two entries.
//
// Nothing orders unsynced writes. A sync that fails leaves its writes in doubt, and later syncs
// that succeed do not change that: only a new write does (docs/design.md#failed-sync).
//
// FS is the disk. Explore runs a program and checks every state that a power cut can leave, before
// each operation and at the end; InjectFaults runs it once for each fault of each operation. A Mutation
// checks the tests: it leaves a sync out, and the exploration must find the loss.
package crashfs

import (
	"errors"
	"fmt"
	"sync"
	"syscall"

	"github.com/waybill/waybill/infra/osfs"
)

// SectorBytes is the atomic unit of the disk, in bytes: a sector is written completely or not at
// all.
const SectorBytes = 512

// ErrKilled is the error of every operation after the process was killed. The program under test
// sees it as an I/O error; a test recognizes by errors.Is that no answer reached the caller.
var ErrKilled = errors.New("the process was killed")

// Op describes one operation on the disk. Faults, mutants and Before select operations by it.
type Op struct {
	N      int       // number of the operation, counted from 0
	Action string    // open read write truncate stat sync close place rename remove mkdir list syncdir
	Name   string    // path of the file or directory; the new one for place and rename
	Mode   osfs.Mode // of the open file; zero for operations on a name
	Kind   osfs.Sync // for sync and syncdir
}

// String describes the operation in messages.
func (o Op) String() string { return fmt.Sprintf("#%d %s %s", o.N, o.Action, o.Name) }

// FS is a disk that one process uses. Its methods may be called from several goroutines; they then
// run one after the other.
type FS struct {
	mu     sync.Mutex
	root   *inode
	seq    int // number of the last change
	n      int // number of the next operation
	killed bool

	// Fault makes operations fail; nil: none. Faults, if not nil, selects the fault of each operation instead, under the
	// lock; nil is none, and its At and For are of no effect. Mutation changes how operations are carried out; nil:
	// all are performed. Before is called before every operation, without the lock: it may use the
	// disk. All are set before use.
	Fault    *Fault
	Faults   func(Op) *Fault
	Mutation Mutation
	Before   func(Op)
	// Vol is the result of Volume.
	Vol osfs.Volume

	postponed []postponed
}

// New returns an empty disk; its root directory exists and is durable. Its volume has the type
// "memory", which no check for network filesystems rejects.
func New() *FS { return &FS{root: newDir(), Vol: osfs.Volume{Type: "memory"}} }

// Ops returns the number of operations so far, failed ones among them. A test uses it as the number
// of the next operation.
func (f *FS) Ops() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

// changes returns a number that changes whenever the set of states that a power cut can leave may
// have changed.
func (f *FS) changes() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seq
}

// op begins every operation. It returns the act and the fault that apply to it, which the caller
// carries out. On a nil error the caller holds mu and must call done, which unlocks it. On an error
// the operation is over and mu is unlocked.
func (f *FS) op(do, name string, mode osfs.Mode, kind osfs.Sync) (op Op, act Act, flaw *Fault, err error) {
	f.mu.Lock()
	op = Op{N: f.n, Action: do, Name: name, Mode: mode, Kind: kind}
	// Before runs unlocked: it may use the disk, as another process would.
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
	// A killed process performs no further operation, so a kill ends the range of its fault too.
	if flaw = f.faultOf(op); flaw != nil {
		if flaw.Err == nil {
			f.killed = true
		}
		if !flaw.After && flaw.Part == 0 {
			// The operation does not happen. A sync is carried out by its caller nevertheless: one
			// that fails puts unsynced values in doubt.
			err = f.flawed(op, flaw)
			if do == "sync" || do == "syncdir" {
				return op, act, flaw, nil
			}
			f.mu.Unlock()
			return op, act, flaw, err
		}
	}
	return op, act, flaw, nil
}

// faultOf returns the fault that applies to an operation, nil for none; the caller holds mu.
func (f *FS) faultOf(op Op) *Fault {
	switch {
	case f.Faults != nil:
		return f.Faults(op)
	case f.Fault != nil && op.N >= f.Fault.At && op.N <= f.Fault.At+f.Fault.For:
		return f.Fault
	}
	return nil
}

// done ends an operation and unlocks mu. err is the operation's own error, which wins over flaw.
func (f *FS) done(op Op, flaw *Fault, err error) error {
	f.runPostponed(op)
	f.mu.Unlock()
	// An operation that fails by itself reports its own error, also where a fault applies.
	if err == nil && flaw != nil {
		return f.flawed(op, flaw)
	}
	if err != nil {
		return fail(op, err)
	}
	return nil
}

// flawed is the error of an operation to which flaw applies.
func (f *FS) flawed(op Op, flaw *Fault) error {
	if flaw.Err == nil {
		return fail(op, ErrKilled)
	}
	return fail(op, flaw.Err)
}

// Fault makes one operation fail, or a range of consecutive operations. Without After and Part the
// failed operation has no effect, except that a failed sync puts unsynced values in doubt. A kill
// (Err is nil) is no power cut: Revive returns what was written before it, and Crashes what a power
// cut at the same time would leave.
type Fault struct {
	At    int   // number of the first operation that fails
	Err   error // error that it returns; nil: the process is killed there
	After bool  // the operation is carried out completely before it fails
	Part  int   // 1 to 3: this many quarters of a write are carried out before it fails
	For   int   // number of operations after At that fail as well
}

// String describes the fault in messages.
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
		what += ", but carried out"
	case f.Part > 0:
		what += fmt.Sprintf(", %d/4 done", f.Part)
	}
	return fmt.Sprintf("at #%d: %s", f.At, what)
}

// Faults lists the faults of one operation: every error without effect, a kill before it, and for
// operations that change the disk also partial writes, errors and kills after the effect, and disks
// that fail two, three or all operations from there on.
func Faults(op Op) []Fault {
	var out []Fault
	for _, err := range []error{syscall.EIO, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EMFILE,
		syscall.EINTR} {
		out = append(out, Fault{At: op.N, Err: err})
	}
	out = append(out, Fault{At: op.N}) // killed before the operation
	// Operations that only read have no effect that could be partial or unacknowledged.
	switch op.Action {
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
