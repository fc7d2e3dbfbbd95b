package filestore_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/sample"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// process opens the store on an in-memory disk as a new process, with no lock held. All processes
// run on the same boot, so that they accept notes that a power cut restored, which is the worst
// case. The seed determines temporary names, which differ between processes.
func process(f *crashfs.FS, seed byte) (*filestore.Store, error) { return onBoot(f, "boot", seed) }

// scenario is one append to explore: the disk before it, the plan, and the heads before and after
// it.
type scenario struct {
	name          string
	base          *crashfs.FS
	plan          manifest.Plan
	before, after manifest.Head
	further       func(next int64) manifest.Plan // the plan of a further append at either head
	noStore       bool                           // the append creates the store
	boot          string                         // id of the boot on which the append runs; "": unknown
	limit         int                            // see crashfs.Crashes
}

func (sc scenario) process(f *crashfs.FS, seed byte) (*filestore.Store, error) {
	return onBoot(f, sc.boot, seed)
}

// act runs the append under test in a process of its own.
func (sc scenario) act(f *crashfs.FS) error {
	s, err := sc.process(f, 1)
	if err != nil {
		return err
	}
	return sc.append(s)
}

func (sc scenario) append(s *filestore.Store) error {
	ctx := context.Background()
	return ports.WithHealthySession(ctx, s, s, sc.plan.Log, sc.before, ports.Skip,
		func(w ports.Witness, v manifest.Verdict) error {
			_, err := s.Append(ctx, w, sc.before, sc.plan)
			return err
		})
}

// The states of the store before the first append of a session.
const (
	absentStore   = "start in an absent store"
	existingStore = "start in a store"
)

// What an earlier append may have left: the torn group of the same plan or of a longer one, after a
// kill or after a power cut.
const (
	overOwnKilled    = "advance over its own torn group, killed"
	overOwnCutOff    = "advance over its own torn group, after a power cut"
	overLongerKilled = "advance over a longer torn group, killed"
	overLongerCutOff = "advance over a longer torn group, after a power cut"
)

