package adapters

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/ports"
)

// WorkStore is a handle on a store whose runs are handed out.
type WorkStore interface {
	ports.Work
	ports.Performers
}

// WorkRun is a run that a test of ports.Work makes.
type WorkRun struct {
	Session id.Session
	Run     id.Run
	// Workflow is the version that the run is pinned to; runs with the same Pending have the same one.
	Workflow canon.Digest
}

// WorkPending is what is pending of a run, a closed set.
type WorkPending int

// What is pending.
const (
	PendingCommand WorkPending = iota // a command that was not tried yet
	PendingWait                       // a moment
	PendingPerson
)

// WorkSetup is a store that a test of ports.Work uses.
type WorkSetup struct {
	// Open returns a handle, as another process would have it. Handles exclude each other by leases.
	Open func() WorkStore
	// Start records a run. A wait ends at atMs.
	Start func(p WorkPending, atMs int64, tags ...string) WorkRun
	// Advance records one more fact in a run, which leaves what is pending as it is.
	Advance func(WorkRun)
	// Finish records that the pending step is done, and the run complete.
	Finish func(WorkRun)
}

// WorkCase is one requirement of ports.Work.
type WorkCase struct {
	Name string // the requirement
	// Run checks it with a store that does not exist yet.
	Run func(testing.TB, WorkSetup)
}

// WorkCases lists the requirements of ports.Work.
func WorkCases() []WorkCase {
	return []WorkCase{
		{"an empty store has no work", noWork},
		{"each run is handed out to one performer at a time", claimedOnce},
		{"concurrent performers never have one session at once", concurrentClaims},
		{"tags are alternatives", taggedWork},
		{"a wait is handed out at its moment", waitingWork},
		{"what was passed comes back when it changed", passedWork},
		{"a claim that is used once gives its lease once", usedClaim},
	}
}

// Work runs WorkCases as subtests of t. setup makes an absent store for each.
func Work(t *testing.T, setup func(testing.TB) WorkSetup) {
	for _, c := range WorkCases() {
		t.Run(c.Name, func(t *testing.T) { c.Run(t, setup(t)) })
	}
}

// claim claims, and fails the test on an error.
func claim(t testing.TB, w ports.Work, q ports.WorkQuery) ports.Claim {
	t.Helper()
	c, err := w.Claim(context.Background(), q)
	must(t, err)
	if c.Run.IsZero() != (c.Lease.Release == nil) {
		t.Fatalf("a claim without a lease, or a lease without a run: %+v", c)
	}
	return c
}

// noWork: a store that does not exist has nothing, and an ended context is an error.
func noWork(t testing.TB, s WorkSetup) {
	w := s.Open()
	if c := claim(t, w, ports.WorkQuery{NowMs: 1}); !c.Run.IsZero() || c.Rest.Busy != 0 || c.Rest.NextAtMs != 0 || len(c.Rest.Left) > 0 {
		t.Errorf("%+v", c)
	}
	s.Start(PendingPerson, 0)
	if c := claim(t, w, ports.WorkQuery{NowMs: 1}); !c.Run.IsZero() || c.Rest.Busy != 0 {
		t.Errorf("%+v", c)
	}
	s.Start(PendingCommand, 0)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if c, err := w.Claim(ended, ports.WorkQuery{NowMs: 1}); !errors.Is(err, context.Canceled) || !c.Run.IsZero() {
		t.Errorf("%+v, %v", c, err)
	}
}

