package perform_test

import (
	"context"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/pausing"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/ports"
)

// pause pauses the run as another process would, and resume ends that.
func (w *fixture) pause(drain bool) {
	w.Helper()
	w.hold(pausing.Pauses.Pause, pausing.Request{Reason: "not now", Drain: drain})
}

func (w *fixture) resume() { w.hold(pausing.Pauses.Resume, pausing.Request{}) }

func (w *fixture) hold(call func(pausing.Pauses, context.Context, engine.Caller, engine.Position, pausing.Request) (pausing.State, error),
	req pausing.Request) {
	w.Helper()
	other := pausing.New(engine.New(w.store), w.store)
	if out, err := call(other, w.Context(), engine.Caller{Actor: event.Actor{Kind: event.Human}, AtMs: 50}, w.at, req); err != nil || out.Already {
		w.Errorf("%+v, %v", out, err)
	}
}

// isPaused requires RUN_PAUSED at a step.
func (w *fixture) isPaused(err error, step string) {
	w.Helper()
	f := fault.Of(err)
	if f == nil || f.Code != fault.RunPaused || !strings.Contains(f.Message, `"not now"`) || f.Details["stepId"] != step ||
		!strings.Contains(f.Suggestion.String(), "runs resume "+w.at.Run.String()+" --store S") {
		w.Errorf("%v: %+v", err, f)
	}
}

const threeBuilds = "  - {id: a, title: A, action: {kind: command, argv: [a]}}\n  - {id: b, title: B, action: {kind: command, argv: [b]}}\n" +
	"  - {id: c, title: C, action: {kind: command, argv: [c]}}\n"

// TestPauseLetsTheCommandEnd: a command that runs when the run is paused is not stopped, its result is recorded and no other one
// begins, for both kinds of pauses; a later call performs nothing before the run is resumed, and repeats nothing.
func TestPauseLetsTheCommandEnd(t *testing.T) {
	for _, drain := range []bool{false, true} {
		w := newFixture(t, steps(threeBuilds))
		w.slow = func(ctx context.Context) error {
			if len(w.tries) == 2 {
				w.pause(drain)
			}
			return ctx.Err()
		}
		_, err := w.perform(w.Context(), perform.Options{})
		w.isPaused(err, "c")
		if len(w.tries) != 2 || w.attempts() != "advanced advanced" || w.busy {
			t.Fatalf("drain %v: %d commands, recorded %q; lock held %v", drain, len(w.tries), w.attempts(), w.busy)
		}
		before := len(w.events())
		w.transcript()
		_, err = w.perform(w.Context(), perform.Options{})
		w.isPaused(err, "c")
		if next := perform.After(perform.Report{}, err); next != (perform.Next{Waiting: true}) {
			t.Errorf("after it: %+v", next)
		}
		if len(w.events()) != before || len(w.tries) != 2 || strings.Contains(w.transcript(), "hold") {
			t.Errorf("a paused run is performed: %d commands", len(w.tries))
		}
		w.resume()
		if _, err := w.perform(w.Context(), perform.Options{}); err != nil || len(w.tries) != 3 {
			t.Errorf("%v; %d commands", err, len(w.tries))
		}
	}
}

// TestPauseBetweenSteps: a run that is paused after the answer to an attempt takes no further step, though that answer did not say so.
func TestPauseBetweenSteps(t *testing.T) {
	w := newFixture(t, steps(threeBuilds))
	w.onEnded = func() { w.onEnded = nil; w.pause(false) }
	_, err := w.perform(w.Context(), perform.Options{})
	w.isPaused(err, "b")
	if len(w.tries) != 1 || w.attempts() != "advanced" {
		t.Errorf("%d commands, recorded %q", len(w.tries), w.attempts())
	}
}

// TestPauseKeepsAFailure: the failure of the command that was running is recorded, its tries are not cut short.
func TestPauseKeepsAFailure(t *testing.T) {
	w := newFixture(t, steps(retryStep))
	w.outcomes = []ports.CommandOutcome{bad, bad, bad}
	w.onTry = func(n int, _ ports.Command) error {
		if len(w.tries) == 1 {
			w.pause(false)
		}
		return nil
	}
	_, err := w.perform(w.Context(), perform.Options{})
	if !fault.Is(err, fault.StepFailed) || len(w.tries) != 3 || w.attempts() != "blocked" {
		t.Errorf("%v: %d tries, recorded %q", err, len(w.tries), w.attempts())
	}
	_, err = w.perform(w.Context(), perform.Options{})
	w.isPaused(err, "build")
}

// TestPauseKeepsWhatAPersonTyped: notes that were being written are recorded; refused ones are kept too, and not asked for again.
func TestPauseKeepsWhatAPersonTyped(t *testing.T) {
	for answer, want := range map[string]string{"I looked": "advanced", "": "blocked"} {
		w := newFixture(t, steps(strings.Replace(lookStep, "{id: look", "{validationCriteria: [{type: contains, value: looked, message: m}], id: look", 1)+buildStep))
		w.answers = []string{answer + "x", "I looked again"}
		w.onSend = func(n int) error { w.onSend = nil; w.pause(false); return nil }
		_, err := w.perform(w.Context(), perform.Options{})
		if step := map[string]string{"advanced": "build", "blocked": "look"}[want]; w.attempts() != want || len(w.tries) != 0 {
			t.Errorf("%q: recorded %q, %v", answer, w.attempts(), err)
		} else {
			w.isPaused(err, step)
		}
	}
}

// TestPauseEndsAWait: a person who watches the clock of a step learns that the run is paused.
func TestPauseEndsAWait(t *testing.T) {
	w := newWait(t, "for: 1h")
	w.answers = []string{}
	polled, asked := make(chan struct{}), make(chan struct{})
	first := true
	w.onWatch = func(ctx context.Context, _ int64) error {
		if first {
			first = false
			<-asked
			return nil
		}
		close(polled) // what was new is read
		<-ctx.Done()
		return ctx.Err()
	}
	p := w.performer()
	ticks := 0
	p.Pause = func(context.Context, int64) error {
		if ticks++; ticks == 1 {
			w.pause(false)
			close(asked)
			<-polled
		}
		if ticks > 3 {
			t.Fatal("the wait continues")
		}
		return nil
	}
	_, err := p.Perform(w.Context(), w.at.Session, w.at.Run, perform.Options{})
	w.isPaused(err, "w")
	if w.attempts() != "" {
		t.Errorf("recorded %q", w.attempts())
	}
}