// scenarios builds all scenarios on disks without faults.
func scenarios(t *testing.T) []scenario {
	t.Helper()
	var out []scenario
	fixture := suite.NewSessionFixture(1)
	made := crashfs.New()
	s, err := process(made, 2)
	fatal(t, err)
	_, err = s.StoreID(context.Background(), ports.MayCreate)
	fatal(t, err)
	started := made.Reopen()
	after := commitTo(t, started, fixture.Start())
	out = append(sideScenarios(t, started, fixture),
		newScenario(absentStore, crashfs.New(), fixture, suite.NewSessionFixture(1).Start(), manifest.Head{}, after),
		newScenario(existingStore, made, fixture, suite.NewSessionFixture(1).Start(), manifest.Head{}, after),
	)
	before := after
	grown := started
	for range 2 {
		before = commitTo(t, grown, fixture.Advance(before.Next))
	}
	ahead := *fixture
	plan := ahead.Advance(before.Next)
	full := grown.Reopen()
	after = commitTo(t, full, plan)
	out = append(out, newScenario("advance", grown, fixture, plan, before, after))

	// An append is killed while it writes its group, so that the disk has exactly what a kill
	// leaves: a torn tail and an orphan segment, of the same range or of a longer one.
	longer := plan
	longer.Events = append(slices.Clone(plan.Events), event.New(plan.Log.Owner, before.Next+3, plan.Events[0].Scope,
		plan.Events[0].Actor, 1,
		event.GapRecorded{GapID: id.FromStart(id.RootNode(fixture.RunID)).Gap(0), Reason: reason.NeedsChoice,
			Resolution: event.Resolution{Kind: event.Unresolved}, Severity: event.Info, Summary: "a gap"}))
	for i, p := range []manifest.Plan{plan, longer} {
		torn := grown.Reopen()
		torn.Fault = &crashfs.Fault{At: manifestWrite(t, grown, before, p), Part: 3}
		_ = scenario{plan: p, before: before, boot: "boot"}.act(torn)
		killed := torn.Reopen()
		out = append(out, newScenario([]string{overOwnKilled, overLongerKilled}[i], killed, fixture, plan, before,
			after))
		killed.Crashes(1, func(state crashfs.State) bool {
			if int64(len(state.FS.Files()[plan.Log.Root+"/manifest.jsonl"])) <= before.Bytes {
				return true // not the state in which the tail was written
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

func commitTo(t *testing.T, f *crashfs.FS, p manifest.Plan) manifest.Head {
	t.Helper()
	s, err := process(f, 3)
	fatal(t, err)
	head, err := suite.Gate(s, p)
	fatal(t, err)
	return head
}

// manifestWrite returns the number of the operation that writes the group.
func manifestWrite(t *testing.T, base *crashfs.FS, before manifest.Head, p manifest.Plan) int {
	t.Helper()
	at := -1
	run := base.Reopen()
	run.Before = func(op crashfs.Op) {
		if op.Action == "write" && op.Name == p.Log.Root+"/manifest.jsonl" {
			at = op.N
		}
	}
	fatal(t, scenario{plan: p, before: before, boot: "boot"}.act(run))
	return at
}

// truth returns the head of the log on a disk. The error describes a log that is damaged, or
// neither as before nor as after the append, or an object that is missing.
func (sc scenario) truth(f *crashfs.FS) (manifest.Head, error) {
	s, err := sc.process(f, 3)
	if err != nil {
		return manifest.Head{}, fmt.Errorf("open: %w", err)
	}
	seen := &suite.Seen{}
	v, err := s.Read(context.Background(), ports.ReadRequest{Log: sc.plan.Log}, ports.Into(&seen, suite.NewSeen))
	if err != nil {
		return v.Head, fmt.Errorf("read: %w", err)
	}
	if v.Health != manifest.Healthy {
		return v.Head, fmt.Errorf("%s: %+v", v.Health, v.Findings)
	}
	if v.Head != sc.before && v.Head != sc.after {
		return v.Head, fmt.Errorf("neither before nor after: %+v", v.Head)
	}
	return v.Head, checkObjects(s, seen)
}

// checkObjects reads every object that committed events refer to.
func checkObjects(s *filestore.Store, seen *suite.Seen) error {
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

// continues confirms the log, appends once more, and reads all of it again.
func (sc scenario) continues(f *crashfs.FS) error {
	s, err := sc.process(f, 3)
	if err != nil {
		return err
	}
	_, v, err := read(s, sc.plan.Log)
	if err != nil {
		return err
	}
	// A process may acknowledge what it reads, so Confirm must succeed in every state.
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
	return checkObjects(s, seen)
}

// unexpected excludes orphan segments: one remains where a power cut restored a writer's note that
// none exists, on the same boot, which only a disk that loses power by itself can do.
func unexpected(f manifest.Finding) bool { return f.Code != manifest.OrphanSegment }

// TestAppendCrashesLeaveBeforeOrAfter: every state that a power cut can leave of an append is a
// healthy log as before or as after it, as after it once Append has returned nil, and accepts a
// further append.
func TestAppendCrashesLeaveBeforeOrAfter(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var total crashfs.Count
	t.Cleanup(func() { t.Logf("total: %d operations, %d crash states", total.Ops, total.States) })
	for _, sc := range scenarios(t) {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			count := sc.explore(sc.base, crashfs.ExploreOptions{Limit: sc.limit, Cases: sample.OneIn(t, 20)},
				func(format string, args ...any) bool {
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

// crashLimit is the limit of crashfs.Crashes in most scenarios.
const crashLimit = 4096

// explore reports the first state that violates a requirement.
func (sc scenario) explore(base *crashfs.FS, how crashfs.ExploreOptions,
	report func(string, ...any) bool) crashfs.Count {
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
		if err := sc.continues(s.FS); err != nil {
			return report("%s: %v", s.Name, err)
		}
		return true
	})
}
