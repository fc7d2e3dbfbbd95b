package crashfs

import "path"

// Mutation decides how an operation is carried out: mutants leave one out or change its order, as a
// careless change to the program would.
type Mutation func(Op) Act

// Act is what a mutant does with an operation.
type Act int

// The acts.
const (
	Perform   Act = iota
	Pretend       // a sync or truncate that says it happened
	Postpone      // a sync that happens too late: with the next sync of a manifest
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
	if op.Do != "sync" || path.Base(op.Name) != "manifest.jsonl" {
		return
	}
	for _, p := range f.late {
		p.n.sync()
	}
	f.late = nil
}
