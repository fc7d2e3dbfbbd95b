package perform_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// cancel requests the run's end as another process would.
func (w *fixture) cancel(failed bool) (engine.Cancelled, error) {
	other := engine.New(w.store)
	return other.Cancel(context.Background(), engine.Caller{Actor: event.Actor{Kind: event.Human}, AtMs: 50}, w, w.at,
		engine.CancelRequest{Reason: "not needed", Failed: failed})
}

// ends lists what is recorded about the run's end.
func (w *fixture) ends() string {
	var out []string
	for _, e := range w.events() {
		switch p := e.Data.(type) {
		case event.RunCancelRequested:
			out = append(out, "requested by "+string(e.Actor.Kind))
		case event.RunClosed:
			out = append(out, string(p.Outcome)+" by "+string(e.Actor.Kind))
		}
	}
	return strings.Join(out, ", ")
}

// seen is a Watch that polls once after asked is closed.
func seen(asked chan struct{}) func(ctx context.Context, ms int64) error {
	return func(ctx context.Context, ms int64) error {
		select {
		case <-asked:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func TestCancelStopsRunningCommand(t *testing.T) {
	for _, failed := range []bool{false, true} {
		w := newFixture(t, steps(lookStep+buildStep))
		asked := make(chan struct{})
		w.onWatch = seen(asked)
		w.slow = func(ctx context.Context) error {
			got, err := w.cancel(failed)
			if err != nil || got.Status != runs.Cancelling || got.Already {
				t.Errorf("%+v, %v", got, err)
			}
			if again, err := w.cancel(failed); err != nil || !again.Already || again.Status != runs.Cancelling {
				t.Errorf("again: %+v, %v", again, err)
			}
			close(asked)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Minute):
				t.Error("the command was never interrupted")
				return nil
			}
		}
		_, err := w.perform(context.Background(), perform.Options{Notes: text("")})
		f := fault.Of(err)
		want, end := "cancelled", "cancelled by engine"
		if failed {
			want, end = "failed", "failed by engine"
		}
		if f == nil || f.Code != fault.RunClosed || f.Details["status"] != want ||
			f.Details["reason"] != "not needed" || !strings.Contains(f.Message, `step 2 of 2, "Build": not needed`) {
			t.Errorf("got %+v", f)
		}
		if got := w.ends(); got != "requested by human, "+end || w.attempts() != "advanced" || w.busy {
			t.Errorf("recorded %q, %q; lock held %v", got, w.attempts(), w.busy)
		}
	}
}

// TestCancelBetweenPollsRefusesAttempt: the command ends before a poll finds
// the request, and its attempt is refused.
func TestCancelBetweenPollsRefusesAttempt(t *testing.T) {
	w := newFixture(t, steps(buildStep))
	w.onTry = func(int, ports.Command) error { _, err := w.cancel(false); return err }
	if _, err := w.perform(context.Background(), perform.Options{}); codeOf(err) != fault.RunClosed {
		t.Fatal(err)
	}
	if got := w.ends(); got != "requested by human, cancelled by engine" || w.attempts() != "" {
		t.Errorf("recorded %q, %q", got, w.attempts())
	}
}

// TestCancelBeforeLockReleaseClosesRun: the canceller finds the lock held while
// the performer has no work left. The one that checks last must find the other.
func TestCancelBeforeLockReleaseClosesRun(t *testing.T) {
	w := newFixture(t, steps(buildStep))
	w.outcomes = []ports.CommandOutcome{bad}
	w.onHold = func() {
		if got, err := w.cancel(false); err != nil || got.Status != runs.Cancelling {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if _, err := w.perform(context.Background(), perform.Options{}); codeOf(err) != fault.RunClosed {
		t.Error(err)
	}
	if got := w.ends(); got != "requested by human, cancelled by engine" {
		t.Errorf("recorded %q", got)
	}
}

// TestNextPerformerClosesCancelledRun: the performer was killed; the next one
// closes the run and does nothing else.
func TestNextPerformerClosesCancelledRun(t *testing.T) {
	w := newFixture(t, steps(buildStep))
	w.busy = true
	if got, err := w.cancel(false); err != nil || got.Status != runs.Cancelling {
		t.Fatalf("%+v, %v", got, err)
	}
	w.busy = false
	for range 2 {
		if _, err := w.perform(context.Background(), perform.Options{}); codeOf(err) != fault.RunClosed {
			t.Error(err)
		}
	}
	if got := w.ends(); got != "requested by human, cancelled by engine" || len(w.tries) != 0 {
		t.Errorf("recorded %q after %d tries", got, len(w.tries))
	}
}

func TestPollingEndsWithCall(t *testing.T) {
	w := newFixture(t, steps(buildStep))
	ended := make(chan struct{})
	w.onWatch = func(ctx context.Context, ms int64) error {
		<-ctx.Done()
		close(ended)
		return ctx.Err()
	}
	if _, err := w.perform(context.Background(), perform.Options{}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	default:
		t.Error("the polling outlives the call")
	}
}