// claimedOnce: a run that is held is busy for others, who get it when the lease ends, and nothing once it is complete.
func claimedOnce(t testing.TB, s WorkSetup) {
	want := map[id.Run]WorkRun{}
	for range 3 {
		r := s.Start(PendingCommand, 0)
		want[r.Run] = r
	}
	a, b := s.Open(), s.Open()
	held := map[id.Run]ports.Claim{}
	for range 3 {
		c := claim(t, a, ports.WorkQuery{NowMs: 1})
		if r, ok := want[c.Run]; !ok || r.Session != c.Session || r.Workflow != c.Workflow || !c.Commands {
			t.Fatalf("%+v, want one of %+v", c, want)
		}
		if _, again := held[c.Run]; again {
			t.Fatalf("%s was handed out twice", c.Run)
		}
		held[c.Run] = c
	}
	for _, w := range []WorkStore{a, b} {
		if c := claim(t, w, ports.WorkQuery{NowMs: 1}); !c.Run.IsZero() || c.Rest.Busy != 3 {
			t.Errorf("%+v", c)
		}
	}
	for run, c := range held {
		if _, err := b.Hold(context.Background(), c.Session); !fault.Is(err, fault.RunBusy) {
			t.Errorf("the session of a claim is held twice: %v", err)
		}
		must(t, c.Lease.Release())
		again := claim(t, b, ports.WorkQuery{NowMs: 1})
		if again.Run != run {
			t.Fatalf("%s is handed out, want %s", again.Run, run)
		}
		s.Finish(want[run])
		must(t, again.Lease.Release())
		for _, w := range []WorkStore{a, b} {
			if c := claim(t, w, ports.WorkQuery{NowMs: 1}); !c.Run.IsZero() {
				t.Errorf("%s is handed out, and it is complete or held", c.Run)
			}
		}
	}
}

