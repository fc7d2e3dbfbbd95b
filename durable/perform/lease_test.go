package perform_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/infra/memstore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/hosts"
	"github.com/waybill/waybill/projections/runs"
)

// overLease is longer than a lease that is not renewed.
const overLease = (limits.LeaseMs + 1000) * time.Millisecond

// cutNow cuts a handle off from its store at once.
var cutNow = memstore.Cut{}

// machine is a performer on a machine of its own.
type machine struct {
	*fixture
	began  chan struct{} // a command has begun
	finish chan struct{} // the command is to end
	killed bool          // the command was stopped
	result chan error    // of Perform
}

// newMachines starts a run and returns performers on machines of their own over one store with leases.
func newMachines(t *testing.T, workflowText string) (h *hosts.Hosts, a, b *machine) {
	t.Helper()
	h = hosts.New(id.Seed{9})
	first := newFixtureOver(t, h.Open(time.Second), workflowText)
	second := &fixture{T: t, store: h.Open(time.Second), trusted: true, clock: 1000, at: first.at, hash: first.hash}
	second.g = enginetest.InMemory(second.store)
	out := make([]*machine, 2)
	for i, w := range []*fixture{first, second} {
		w.leases = w.store.Performers()
		m := &machine{fixture: w, began: make(chan struct{}, 9), finish: make(chan struct{}), result: make(chan error, 1)}
		w.slow = func(ctx context.Context) error {
			m.began <- struct{}{}
			select {
			case <-m.finish:
				return nil
			case <-ctx.Done():
				m.killed = true
				return ctx.Err()
			case <-time.After(time.Minute):
				t.Error("the command has no end")
				return nil
			}
		}
		out[i] = m
	}
	return h, out[0], out[1]
}

// start performs the run in another goroutine, and returns when a command runs.
func (m *machine) start(ctx context.Context) {
	m.Helper()
	go func() {
		_, err := m.perform(ctx, perform.Options{})
		m.result <- err
	}()
	m.waits(m.began)
}

// waits waits for a channel.
func (m *machine) waits(c chan struct{}) {
	m.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		m.Fatal("nothing happens")
	}
}

// end lets the command end by itself and returns the result of Perform, which has no further command.
func (m *machine) end() error {
	m.Helper()
	m.finish <- struct{}{}
	return m.err()
}

// err returns the result of Perform.
func (m *machine) err() error {
	m.Helper()
	select {
	case err := <-m.result:
		return err
	case <-time.After(time.Minute):
		m.Fatal("the performer does not end")
		return nil
	}
}

// wantLost fails the test unless an error reports a lost lease, with the machine that has it now; "" for none.
func wantLost(t *testing.T, err error, by string) {
	t.Helper()
	f := fault.Of(err)
	if err == nil || f.Code != fault.RunBusy || f.Details["leaseLost"] != true || !strings.Contains(f.Message, "nothing was recorded") {
		t.Fatalf("got %v; want RUN_BUSY for a lost lease", err)
	}
	if holder, _ := f.Details["holder"].(ports.Holder); holder.Host != by {
		t.Errorf("the holder is %+v, want %q", holder, by)
	}
	if f.Suggestion.String() == "" || f.Details["runId"] == nil {
		t.Errorf("suggestion %q, details %v", f.Suggestion, f.Details)
	}
	if perform.After(perform.Report{}, err) != (perform.Next{Retry: true}) {
		t.Error("the run is not performed again later")
	}
}

