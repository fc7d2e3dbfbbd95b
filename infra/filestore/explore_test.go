package filestore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/sample"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// process opens the store on a disk in memory as a new process would: nobody
// holds a lock. All run on one boot, so that notes which a power cut brought back
// are believed: the worst that can happen to them. The seed gives temporary names,
// which differ between processes.
func process(f *crashfs.FS, seed byte) (*filestore.Store, error) { return onBoot(f, "boot", seed) }

func onBoot(f *crashfs.FS, boot string, seed byte) (*filestore.Store, error) {
	return filestore.Open(f, filestore.Options{
		AllowNetworkFS: f.Vol.Network,
		Locks:          lock.NewMemory().On(f), Boot: boot,
		Random: rand.NewChaCha8([32]byte{seed}), Now: func() time.Time { return time.UnixMilli(1_760_000_000_000) },
	})
}

// scenario is one append to explore: what lies on the disk, the plan, and the
// heads before and after it.
type scenario struct {
	name          string
	base          *crashfs.FS
	plan          manifest.Plan
	before, after manifest.Head
	further       func(next int64) manifest.Plan // what may follow either head
	noStore       bool                           // the append makes the store
	boot          string                         // the run of the machine that the append belongs to
	limit         int                            // up to how many states a moment is enumerated exhaustively
}

func (sc scenario) process(f *crashfs.FS, seed byte) (*filestore.Store, error) {
	return onBoot(f, sc.boot, seed)
}

// act is the append under test, as a process of its own.
func (sc scenario) act(f *crashfs.FS) error {
	s, err := sc.process(f, 1)
	if err != nil {
		return err
	}
	return sc.append(s)
}

func (sc scenario) append(s *filestore.Store) error {
	ctx := context.Background()
	return ports.WithHealthySession(ctx, s, s, sc.plan.Log, sc.before, &suite.Seen{},
		func(w ports.Witness, v manifest.Verdict) error {
			_, err := s.Append(ctx, w, sc.before, sc.plan)
			return err
		})
}

// Where a session may start.
const (
	absentStore   = "start in a store that is not there"
	existingStore = "start in a store"
)

// What an append may find of one before it: the torn group of its own plan or of a
// longer one, with or without a power cut behind it.
const (
	overOwnKilled    = "advance over its own torn group, killed"
	overOwnCutOff    = "advance over its own torn group, cut off"
	overLongerKilled = "advance over a longer torn group, killed"
	overLongerCutOff = "advance over a longer torn group, cut off"
)

// scenarios are built on working disks; a failure here is a failure of the test.
func scenarios(t *testing.T) []scenario {
	t.Helper()
	var out []scenario
	fixture := suite.NewSessionFixture(1)
	made := crashfs.New()
	s, err := process(made, 2)
	fatal(t, err)
	_, err = s.StoreID(context.Background(), ports.MayCreate)
	fatal(t, err)
	started := made.Revive()
	after := grow(t, started, fixture.Start())
	out = append(sideScenarios(t, started, fixture),
		newScenario(absentStore, crashfs.New(), fixture, suite.NewSessionFixture(1).Start(), manifest.Head{}, after),
		newScenario(existingStore, made, fixture, suite.NewSessionFixture(1).Start(), manifest.Head{}, after),
	)
	before := after
	grown := started
	for range 2 {
		before = grow(t, grown, fixture.Advance(before.Next))
	}
	ahead := *fixture
	plan := ahead.Advance(before.Next)
	full := grown.Revive()
	after = grow(t, full, plan)
	out = append(out, newScenario("advance", grown, fixture, plan, before, after))

	// Made by killing the same append while it wrote its group, so that what is left
	// is what really is left. A torn tail and an orphan of another range: what an advance of more events
	// left that was killed while it wrote its group, with and without a power cut.
	longer := plan
	longer.Events = append(slices.Clone(plan.Events), event.New(plan.Log.Owner, before.Next+3, plan.Events[0].Scope,
		plan.Events[0].Actor, 1,
		event.GapRecorded{GapID: id.FromStart(id.RootNode(fixture.RunID)).Gap(0), Reason: reason.NeedsChoice,
			Resolution: event.Resolution{Kind: event.Unresolved}, Severity: event.Info, Summary: "a gap"}))
	for i, p := range []manifest.Plan{plan, longer} {
		torn := grown.Revive()
		torn.Fault = &crashfs.Fault{At: manifestWrite(t, grown, before, p), Part: 3}
		_ = scenario{plan: p, before: before, boot: "boot"}.act(torn)
		killed := torn.Revive()
		out = append(out, newScenario([]string{overOwnKilled, overLongerKilled}[i], killed, fixture, plan, before, after))
		killed.Crashes(1, func(state crashfs.State) bool {
			if int64(len(state.FS.Files()[plan.Log.Root+"/manifest.jsonl"])) <= before.Bytes {
				return true // not the one whose tail was written
			}
			cutOff := newScenario([]string{overOwnCutOff, overLongerCutOff}[i], state.FS, fixture, plan, before, after)
			cutOff.boot = "next"
			out = append(out, cutOff)
			return false
		})
	}
	return out
}