// concurrentClaims: many performers finish many runs, each once.
func concurrentClaims(t testing.TB, s WorkSetup) {
	const n = 24
	all := map[id.Run]WorkRun{}
	for range n {
		r := s.Start(PendingCommand, 0)
		all[r.Run] = r
	}
	var mu sync.Mutex
	inside, finished := map[id.Session]bool{}, map[id.Run]int{}
	var performers sync.WaitGroup
	for range 4 {
		w := s.Open()
		performers.Go(func() {
			for !t.Failed() {
				c, err := w.Claim(context.Background(), ports.WorkQuery{NowMs: 1})
				if err != nil {
					t.Error(err)
					return
				}
				if c.Run.IsZero() && c.Rest.Busy == 0 {
					return
				}
				if c.Run.IsZero() {
					continue
				}
				mu.Lock()
				if inside[c.Session] {
					t.Errorf("%s is performed twice at once", c.Session)
				}
				inside[c.Session] = true
				s.Finish(all[c.Run])
				finished[c.Run]++
				delete(inside, c.Session)
				mu.Unlock()
				if err := c.Lease.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	performers.Wait()
	for run := range all {
		if finished[run] != 1 {
			t.Errorf("%s was handed out %d times", run, finished[run])
		}
	}
}

// taggedWork: a query with tags gets runs with one of them; one without gets all.
func taggedWork(t testing.TB, s WorkSetup) {
	build, both, none := s.Start(PendingCommand, 0, "build"), s.Start(PendingCommand, 0, "linux", "build"), s.Start(PendingCommand, 0)
	for _, row := range []struct {
		tags []string
		want []WorkRun
	}{{[]string{"build"}, []WorkRun{build, both}}, {[]string{"linux", "mac"}, []WorkRun{both}}, {[]string{"Build"}, nil},
		{nil, []WorkRun{build, both, none}}} {
		w, got := s.Open(), map[id.Run]bool{}
		var held []ports.Claim
		for {
			c := claim(t, w, ports.WorkQuery{Tags: row.tags, NowMs: 1})
			if c.Run.IsZero() {
				break
			}
			got[c.Run], held = true, append(held, c)
		}
		for _, r := range row.want {
			if !got[r.Run] {
				t.Errorf("%q: no %s", row.tags, r.Run)
			}
		}
		if len(got) != len(row.want) {
			t.Errorf("%q: %d runs, want %d", row.tags, len(got), len(row.want))
		}
		for _, c := range held {
			must(t, c.Lease.Release())
		}
	}
}

// waitingWork: before its moment a wait is the next one, and is handed out from then on, also to a performer that cannot run the
// commands of its workflow.
func waitingWork(t testing.TB, s WorkSetup) {
	late, early := s.Start(PendingWait, 90_000), s.Start(PendingWait, 50_000)
	w := s.Open()
	if c := claim(t, w, ports.WorkQuery{NowMs: 49_999}); !c.Run.IsZero() || c.Rest.NextAtMs != 50_000 {
		t.Errorf("%+v", c)
	}
	c := claim(t, w, ports.WorkQuery{NowMs: 50_000, Without: map[canon.Digest]bool{early.Workflow: true}})
	if c.Run != early.Run || c.Commands {
		t.Fatalf("%+v", c)
	}
	if c := claim(t, w, ports.WorkQuery{NowMs: 50_000}); !c.Run.IsZero() || c.Rest.NextAtMs != 90_000 || c.Rest.Busy != 1 {
		t.Errorf("%+v", c)
	}
	must(t, c.Lease.Release())
	s.Finish(early)
	if c := claim(t, w, ports.WorkQuery{NowMs: 90_000}); c.Run != late.Run {
		t.Errorf("%+v", c)
	}
}

// passedWork: a run that was passed, or whose workflow is, hides no other, and a passed run comes back when its log has more.
func passedWork(t testing.TB, s WorkSetup) {
	r, other := s.Start(PendingCommand, 0), s.Start(PendingWait, 1)
	w := s.Open()
	q := ports.WorkQuery{NowMs: 1, Passed: map[id.Run]int64{}, Without: map[canon.Digest]bool{r.Workflow: true}}
	c := claim(t, w, q)
	if c.Run != other.Run {
		t.Fatalf("%+v", c)
	}
	if c := claim(t, w, q); !c.Run.IsZero() || c.Rest.Busy != 1 {
		t.Errorf("%+v", c)
	}
	must(t, c.Lease.Release())
	q.Passed[other.Run], q.Without = c.LastIndex, nil
	if c = claim(t, w, q); c.Run != r.Run {
		t.Fatalf("%+v", c)
	}
	must(t, c.Lease.Release())
	q.Passed[r.Run] = c.LastIndex
	if c := claim(t, w, q); !c.Run.IsZero() || c.Rest.Busy != 0 {
		t.Errorf("%+v", c)
	}
	s.Advance(r)
	if again := claim(t, w, q); again.Run != r.Run || again.LastIndex <= c.LastIndex {
		t.Errorf("%+v after %+v", again, c)
	}
}

// usedClaim: ports.Claimed gives the lease to the first Hold of the session, and releases one that was not used.
func usedClaim(t testing.TB, s WorkSetup) {
	ctx := context.Background()
	r := s.Start(PendingCommand, 0)
	w := s.Open()
	p, release := ports.Claimed(claim(t, w, ports.WorkQuery{NowMs: 1}))
	if _, err := p.Hold(ctx, id.NewSession(id.Seed{7, 7})); !fault.Is(err, fault.RunBusy) {
		t.Errorf("another session: %v", err)
	}
	lease, err := p.Hold(ctx, r.Session)
	must(t, err)
	if _, err := p.Hold(ctx, r.Session); !fault.Is(err, fault.RunBusy) {
		t.Errorf("held twice: %v", err)
	}
	release()
	if _, err := w.Hold(ctx, r.Session); !fault.Is(err, fault.RunBusy) {
		t.Errorf("a lease that is in use was released: %v", err)
	}
	must(t, lease.Release())
	_, release = ports.Claimed(claim(t, w, ports.WorkQuery{NowMs: 1}))
	release()
	if c := claim(t, w, ports.WorkQuery{NowMs: 1}); c.Run != r.Run {
		t.Errorf("a claim that was not used is still held: %+v", c)
	}
}