// wantDone fails the test unless the log is healthy, its run complete, and each step has one attempt with one result.
func (m *machine) wantDone(steps int) {
	m.Helper()
	v, err := m.store.Read(context.Background(), ports.ReadRequest{Log: manifest.SessionEvents(m.at.Session)}, ports.Skip)
	if err != nil || v.Health != manifest.Healthy || len(v.Findings) > 0 {
		m.Errorf("the log is %+v, %v", v, err)
	}
	if got := m.attempts(); got != strings.TrimSpace(strings.Repeat("advanced ", steps)) || len(m.outputs()) != steps {
		m.Errorf("recorded %q, %d results", got, len(m.outputs()))
	}
	if a, err := m.g.Rehydrate(context.Background(), m.tip()); err != nil || !a.IsComplete {
		m.Errorf("the run is %v, %v", a.Status, err)
	}
	if r, err := m.g.Replay(context.Background(), m.at); err != nil || r.Difference != nil {
		m.Errorf("decided again: %+v, %v", r, err)
	}
}

// tip is the position of the run's preferred tip.
func (m *machine) tip() engine.Position {
	m.Helper()
	at, err := m.g.Locate(context.Background(), m.at.Run.String())
	if err != nil {
		m.Fatal(err)
	}
	return at
}

func TestStoppedPerformerIsReplaced(t *testing.T) {
	for name, resume := range map[string]func(t *testing.T, a, b *machine){
		"continued before the other finished": func(t *testing.T, a, b *machine) {
			a.store.Continue()
			wantLost(t, a.err(), "")
			if err := b.end(); err != nil {
				t.Error(err)
			}
		},
		"continued after the other finished": func(t *testing.T, a, b *machine) {
			if err := b.end(); err != nil {
				t.Error(err)
			}
			a.store.Continue()
			wantLost(t, a.err(), "")
		},
		"its result arrives before the other finished": func(t *testing.T, a, b *machine) {
			wantLost(t, a.end(), "host-2")
			if err := b.end(); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, a, b := newMachines(t, steps(buildStep))
			a.start(t.Context())
			a.store.Stop()
			h.Pass(overLease)
			b.start(t.Context())
			resume(t, a, b)
			b.wantDone(1)
			if len(a.tries) != 1 || len(b.tries) != 1 {
				t.Errorf("%d and %d commands", len(a.tries), len(b.tries))
			}
		})
	}
}

// A result that arrives after the step was performed again is answered from the log: the recorded one stays.
func TestLateResultIsAnsweredFromTheLog(t *testing.T) {
	h, a, b := newMachines(t, steps(buildStep))
	a.outcomes = []ports.CommandOutcome{{DurationMs: 99, OutputHead: "late"}}
	a.start(t.Context())
	a.store.Stop()
	h.Pass(overLease)
	b.start(t.Context())
	if err := b.end(); err != nil {
		t.Fatal(err)
	}
	if err := a.end(); err != nil {
		t.Errorf("the answer to the late attempt: %v", err)
	}
	b.wantDone(1)
	if got := b.outputs()[0].DurationMs; got == 99 {
		t.Error("the late result is recorded")
	}
}

// A result that arrives when another performer is at work on the next step is answered from the log, and is no reason to perform that step
// as well: an answer from the log proves no lease.
func TestLateResultContinuesNothing(t *testing.T) {
	recorded := ports.CommandOutcome{DurationMs: 7}
	for _, late := range []ports.CommandOutcome{{DurationMs: 99, OutputHead: "late"}, recorded} {
		h, a, b := newMachines(t, steps(buildStep+strings.ReplaceAll(buildStep, "build", "pack")))
		a.outcomes, b.outcomes = []ports.CommandOutcome{late}, []ports.CommandOutcome{recorded}
		a.start(t.Context())
		a.store.Stop()
		h.Pass(overLease)
		b.start(t.Context())
		b.finish <- struct{}{}
		b.waits(b.began)
		wantLost(t, a.end(), "host-2")
		if len(a.tries) != 1 {
			t.Errorf("%d commands", len(a.tries))
		}
		if err := b.end(); err != nil {
			t.Error(err)
		}
		b.wantDone(2)
	}
}