func newScenario(name string, base *crashfs.FS, fixture *suite.SessionFixture, plan manifest.Plan, before,
	after manifest.Head) scenario {
	further := func(next int64) manifest.Plan {
		again := *fixture
		if next == 0 {
			return again.Start()
		}
		return again.Advance(next)
	}
	return scenario{name, base, plan, before, after, further, len(base.Files()) == 0, "boot", crashLimit}
}

func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func grow(t *testing.T, f *crashfs.FS, p manifest.Plan) manifest.Head {
	t.Helper()
	s, err := process(f, 3)
	fatal(t, err)
	head, err := suite.Gate(s, p)
	fatal(t, err)
	return head
}

// manifestWrite is the operation that writes the group.
func manifestWrite(t *testing.T, base *crashfs.FS, before manifest.Head, p manifest.Plan) int {
	t.Helper()
	at := -1
	run := base.Revive()
	run.Before = func(op crashfs.Op) {
		if op.Do == "write" && op.Name == p.Log.Root+"/manifest.jsonl" {
			at = op.N
		}
	}
	fatal(t, scenario{plan: p, before: before, boot: "boot"}.act(run))
	return at
}

// truth is what a disk tells: the head, or why it cannot be loaded.
func (sc scenario) truth(f *crashfs.FS) (manifest.Head, error) {
	s, err := sc.process(f, 3)
	if err != nil {
		return manifest.Head{}, fmt.Errorf("open: %w", err)
	}
	seen := &suite.Seen{}
	v, err := s.Read(context.Background(), ports.Reading{Log: sc.plan.Log}, seen)
	if err != nil {
		return v.Head, fmt.Errorf("read: %w", err)
	}
	if v.Health != manifest.Healthy {
		return v.Head, fmt.Errorf("%s: %+v", v.Health, v.Findings)
	}
	if v.Head != sc.before && v.Head != sc.after {
		return v.Head, fmt.Errorf("neither before nor after: %+v", v.Head)
	}
	return v.Head, allThere(s, seen)
}

// allThere reads every object that committed events refer to.
func allThere(s *filestore.Store, seen *suite.Seen) error {
	for _, seg := range seen.Segments {
		for _, e := range seg.Events {
			for kind, ref := range referred(e) {
				if _, err := s.Object(context.Background(), kind, ref); err != nil {
					return fmt.Errorf("event %d: %w", e.Index, err)
				}
			}
		}
	}
	return nil
}

// goesOn appends once more to what is there, and reads all of it again.
func (sc scenario) goesOn(f *crashfs.FS) error {
	s, err := sc.process(f, 3)
	if err != nil {
		return err
	}
	_, v, err := read(s, sc.plan.Log)
	if err != nil {
		return err
	}
	// What was read may be told to somebody: the promise must hold on any such disk.
	if err := s.Confirm(context.Background(), sc.plan.Log, v.Head); err != nil {
		return fmt.Errorf("confirm: %w", err)
	}
	head, err := suite.Gate(s, sc.further(v.Head.Next))
	if err != nil {
		return fmt.Errorf("a further append: %w", err)
	}
	seen, v, err := read(s, sc.plan.Log)
	switch {
	case err != nil:
		return err
	case v.Health != manifest.Healthy || slices.ContainsFunc(v.Findings, unexpected) || v.Head != head:
		return fmt.Errorf("after a further append: %+v", v)
	}
	return allThere(s, seen)
}

// unexpected leaves out orphans: one stays where a power cut brought back a note
// that promised there was none, which only an unplugged disk can do.
func unexpected(f manifest.Finding) bool { return f.Code != manifest.OrphanSegment }

func read(s *filestore.Store, log manifest.Log) (*suite.Seen, manifest.Verdict, error) {
	seen := &suite.Seen{}
	v, err := s.Read(context.Background(), ports.Reading{Log: log}, seen)
	return seen, v, err
}

// TestExploreCrashes: whatever a power cut leaves of an append loads, is as before
// or as after, and after it once the append has said so; and goes on.
func TestExploreCrashes(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var total crashfs.Count
	t.Cleanup(func() { t.Logf("in all: %d operations, %d crash states", total.Ops, total.States) })
	for _, sc := range scenarios(t) {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			count := sc.explore(sc.base, crashfs.Look{Limit: sc.limit, Cases: sample.OneIn(t, 10)}, func(format string, args ...any) bool {
				t.Fatalf(format, args...)
				return false
			})
			t.Logf("%d operations, %d states", count.Ops, count.States)
			mu.Lock()
			defer mu.Unlock()
			total.Add(count)
		})
	}
}

// crashLimit is up to how many states a moment of most scenarios is enumerated
// exhaustively.
const crashLimit = 4096

// explore reports the first state that is not as it should be.
func (sc scenario) explore(base *crashfs.FS, how crashfs.Look, report func(string, ...any) bool) crashfs.Count {
	var acked error
	return crashfs.Explore(base, how, func(f *crashfs.FS) { acked = sc.act(f) }, func(s crashfs.State, done bool) bool {
		head, err := sc.truth(s.FS)
		switch {
		case err != nil:
			return report("%s: %v", s.Name, err)
		case done && acked != nil:
			return report("the append failed: %v", acked)
		case done && head != sc.after:
			return report("%s: the append was acknowledged and is lost", s.Name)
		}
		if err := sc.goesOn(s.FS); err != nil {
			return report("%s: %v", s.Name, err)
		}
		return true
	})
}
