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

// interrupt runs act once for each of its operations. Before that operation it runs between, as a
// concurrent process, and after act it calls check.
func interrupt(base *crashfs.FS, mutation crashfs.Mutation, act func(*crashfs.FS), between func(*crashfs.FS),
	check func(op crashfs.Op, after *crashfs.FS) error) error {
	var ops []crashfs.Op
	base = base.Reopen()
	base.Vol.Network = true // locks may not work there
	faultless := base.Reopen()
	faultless.Before = func(op crashfs.Op) { ops = append(ops, op) }
	act(faultless)
	for _, at := range ops {
		run := base.Reopen()
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

// twoWriters runs two appends to one log whose locks do not exclude each other, the second one
// before every operation of the first, and checks that both results are correct.
func twoWriters(sc scenario, mutation crashfs.Mutation) error {
	return competingWriters(sc, sc.plan.Events[:1], mutation)
}

// twoWritersOfOneRange is twoWriters with plans that have the same segment name.
func twoWritersOfOneRange(sc scenario, mutation crashfs.Mutation) error {
	later := slices.Clone(sc.plan.Events)
	later[0].TimestampMs++
	return competingWriters(sc, later, mutation)
}

func competingWriters(sc scenario, events []event.Event, mutation crashfs.Mutation) error {
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
			// STORE_IO is correct too: the second process may have moved the files of the first.
			// Only a nil error is checked against the log.
			wins := 0
			for result, plan := range map[error]manifest.Plan{first: sc.plan, second: other.plan} {
				if result == nil {
					wins++
					want, err := manifest.EncodeSegment(plan.Log, plan.Events)
					if err != nil {
						return err
					}
					if last := seen.Segments[len(seen.Segments)-1]; !bytes.Equal(last.Bytes, want.Bytes) {
						return fmt.Errorf("an append returned nil, and its plan is not recorded: %+v", v)
					}
				} else if !fault.Is(result, fault.StoreConflict) && !fault.Is(result, fault.SessionUnhealthy) &&
					!fault.Is(result, fault.StoreIO) {
					return fmt.Errorf("an append returned %v", result)
				}
			}
			if v.Health != manifest.Healthy || wins > 1 {
				return fmt.Errorf("%d appends returned nil, and the log is %+v", wins, v)
			}
			return nil
		})
}

// concurrentCreation lets two processes create one store and its keyring, and checks that both use
// the same.
func concurrentCreation(mutation crashfs.Mutation) error {
	type made struct {
		id   id.Store
		keys token.Keys
		err  error
	}
	createStore := func(f *crashfs.FS, seed byte) (m made) {
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
		func(f *crashfs.FS) { first = createStore(f, 1) },
		func(f *crashfs.FS) { second = createStore(f, 9) },
		func(_ crashfs.Op, f *crashfs.FS) error {
			now := createStore(f, 5)
			for _, m := range []made{first, second} {
				if m.err != nil || m.id != now.id || m.keys.Current != now.keys.Current {
					return fmt.Errorf("one process uses store %v (%v), the others %v", m.id, m.err, now.id)
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

// TestTwoWritersWithoutLocks: where locks do not work, as on some network filesystems, the result
// of each append is correct nevertheless (docs/design.md#commit-protocol,
// docs/design.md#network-filesystems).
func TestTwoWritersWithoutLocks(t *testing.T) {
	t.Parallel()
	for _, run := range []func(scenario, crashfs.Mutation) error{twoWriters, twoWritersOfOneRange} {
		if err := run(advanceScenario(t), nil); err != nil {
			t.Error(err)
		}
	}
}

// TestConcurrentStoreCreation: the second process finds the store of the first.
func TestConcurrentStoreCreation(t *testing.T) {
	t.Parallel()
	if err := concurrentCreation(nil); err != nil {
		t.Error(err)
	}
}

// TestWriterHoldsUseLock: an append holds the use lock, which excludes cleanups, from its first
// object to its last sync (docs/design.md#commit-protocol).
func TestWriterHoldsUseLock(t *testing.T) {
	t.Parallel()
	sc := advanceScenario(t)
	run := sc.base.Reopen()
	objectsAt, syncedAt := -1, -1
	locked := map[string]bool{}
	run.Before = func(op crashfs.Op) {
		switch {
		case op.Action == "stat" && op.Name == ".use.lock":
			locked["seen"] = true
		case op.Action == "open" && op.Name != "" && op.Mode == 1 && objectsAt < 0:
			objectsAt = op.N
			if !locked["seen"] {
				t.Errorf("%s comes before the use lock", op)
			}
		case op.Action == "sync" && op.Name == sc.plan.Log.Root+"/manifest.jsonl":
			syncedAt = op.N
		}
	}
	fatal(t, sc.act(run))
	if objectsAt < 0 || syncedAt < objectsAt {
		t.Fatalf("objects at #%d, the last sync at #%d", objectsAt, syncedAt)
	}
}
