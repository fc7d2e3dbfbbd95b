package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/projections/runs"
)

// startLimited starts a run with options.
func (w *fixture) startLimited(source, configurable string, seed byte) engine.Answer {
	w.Helper()
	v, err := canon.Parse([]byte(configurable))
	if err != nil {
		w.Fatal(err)
	}
	a, err := w.g.Start(context.Background(), w.by(), id.Seed{seed, 9}, engine.Start{Workflow: w.compiled(source),
		SourceKind: event.SourceUser, SourceRef: "x", Options: &event.RunOptions{Configurable: v}})
	if err != nil {
		w.Fatal(err)
	}
	return a
}

// TestLimitOfSteps: the attempt that would take up one step too many is accepted, and ends the run; a run that needs no more steps than
// its limit is complete, and steps of every branch count.
func TestLimitOfSteps(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	done := advance.Request{Notes: "done"}
	closed := func(a engine.Answer) (out []event.RunClosed) {
		t.Helper()
		all, _, err := w.process().Events(context.Background(), a.Session.RunID.String())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			if p, ok := e.Data.(event.RunClosed); ok {
				out = append(out, p)
			}
		}
		return out
	}
	const steps = `{"id":"test.three","name":"Three","description":"d","version":"1.0.0","steps":[
		{"id":"a","title":"A","prompt":"p"},{"id":"b","title":"B","prompt":"p"},{"id":"c","title":"C","prompt":"p"}]}`
	a := w.startLimited(steps, `{"recursionLimit":2,"model":"m"}`, 1)
	b := w.must(a, done)
	c, err := w.next(b, done)
	if err != nil || c.Status != runs.Failed || c.AckToken != "" || c.Pending == nil || c.Pending.StepID != "c" {
		t.Fatalf("%+v, %v", c, err)
	}
	want := event.RunClosed{Outcome: event.OutcomeFailed, Reason: advance.LimitText(2),
		Limit: &event.LimitReached{Kind: event.StepsLimit, Limit: 2, Observed: 3}}
	if ends := closed(a); len(ends) != 1 || ends[0].Reason != want.Reason || *ends[0].Limit != *want.Limit {
		t.Errorf("%+v", ends)
	}
	again, err := w.next(b, done) // answered from the log
	if err != nil || again.NodeID != c.NodeID {
		t.Errorf("%+v, %v", again, err)
	}
	_, err = w.g.Advance(context.Background(), w.by(), c.Position(), c.AttemptID, done)
	if !fault.Is(err, fault.RunClosed) || !strings.Contains(err.Error(), "limit of steps, 2") {
		t.Error(err)
	}
	w.replays(a.Position())

	for _, none := range []string{`{"recursionLimit":3}`, `{"recursionLimit":0}`, `{"recursionLimit":"2"}`, `{"recursionLimit":1.5}`, `{}`} {
		a := w.startLimited(steps, none, byte(len(none)))
		for range 3 {
			a = w.must(a, done)
		}
		if !a.IsComplete || len(closed(a)) != 0 {
			t.Errorf("%s: %+v", none, a)
		}
		w.replays(a.Position())
	}
	// Going back counts: a, b, and b again.
	a = w.startLimited(steps, `{"recursionLimit":3}`, 77)
	w.must(a, done)
	if _, err = w.next(a, done); err != nil { // the attempt is on record; another one at the same node makes a branch
		t.Fatal(err)
	}
	back, err := w.g.Rehydrate(context.Background(), a.Position())
	if err != nil {
		t.Fatal(err)
	}
	b = w.must(back, done)
	if c, err = w.next(b, done); err != nil || c.Status != runs.Failed {
		t.Errorf("%+v, %v", c, err)
	}
	if ends := closed(a); len(ends) != 1 || ends[0].Limit.Observed != 4 {
		t.Errorf("%+v", ends)
	}
	w.replays(a.Position())
}
