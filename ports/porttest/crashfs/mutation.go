package crashfs

import "path"

// Mutation decides how an operation is carried out. A mutant skips an operation, delays it or
// changes its result, as a wrong change to the program would. A test of the program must fail for
// every mutant; a mutant that passes shows that nothing tests the operation.
type Mutation func(Op) Act

// Act selects how one operation is carried out. An act that an operation does not support is
// treated as Perform.
type Act int

// The acts.
const (
	Perform    Act = iota // the operation as it is
	Skip                  // a sync or truncate does nothing and returns nil
	Postpone              // a sync returns nil and takes effect with the next sync of a manifest
	Overwrite             // a Place replaces an existing file instead of returning fs.ErrExist
	HideFile              // a Stat by name returns fs.ErrNotExist
	HandleSize            // a Stat of an open file ignores what other handles wrote since Open
)

// postponed is a sync that was acknowledged and takes effect later.
type postponed struct {
	n  *inode
	op Op
}

// runPostponed carries out the postponed syncs if op is the sync of a manifest. It runs before op
// itself ends, so the manifest and the postponed files become durable together.
func (f *FS) runPostponed(op Op) {
	if op.Action != "sync" || path.Base(op.Name) != "manifest.jsonl" {
		return
	}
	for _, p := range f.postponed {
		p.n.sync()
	}
	f.postponed = nil
}
