package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// performerStub is a port of performers: a run has one, has none, or has one at the first look only.
type performerStub struct{ held, leaves bool }

// Hold implements ports.Performers.
func (d *performerStub) Hold(context.Context, id.Session) (ports.Lease, error) {
	if d.held {
		d.held = !d.leaves
		return ports.Lease{}, fault.New(fault.RunBusy, "held")
	}
	return ports.Lease{Release: func() error { return nil }}, nil
}

func (w *fixture) cancel(d *performerStub, at engine.Position, req engine.CancelRequest) (engine.Cancelled, error) {
	return w.g.Cancel(context.Background(), w.by(), d, at, req)
}

// ends lists what is on record about a run's end, segment by segment.
func (w *fixture) ends(at engine.Position) string {
	w.Helper()
	all, _, err := w.process().Events(context.Background(), at.Run.String())
	if err != nil {
		w.Fatal(err)
	}
	var out []string
	for _, e := range all {
		switch p := e.Data.(type) {
		case event.RunCancelRequested:
			out = append(out, "requested by "+string(e.Actor.Kind)+": "+p.Reason)
		case event.RunClosed:
			out = append(out, string(p.Outcome)+" by "+string(e.Actor.Kind)+": "+p.Reason)
		}
	}
	return strings.Join(out, "; ")
}

// TestCancel: each row is a history of calls on one run, and what is on record then.
func TestCancel(t *testing.T) {
	t.Parallel()
	failed, plain := engine.CancelRequest{Reason: "broken", Failed: true}, engine.CancelRequest{Reason: "no need"}
	for _, row := range []struct {
		name   string
		calls  []engine.CancelRequest
		desk   performerStub
		status runs.Status
		last   fault.Code
		ends   string
	}{
		{"without a performer", []engine.CancelRequest{plain}, performerStub{}, "cancelled", "",
			"requested by agent: no need; cancelled by engine: no need"},
		{"as failed", []engine.CancelRequest{failed}, performerStub{}, "failed", "",
			"requested by agent: broken; failed by engine: broken"},
		{"without a reason", []engine.CancelRequest{{}}, performerStub{}, "cancelled", "",
			"requested by agent: No reason was given.; cancelled by engine: No reason was given."},
		{"a performer is at work", []engine.CancelRequest{plain}, performerStub{held: true}, "cancelling", "",
			"requested by agent: no need"},
		{"a performer leaves meanwhile", []engine.CancelRequest{failed}, performerStub{held: true, leaves: true},
			"failed", "",
			"requested by agent: broken; failed by engine: broken"},
		{"twice is once", []engine.CancelRequest{plain, {Reason: "another"}}, performerStub{}, "cancelled", "",
			"requested by agent: no need; cancelled by engine: no need"},
		{"twice while a performer is at work", []engine.CancelRequest{plain, plain}, performerStub{held: true},
			"cancelling", "",
			"requested by agent: no need"},
		{"it cannot end in two ways", []engine.CancelRequest{plain, failed}, performerStub{}, "cancelled",
			fault.RunClosed,
			"requested by agent: no need; cancelled by engine: no need"},
		{"nor be asked to", []engine.CancelRequest{failed, plain}, performerStub{held: true}, "cancelling",
			fault.RunClosed,
			"requested by agent: broken"},
		{"a reason that is too long", []engine.CancelRequest{{Reason: strings.Repeat("x", 513)}}, performerStub{},
			"in_progress",
			fault.ValidationError, ""},
		{"a reason that is no text", []engine.CancelRequest{{Reason: "\xff"}}, performerStub{}, "in_progress",
			fault.ValidationError, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newFixture(t)
			at := w.start(twoSteps).Position()
			for i, c := range row.calls {
				got, err := w.cancel(&row.desk, at, c)
				last := i == len(row.calls)-1
				if want := map[bool]fault.Code{true: row.last}[last]; fault.CodeOf(err) != want {
					t.Fatalf("call %d: %v", i, err)
				}
				if err == nil && (got.Already != (i > 0) || last && got.Status != row.status || got.RunID != at.Run ||
					got.SessionID != at.Session) {
					t.Errorf("call %d: %+v", i, got)
				}
			}
			if got := w.ends(at); got != row.ends {
				t.Errorf("recorded %q, want %q", got, row.ends)
			}
			if run, err := w.process().Run(context.Background(), at.Run.String()); err != nil ||
				run.Status != row.status {
				t.Errorf("the run is %s, %v", run.Status, err)
			}
			w.replays(at)
		})
	}
}

// TestACancelledRunAcceptsNothing: tokens that were issued before are refused after.
func TestACancelledRunAcceptsNothing(t *testing.T) {
	t.Parallel()
	for _, held := range []bool{true, false} {
		w := newFixture(t)
		a := w.start(twoSteps)
		if _, err := w.cancel(&performerStub{held: held}, a.Position(), engine.CancelRequest{Reason: "r"}); err != nil {
			t.Fatal(err)
		}
		before := w.events(a)
		if _, err := w.next(a, note("done")); fault.CodeOf(err) != fault.RunClosed || fault.ExitOf(err) != 1 {
			t.Errorf("an attempt: %v", err)
		}
		if got := w.events(a); got != before {
			t.Errorf("%d events became %d", before, got)
		}
	}
}

func TestACompleteRunIsNotCancelled(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	a = w.must(w.must(a, note("done")), note("done"))
	_, err := w.cancel(&performerStub{}, a.Position(), engine.CancelRequest{Reason: "r"})
	if fault.CodeOf(err) != fault.ValidationError || !strings.Contains(err.Error(), "is complete") ||
		w.ends(a.Position()) != "" {
		t.Errorf("%v; recorded %q", err, w.ends(a.Position()))
	}
	at := a.Position()
	at.Run = id.NewRun(id.Seed{99})
	if _, err := w.cancel(&performerStub{}, at, engine.CancelRequest{}); fault.CodeOf(err) != fault.RunNotFound {
		t.Errorf("an unknown run: %v", err)
	}
}

// TestCloseIsThePerformersPart: only after a request to cancel, and once.
func TestCloseIsThePerformersPart(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	at := w.start(twoSteps).Position()
	if _, err := w.g.Close(context.Background(), w.by(), at); fault.CodeOf(err) != fault.Invariant {
		t.Errorf("without a request to cancel: %v", err)
	}
	if _, err := w.cancel(&performerStub{held: true}, at, engine.CancelRequest{Reason: "r", Failed: true}); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		got, err := w.process().Close(context.Background(), w.by(), at)
		if err != nil || got.Status != runs.Failed || got.Already != (i == 1) || got.Reason != "r" {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if got := w.ends(at); got != "requested by agent: r; failed by engine: r" {
		t.Errorf("recorded %q", got)
	}
	w.replays(at)
}

// replays re-drives a run's session: the result must be the same.
func (w *fixture) replays(at engine.Position) verify.ReplayReport {
	w.Helper()
	got, err := w.process().Replay(context.Background(), at)
	if err != nil || !got.OK || got.Segments+int64(len(got.Undecided)) == 0 {
		w.Errorf("replay: %v, %+v, %+v", err, got, got.Difference)
	}
	return got
}
