package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/pausing"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

func (w *fixture) pause(at engine.Position, req pausing.Request) (pausing.State, error) {
	return w.g.Pauses.Pause(context.Background(), w.by(), at, req)
}

func (w *fixture) resumeRun(at engine.Position, req pausing.Request) (pausing.State, error) {
	return w.g.Pauses.Resume(context.Background(), w.by(), at, req)
}

// mustHold pauses or resumes a run, and requires a status and whether anything was recorded.
func (w *fixture) mustHold(out pausing.State, err error) func(status runs.Status, already bool) {
	w.Helper()
	return func(status runs.Status, already bool) {
		w.Helper()
		if err != nil || out.Status != status || out.Already != already {
			w.Fatalf("%+v, %v", out, err)
		}
	}
}

// held lists what is on record about pauses, and the attempts between them.
func (w *fixture) held(at engine.Position) string {
	w.Helper()
	all, _, err := w.process().Events(context.Background(), at.Run.String())
	if err != nil {
		w.Fatal(err)
	}
	var out []string
	for _, e := range all {
		switch p := e.Data.(type) {
		case event.RunPaused:
			out = append(out, fmt.Sprintf("paused %d %v %s", p.N, p.Drain, p.Reason))
		case event.RunResumed:
			out = append(out, strings.TrimSpace(fmt.Sprintf("resumed %d %s", p.N, p.Reason)))
		case event.AdvanceRecorded:
			out = append(out, string(p.Outcome.Kind))
		}
	}
	return strings.Join(out, "; ")
}

// TestPausedRunAcceptsNothing: tokens that were issued before are refused until the run is resumed, and count then.
func TestPausedRunAcceptsNothing(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	w.mustHold(w.pause(a.Position(), pausing.Request{Reason: "maintenance"}))(runs.Paused, false)
	w.mustHold(w.pause(a.Position(), pausing.Request{Reason: "again"}))(runs.Paused, true)
	w.mustHold(w.pause(a.Position(), pausing.Request{Drain: true}))(runs.Paused, true)

	refused := func(err error) {
		t.Helper()
		f := fault.Of(err)
		if f == nil || f.Code != fault.RunPaused || fault.ExitOf(err) != 3 || !strings.Contains(f.Message, `"maintenance"`) ||
			!strings.Contains(f.Suggestion.String(), "waybill runs resume "+a.Session.RunID.String()) {
			t.Errorf("%v", err)
		}
	}
	_, err := w.next(a, advance.Request{Notes: "done"})
	refused(err)
	_, err = w.keep(a, advance.Request{Notes: "half"})
	refused(err)
	look := w.look(a.StateToken)
	if look.Status != runs.Paused || look.AckToken != "" || look.CheckpointToken != "" || look.NextIntent != engine.RehydrateOnly ||
		look.Paused == nil || look.Paused.Reason != "maintenance" || look.Paused.SinceMs == 0 || look.Pending == nil ||
		!slices.Equal(look.Next.Command, []string{"waybill", "runs", "resume", a.Session.RunID.String()}) {
		t.Errorf("%+v", look)
	}
	w.mustHold(w.resumeRun(a.Position(), pausing.Request{Reason: "it is over"}))(runs.InProgress, false)
	w.mustHold(w.resumeRun(a.Position(), pausing.Request{}))(runs.InProgress, true)
	if look = w.look(a.StateToken); look.AckToken != a.AckToken || look.Paused != nil || look.Status != runs.InProgress {
		t.Errorf("%+v", look)
	}
	a = w.must(a, advance.Request{Notes: "done"})
	w.mustHold(w.pause(a.Position(), pausing.Request{}))(runs.Paused, false)
	const want = "paused 1 false maintenance; resumed 1 it is over; advanced; paused 2 false No reason was given."
	if got := w.held(a.Position()); got != want {
		t.Errorf("recorded %q", got)
	}
	w.replays(a.Position())
}

