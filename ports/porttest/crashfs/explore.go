package crashfs

import "github.com/waybill/waybill/ports/porttest/sample"

// Count says how much an exploration tried.
type Count struct {
	Ops    int // operations of the program under test
	States int // different states of the disk that a power cut can leave
	Faults int // runs in which one operation went wrong
}

// Add sums up.
func (c *Count) Add(more Count) {
	c.Ops, c.States, c.Faults = c.Ops+more.Ops, c.States+more.States, c.Faults+more.Faults
}

// Look is the extent of an exploration: up to how many states of a moment are enumerated completely
// (see Crashes), from which operation on, and which of these states are tried (nil: all).
type Look struct {
	Limit, From int
	Cases       *sample.Cases
}

// Explore lets act run on a copy of base, and passes to check every state that a power cut can
// leave: before each of its operations, and, with done set, after it has returned. It stops when
// check returns false.
func Explore(base *FS, how Look, act func(*FS), check func(s State, done bool) bool) Count {
	var count Count
	run := base.Revive()
	run.Mutation, run.Vol = base.Mutation, base.Vol
	seen := map[print]bool{}
	going, last := true, -1
	look := func(at string, done bool) {
		if done {
			seen = map[print]bool{} // what was right before may be wrong now
		}
		run.some(how.Cases, how.Limit, seen, func(s State) bool {
			count.States++
			s.Name = at + ": " + s.Name
			going = check(s, done)
			return going
		})
	}
	run.Before = func(op Op) {
		if now := run.moment(); going && now != last && op.N >= how.From {
			last = now
			look("before "+op.String(), false)
		}
	}
	act(run)
	run.Before = nil
	count.Ops = run.Ops()
	if going {
		look("in the end", true)
	}
	return count
}

// Break lets act run once for every operation and every way in which that can go wrong, each time
// on a copy of base; a cases that is not nil selects among these. check gets the disk as the next
// process finds it, before any power cut.
func Break(base *FS, cases *sample.Cases, act func(*FS) error,
	check func(flaw Fault, op Op, err error, after *FS) bool) Count {
	// One run without a fault gives the operations. act must do the same every time: an operation
	// that happens only sometimes would be missed.
	var ops []Op
	learn := base.Revive()
	learn.Before = func(op Op) { ops = append(ops, op) }
	_ = act(learn)
	count := Count{Ops: len(ops)}
	for _, op := range ops {
		for _, flaw := range Faults(op) {
			if !cases.Try() {
				continue
			}
			run := base.Revive()
			run.Fault = &flaw
			err := act(run)
			count.Faults++
			if !check(flaw, op, err, run.Revive()) {
				return count
			}
		}
	}
	return count
}
