package crashfs

import (
	"path"
	"slices"
)

// Mutation decides what becomes of an operation that works: mutants leave one out
// or change its order, as a careless change to the program would.
type Mutation func(Op) Act

// Act is what a mutant does with an operation.
type Act int

// The acts.
const (
	Perform   Act = iota
	Pretend       // a sync or truncate that says it happened
	Postpone      // a sync that happens too late: a file's after the next rename, a folder's after the next write to a manifest
	Overwrite     // a Place that replaces what is there
	Deny          // a Stat that finds nothing
	Flatter       // a Stat that tells the size as this handle alone made it
)

// postponed is a sync that waits for its moment.
type postponed struct {
	n  *inode
	op Op
}

// runLate carries out what was postponed until op.
func (f *FS) runLate(op Op) {
	f.late = slices.DeleteFunc(f.late, func(p postponed) bool {
		due := op.Do == "place" || op.Do == "rename"
		if p.n.dir {
			due = op.Do == "write" && path.Base(op.Name) == "manifest.jsonl"
		}
		if due {
			p.n.sync()
		}
		return due
	})
}