// TestPauseKeepsTheAttemptInProgress: what the performer was doing when the run was paused is recorded, and no second attempt.
func TestPauseKeepsTheAttemptInProgress(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(strings.Replace(commandFlow, `"id":"after"`, `"id":"then","title":"Then","notesOptional":true,"prompt":"p"},{"id":"after"`, 1))
	perform := func(a engine.Answer, req advance.Request) (out engine.Answer, err error) {
		err = w.hold(a.Session.SessionID, func(h ports.Hold) (err error) {
			out, err = w.g.Perform(context.Background(), h, w.by(), a.Position(), a.AttemptID, req)
			return err
		})
		return out, err
	}
	w.mustHold(w.pause(a.Position(), pausing.Request{Reason: "r"}))(runs.Paused, false)
	b, err := perform(a, madeUp(t))
	if err != nil || b.Pending.StepID != "then" || b.Status != runs.Paused || b.AckToken != "" {
		t.Fatalf("%+v, %v", b, err)
	}
	again, err := perform(a, madeUp(t)) // the same attempt, answered from the log
	if err != nil || again.NodeID != b.NodeID {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := perform(b, advance.Request{}); !fault.Is(err, fault.RunPaused) {
		t.Errorf("a second attempt: %v", err)
	}
	if got := w.held(a.Position()); got != "paused 1 false r; advanced" {
		t.Errorf("recorded %q", got)
	}
	w.replays(a.Position())
	w.mustHold(w.resumeRun(a.Position(), pausing.Request{}))(runs.InProgress, false)
	if _, err := perform(b, advance.Request{}); err != nil {
		t.Error(err)
	}
	w.replays(a.Position())
}

// TestDrainedPause: a pause that drains is in force behind the next attempt, by any caller, refused or not; it can be withdrawn, and
// replaced by one that is in force at once.
func TestDrainedPause(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	drain := pausing.Request{Reason: "d", Drain: true}
	w.mustHold(w.pause(a.Position(), drain))(runs.InProgress, false)
	w.mustHold(w.pause(a.Position(), drain))(runs.InProgress, true)
	if look := w.look(a.StateToken); look.Paused == nil || !look.Paused.Drain || look.AckToken == "" {
		t.Errorf("%+v", look)
	}
	w.mustHold(w.resumeRun(a.Position(), pausing.Request{}))(runs.InProgress, false)
	w.mustHold(w.pause(a.Position(), drain))(runs.InProgress, false)
	w.mustHold(w.pause(a.Position(), pausing.Request{Reason: "now"}))(runs.Paused, false)
	w.mustHold(w.resumeRun(a.Position(), pausing.Request{}))(runs.InProgress, false)
	w.mustHold(w.pause(a.Position(), drain))(runs.InProgress, false)
	b := w.must(a, advance.Request{Notes: "done"})
	if b.Status != runs.Paused || b.Paused.Drain || b.AckToken != "" {
		t.Errorf("%+v", b)
	}
	if _, err := w.g.Advance(context.Background(), w.by(), b.Position(), b.AttemptID, advance.Request{Notes: "x"}); !fault.Is(err, fault.RunPaused) {
		t.Error(err)
	}
	if got := w.held(a.Position()); got != "paused 1 true d; resumed 1; paused 2 true d; paused 3 false now; resumed 3; paused 4 true d; advanced" {
		t.Errorf("recorded %q", got)
	}
	w.replays(a.Position())
}

// TestPausesOfEndedRuns: a run that ended, is complete or was handed over is neither paused nor resumed, and a paused run is cancelled
// and forked as any other; its fork is not paused.
func TestPausesOfEndedRuns(t *testing.T) {
	t.Parallel()
	both := func(w *fixture, at engine.Position, code fault.Code) {
		w.Helper()
		before := w.held(at)
		if _, err := w.pause(at, pausing.Request{}); !fault.Is(err, code) {
			w.Errorf("pause: %v", err)
		}
		if _, err := w.resumeRun(at, pausing.Request{}); !fault.Is(err, code) {
			w.Errorf("resume: %v", err)
		}
		if after := w.held(at); after != before {
			w.Errorf("recorded %q", after)
		}
	}
	w := newFixture(t)
	a := w.start(twoSteps)
	for range 2 {
		a = w.must(a, advance.Request{Notes: "done"})
	}
	both(w, a.Position(), fault.ValidationError)
	a = w.start(twoSteps)
	w.mustHold(w.pause(a.Position(), pausing.Request{}))(runs.Paused, false)
	if b := w.mustFork(a.Position(), ""); b.Status != runs.InProgress || b.Paused != nil || b.AckToken == "" {
		t.Errorf("%+v", b)
	}
	if out, err := w.cancel(&performerStub{held: true}, a.Position(), engine.CancelRequest{}); err != nil || out.Status != runs.Cancelling {
		t.Errorf("%+v, %v", out, err)
	}
	both(w, a.Position(), fault.RunClosed)
	closed := func() {
		t.Helper()
		if _, err := w.next(a, advance.Request{Notes: "x"}); !fault.Is(err, fault.RunClosed) {
			t.Errorf("an attempt: %v", err)
		}
		err := w.hold(a.Session.SessionID, func(h ports.Hold) error {
			_, err := w.g.Perform(context.Background(), h, w.by(), a.Position(), a.AttemptID, advance.Request{Notes: "x"})
			return err
		})
		if !fault.Is(err, fault.RunClosed) {
			t.Errorf("a performed one: %v", err)
		}
	}
	closed()
	if out, err := w.cancel(&performerStub{}, a.Position(), engine.CancelRequest{}); err != nil || out.Status != runs.Cancelled {
		t.Errorf("%+v, %v", out, err)
	}
	both(w, a.Position(), fault.RunClosed)
	closed()
	if look := w.look(a.StateToken); look.Status != runs.Cancelled || look.Paused != nil || look.Next != nil {
		t.Errorf("%+v", look)
	}
	w.replays(a.Position())
	a = w.start(twoSteps)
	if _, err := w.g.HandOver(context.Background(), w.by(), a.Session.RunID.String(), ""); err != nil {
		t.Fatal(err)
	}
	both(w, a.Position(), fault.SessionHandedOver)
	for _, bad := range []string{strings.Repeat("x", 513), "\xff"} {
		if _, err := w.pause(w.start(twoSteps).Position(), pausing.Request{Reason: bad}); !fault.Is(err, fault.ValidationError) {
			t.Errorf("%v", err)
		}
	}
}

// TestPauseIsNoActivity: a run that was only paused and resumed was not continued.
func TestPauseIsNoActivity(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	activity := func() int64 {
		fold, _, err := w.process().ReadWindowed(context.Background(), a.Session.SessionID)
		if err != nil {
			t.Fatal(err)
		}
		return fold.Runs[a.Session.RunID].LastIndex
	}
	before := activity()
	w.mustHold(w.pause(a.Position(), pausing.Request{}))(runs.Paused, false)
	w.mustHold(w.resumeRun(a.Position(), pausing.Request{}))(runs.InProgress, false)
	if after := activity(); after != before {
		t.Errorf("%d became %d", before, after)
	}
	w.must(a, advance.Request{Notes: "done"})
	if after := activity(); after == before {
		t.Error("an attempt is no activity")
	}
}
