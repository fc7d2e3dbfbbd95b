package filestore_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
)

// interrupt lets act run with something coming in between at every operation of
// its own in turn, and checks what is there then.
func interrupt(base *crashfs.FS, mutation crashfs.Mutation, act func(*crashfs.FS), between func(*crashfs.FS),
	check func(op crashfs.Op, after *crashfs.FS) error) error {
	var ops []crashfs.Op
	base = base.Revive()
	base.Vol.Network = true // where locks do not hold
	learn := base.Revive()
	learn.Before = func(op crashfs.Op) { ops = append(ops, op) }
	act(learn)
	for _, at := range ops {
		run := base.Revive()
		run.Mutation = mutation
		mine := true
		run.Before = func(op crashfs.Op) {
			if mine && op.N == at.N {
				mine = false
				between(run)
			}
		}
		act(run)
		run.Before, run.Mutation = nil, nil
		if err := check(at, run); err != nil {
			return fmt.Errorf("in between at %s: %w", at, err)
		}
	}
	return nil
}

// twoWriters lets two processes, whose locks do not exclude each other, append to
// one log, the second at every moment of the first: what either was told is true.
func twoWriters(sc scenario, mutation crashfs.Mutation) error {
	return rivals(sc, sc.plan.Events[:1], mutation)
}

// twoWritersOfOneRange lets both want the same segment name.
func twoWritersOfOneRange(sc scenario, mutation crashfs.Mutation) error {
	later := slices.Clone(sc.plan.Events)
	later[0].TimestampMs++
	return rivals(sc, later, mutation)
}

func rivals(sc scenario, events []event.Event, mutation crashfs.Mutation) error {
	other := sc
	other.plan.Events = events
	var first, second error
	return interrupt(sc.base, mutation,
		func(f *crashfs.FS) { first = sc.act(f) },
		func(f *crashfs.FS) {
			s, err := process(f, 9)
			if second = err; err == nil {
				second = other.append(s)
			}
		},
		func(_ crashfs.Op, f *crashfs.FS) error {
			s, err := process(f, 3)
			if err != nil {
				return err
			}
			seen, v, err := read(s, sc.plan.Log)
			if err != nil {
				return err
			}
			// An error of the disk's is truthful too: a second process may have moved the
			// first one's files away. Only "recorded" binds.
			wins := 0
			for said, plan := range map[error]manifest.Plan{first: sc.plan, second: other.plan} {
				if said == nil {
					wins++
					want, err := manifest.EncodeSegment(plan.Log, plan.Events)
					if err != nil {
						return err
					}
					if last := seen.Segments[len(seen.Segments)-1]; !bytes.Equal(last.Bytes, want.Bytes) {
						return fmt.Errorf("one was told that its plan is recorded, and it is not: %+v", v)
					}
				} else if !fault.Is(said, fault.StoreConflict) && !fault.Is(said, fault.SessionUnhealthy) &&
					!fault.Is(said, fault.StoreIO) {
					return fmt.Errorf("one was told %v", said)
				}
			}
			if v.Health != manifest.Healthy || wins > 1 {
				return fmt.Errorf("%d were told that theirs is recorded: %+v", wins, v)
			}
			return nil
		})
}

// twoMakers lets two processes make one store and its keyring: both use the same.
func twoMakers(mutation crashfs.Mutation) error {
	type made struct {
		id   id.Store
		keys token.Keys
		err  error
	}
	makeIt := func(f *crashfs.FS, seed byte) (m made) {
		s, err := process(f, seed)
		if err == nil {
			m.id, err = s.StoreID(context.Background(), ports.MayCreate)
		}
		if err == nil {
			m.keys, err = s.Keys(context.Background(), ports.MayCreate)
		}
		m.err = err
		return m
	}
	var first, second made
	return interrupt(crashfs.New(), mutation,
		func(f *crashfs.FS) { first = makeIt(f, 1) },
		func(f *crashfs.FS) { second = makeIt(f, 9) },
		func(_ crashfs.Op, f *crashfs.FS) error {
			now := makeIt(f, 5)
			for _, m := range []made{first, second} {
				if m.err != nil || m.id != now.id || m.keys.Current != now.keys.Current {
					return fmt.Errorf("one uses store %v (%v), the others %v", m.id, m.err, now.id)
				}
			}
			return now.err
		})
}

func advanceScenario(t *testing.T) scenario {
	for _, sc := range scenarios(t) {
		if sc.name == "advance" {
			return sc
		}
	}
	t.Fatal("no advance")
	return scenario{}
}

// TestTwoWritersWithoutLocks: where locks do not hold, as on some network
// filesystems, the comparisons tell each writer the truth (docs/design.md#commit-protocol, docs/design.md#network-filesystems).
func TestTwoWritersWithoutLocks(t *testing.T) {
	t.Parallel()
	for _, run := range []func(scenario, crashfs.Mutation) error{twoWriters, twoWritersOfOneRange} {
		if err := run(advanceScenario(t), nil); err != nil {
			t.Error(err)
		}
	}
}

// TestTwoMakersOfOneStore: whoever comes second finds the first one's store.
func TestTwoMakersOfOneStore(t *testing.T) {
	t.Parallel()
	if err := twoMakers(nil); err != nil {
		t.Error(err)
	}
}

// TestAWriterHoldsTheUseLock: a cleanup keeps commits waiting, and is kept waiting
// by one, from the first object to the last sync (docs/design.md#commit-protocol).
func TestAWriterHoldsTheUseLock(t *testing.T) {
	t.Parallel()
	sc := advanceScenario(t)
	run := sc.base.Revive()
	objectsAt, syncedAt := -1, -1
	locked := map[string]bool{}
	run.Before = func(op crashfs.Op) {
		switch {
		case op.Do == "stat" && op.Name == ".use.lock":
			locked["seen"] = true
		case op.Do == "open" && op.Name != "" && op.Mode == 1 && objectsAt < 0:
			objectsAt = op.N
			if !locked["seen"] {
				t.Errorf("%s comes before the use lock", op)
			}
		case op.Do == "sync" && op.Name == sc.plan.Log.Root+"/manifest.jsonl":
			syncedAt = op.N
		}
	}
	fatal(t, sc.act(run))
	if objectsAt < 0 || syncedAt < objectsAt {
		t.Fatalf("objects at #%d, the last sync at #%d", objectsAt, syncedAt)
	}
}
