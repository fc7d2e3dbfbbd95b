package crashfs

import "github.com/waybill/waybill/ports/porttest/sample"

// Count is the extent of an exploration that took place.
type Count struct {
	Ops    int // operations of the program under test
	States int // different states of the disk that were checked
	Faults int // runs with a fault
}

// Add adds the numbers of another exploration.
func (c *Count) Add(more Count) {
	c.Ops, c.States, c.Faults = c.Ops+more.Ops, c.States+more.States, c.Faults+more.Faults
}

// ExploreOptions is the extent of an exploration.
type ExploreOptions struct {
	Limit int           // number of states at one point up to which all are enumerated (see Crashes)
	From  int           // number of the first operation before which states are checked
	Cases *sample.Cases // selects the states that are checked; nil: all
}

// Explore runs act on a copy of base and calls check with every state that a power cut can leave:
// before each operation of act and, with done set, after act has returned. Equal states are checked
// once before the end and once with done set, since a check may require more then. It stops
// when check returns false. The Mutation and the Vol of base apply to the run.
//
// check may write to the state, for example to repair it or to continue with it. act runs to its
// end even after check has returned false.
func Explore(base *FS, how ExploreOptions, act func(*FS), check func(s State, done bool) bool) Count {
	var count Count
	run := base.Reopen()
	run.Mutation, run.Vol = base.Mutation, base.Vol
	seen := map[digest]bool{}
	more, last := true, -1
	examine := func(at string, done bool) {
		if done {
			seen = map[digest]bool{} // a state that was valid before the end may be invalid now
		}
		run.some(how.Cases, how.Limit, seen, func(s State) bool {
			count.States++
			s.Name = at + ": " + s.Name
			more = check(s, done)
			return more
		})
	}
	// Reads and repeated listings change nothing that a power cut can leave: the disk is examined
	// only before operations that follow a change.
	run.Before = func(op Op) {
		if now := run.changes(); more && now != last && op.N >= how.From {
			last = now
			examine("before "+op.String(), false)
		}
	}
	act(run)
	run.Before = nil
	count.Ops = run.Ops()
	if more {
		examine("after the last operation", true)
	}
	return count
}

// InjectFaults runs act once for every fault of every operation (see Faults), each time on a copy of base;
// a cases that is not nil selects among these runs. check receives the fault, the error that act
// returned, and the disk as the next process finds it, without a power cut: check calls
// after.Crashes where one is part of the test. Break stops when check returns false.
func InjectFaults(base *FS, cases *sample.Cases, act func(*FS) error,
	check func(flaw Fault, op Op, err error, after *FS) bool) Count {
	// A run without a fault lists the operations. act must be deterministic: an operation that
	// happens only in some runs would be missed.
	var ops []Op
	faultless := base.Reopen()
	faultless.Before = func(op Op) { ops = append(ops, op) }
	_ = act(faultless)
	count := Count{Ops: len(ops)}
	for _, op := range ops {
		for _, flaw := range Faults(op) {
			if !cases.Try() {
				continue
			}
			run := base.Reopen() // without the Mutation of base
			run.Fault = &flaw
			err := act(run)
			count.Faults++
			if !check(flaw, op, err, run.Reopen()) {
				return count
			}
		}
	}
	return count
}