// A lease without a successor is lost as well: the next performer performs the step.
func TestLeaseLostBetweenCommandAndAppend(t *testing.T) {
	h, a, b := newMachines(t, steps(buildStep))
	a.start(t.Context())
	a.store.Stop()
	h.Pass(overLease)
	wantLost(t, a.end(), "")
	if a.attempts() != "" || a.sent != 1 {
		t.Errorf("recorded %q after %d calls", a.attempts(), a.sent)
	}
	b.start(t.Context())
	if err := b.end(); err != nil {
		t.Fatal(err)
	}
	b.wantDone(1)
}

// The command is stopped before the end of the lease where it cannot be renewed, so that no two run at once.
func TestUnreachableStoreEndsTheCommand(t *testing.T) {
	h, a, b := newMachines(t, steps(buildStep))
	a.start(t.Context())
	calls := len(a.began)
	a.store.CutOff(cutNow)
	h.Pass(49 * time.Second)
	if len(a.began) != calls || len(a.result) != 0 {
		t.Fatal("the command ended before the margin")
	}
	h.Pass(time.Second)
	wantLost(t, a.err(), "")
	if !a.killed || a.sent != 0 {
		t.Errorf("stopped: %v, %d attempts were sent", a.killed, a.sent)
	}
	if _, err := b.perform(t.Context(), perform.Options{}); codeOf(err) != fault.RunBusy || fault.Of(err).Details["leaseLost"] != nil {
		t.Errorf("within the margin: %v", err)
	}
	h.Pass(10 * time.Second)
	b.start(t.Context())
	if err := b.end(); err != nil {
		t.Fatal(err)
	}
	b.wantDone(1)
}

// The margin covers a clock that is slow: no other performer begins before the command is stopped. One that is fast only
// stops early.
func TestClocksOfHostsDiffer(t *testing.T) {
	for percent, from := range map[int]time.Duration{90: 55 * time.Second, 110: 45 * time.Second} {
		h, a, b := newMachines(t, steps(buildStep))
		h.Drift(1, percent)
		a.start(t.Context())
		a.store.CutOff(cutNow)
		h.Pass(from)
		if len(a.result) != 0 || a.killed {
			t.Errorf("at %d%%: stopped before %v", percent, from)
		}
		h.Pass(time.Second)
		wantLost(t, a.err(), "")
		if _, err := b.perform(t.Context(), perform.Options{}); codeOf(err) != fault.RunBusy || len(b.tries) != 0 {
			t.Errorf("at %d%%: before the end of the lease: %v", percent, err)
		}
		h.Pass(overLease - from)
		b.start(t.Context())
		if err := b.end(); err != nil {
			t.Error(err)
		}
		b.wantDone(1)
	}
}

// A store that goes away behind a command is not asked again: the command runs again later.
func TestUnreachableStoreIsNotAskedAgain(t *testing.T) {
	_, a, _ := newMachines(t, steps(buildStep))
	a.start(t.Context())
	a.store.CutOff(cutNow)
	err := a.end()
	if f := fault.Of(err); err == nil || f.Code != fault.StoreUnreachable || a.sent != 1 ||
		!strings.Contains(f.Suggestion.String(), "run --run R") || strings.Contains(a.transcript(), "pause") {
		t.Errorf("%v, suggestion %q, sent %d times", err, f.Suggestion, a.sent)
	}
	if perform.After(perform.Report{}, err) != (perform.Next{Retry: true}) {
		t.Error("the run is not performed again later")
	}
	a.store.Reconnect()
	if a.attempts() != "" {
		t.Errorf("recorded %q", a.attempts())
	}
}

func TestInterruptedWithLostLease(t *testing.T) {
	h, a, _ := newMachines(t, steps(buildStep))
	ctx, cancel := context.WithCancel(t.Context())
	a.start(ctx)
	a.store.Stop()
	h.Pass(overLease)
	cancel()
	err := a.err()
	a.store.Continue()
	if codeOf(err) != fault.Interrupted || a.attempts() != "" {
		t.Errorf("%v, recorded %q", err, a.attempts())
	}
}

// A command that runs for many leases keeps its own.
func TestLongCommandKeepsItsLease(t *testing.T) {
	h, a, b := newMachines(t, steps(buildStep))
	a.start(t.Context())
	h.Pass(5 * overLease)
	if _, err := b.perform(t.Context(), perform.Options{}); codeOf(err) != fault.RunBusy {
		t.Errorf("another performer: %v", err)
	}
	if err := a.end(); err != nil {
		t.Fatal(err)
	}
	a.wantDone(1)
}

// A release that fails ends the renewal all the same: the next performer waits for the end of the lease.
func TestFailedRelease(t *testing.T) {
	h, a, b := newMachines(t, steps(buildStep+strings.ReplaceAll(buildStep, "build", "pack")))
	a.onEnded = func() { a.store.CutOff(cutNow) }
	go func() {
		_, err := a.perform(t.Context(), perform.Options{Only: true})
		a.result <- err
	}()
	a.waits(a.began)
	if err := a.end(); !errors.Is(err, perform.ErrStepped) {
		t.Fatal(err)
	}
	h.Pass(overLease - 2*time.Second)
	if _, err := b.perform(t.Context(), perform.Options{}); codeOf(err) != fault.RunBusy {
		t.Errorf("before the end of the lease: %v", err)
	}
	a.store.Reconnect()
	h.Pass(2 * time.Second)
	b.start(t.Context())
	if err := b.end(); err != nil {
		t.Fatal(err)
	}
	b.wantDone(2)
}

// A run whose performer hangs is cancelled by request, and closed by the next performer: the one that hung closes nothing,
// since another one may be at work.
func TestCancelOfARunWhosePerformerHangs(t *testing.T) {
	for _, early := range []bool{false, true} {
		h, a, b := newMachines(t, steps(buildStep))
		a.start(t.Context())
		a.store.Stop()
		other := h.Open(time.Second)
		got, err := engine.New(other).Cancel(t.Context(), engine.Caller{Actor: event.Actor{Kind: event.Human}, AtMs: 50},
			other.Performers(), a.at, engine.CancelRequest{Reason: "not needed"})
		if err != nil || got.Status != runs.Cancelling {
			t.Fatalf("%+v, %v", got, err)
		}
		h.Pass(overLease)
		if early {
			a.store.Continue()
			wantLost(t, a.err(), "")
			if got := b.ends(); got != "requested by human" {
				t.Errorf("recorded %q", got)
			}
		}
		if _, err := b.perform(t.Context(), perform.Options{}); codeOf(err) != fault.RunClosed {
			t.Error(err)
		}
		if !early {
			a.store.Continue()
			wantLost(t, a.err(), "")
		}
		if got := b.ends(); got != "requested by human, cancelled by engine" || len(b.tries) != 0 || !a.killed {
			t.Errorf("recorded %q after %d tries, killed %v", got, len(b.tries), a.killed)
		}
	}
}

// The checks of a step that is handed in are stopped with the lease.
func TestChecksEndWithTheLease(t *testing.T) {
	h := hosts.New(id.Seed{9})
	w := newCheckedOver(t, h.Open(time.Second), checkedText, `{"name":"Ada"}`)
	w.leases = w.store.Performers()
	began := make(chan struct{}, 9)
	w.slow = func(ctx context.Context) error { began <- struct{}{}; <-ctx.Done(); return ctx.Err() }
	in := newHandIns(w)
	first, err := in.e.Rehydrate(t.Context(), w.at)
	if err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() { _, err := in.send(t.Context(), first); result <- err }()
	<-began
	w.store.CutOff(cutNow)
	h.Pass(50 * time.Second)
	err = <-result
	if f := fault.Of(err); err == nil || f.Code != fault.RunBusy || f.Details["leaseLost"] != true || len(w.tries) != 1 {
		t.Errorf("%v after %d checks", err, len(w.tries))
	}
	w.store.Reconnect()
	if w.attempts() != "" {
		t.Errorf("recorded %q", w.attempts())
	}
}
