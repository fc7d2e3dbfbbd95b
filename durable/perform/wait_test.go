package perform_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/wait"
	"github.com/waybill/waybill/ports"
)

// waitFlow waits and then runs a command.
const waitFlow = `{id: test.wait, name: Wait, description: d, version: 1.0.0, steps: [
  {id: w, title: Pause, action: {kind: wait, %}},
  {id: c, title: Command, action: {kind: command, argv: [deploy]}}]}`

// newWait starts a run of waitFlow with the members of its wait, at time 1.
func newWait(t *testing.T, members string, context ...string) *fixture {
	w := newFixture(t, strings.Replace(waitFlow, "%", members, 1), context...)
	w.clock = 1000
	return w
}

// waitsOver lists the ends of waits on record.
func (w *fixture) waitsOver() (out []wait.Over) {
	for _, e := range w.events() {
		p, ok := e.Data.(event.NodeOutputAppended)
		if !ok || p.Payload.ArtifactKind != wait.Kind {
			continue
		}
		if e.Actor.Kind != event.Engine {
			w.Errorf("%s of the actor %+v", wait.Kind, e.Actor)
		}
		data, err := w.store.Object(w.Context(), manifest.Artifact, p.Payload.SHA256)
		if err != nil {
			w.Fatal(err)
		}
		o, err := wait.Decode(parse(w.T, string(data)))
		if err != nil {
			w.Fatal(err)
		}
		out = append(out, o)
	}
	return out
}

const hourMs = 3_600_000

// TestWaitOfAnHour: nothing runs and nothing is recorded while the step waits, in every mode; then
// one call records that it is over and runs the command.
func TestWaitOfAnHour(t *testing.T) {
	for _, mode := range []string{"", "full_auto_never_stop"} {
		t.Run(mode, func(t *testing.T) {
			w := newWait(t, "for: 1h")
			before := len(w.events())
			for w.clock < hourMs-100_000 {
				_, err := w.perform(t.Context(), perform.Options{})
				f := fault.Of(err)
				if f == nil || f.Code != fault.RunWaiting || f.Details["untilMs"] != int64(hourMs+1) ||
					!strings.Contains(f.Message, "waits until 1970-01-01T01:00:00.001Z") {
					t.Fatal(err)
				}
				w.clock += 600_000
			}
			if len(w.events()) != before || len(w.tries) != 0 {
				t.Fatalf("%d events more, %d commands, while the step waited", len(w.events())-before, len(w.tries))
			}
			w.clock = hourMs + 1
			o := perform.Options{}
			if mode != "" {
				o.Preferences = []event.PreferenceChange{{Key: "autonomy", Value: mode}}
			}
			r, err := w.perform(t.Context(), o)
			if err != nil || !r.Last.IsComplete || len(w.tries) != 1 || w.attempts() != "advanced advanced" {
				t.Fatalf("%v, %d commands, %s", err, len(w.tries), w.attempts())
			}
			all := w.waitsOver()
			if len(all) != 1 || all[0].DueAtMs != hourMs+1 || all[0].OverAtMs < all[0].DueAtMs || all[0].StepInstanceKey != "w" {
				t.Fatalf("%+v", all)
			}
		})
	}
}

// TestWaitIsWatched: a person sees how much time is left, once a second, and can leave.
func TestWaitIsWatched(t *testing.T) {
	w := newWait(t, "for: 3s")
	w.answers = []string{}
	p := w.performer()
	p.NowMs = func() int64 { return w.clock }
	p.Pause = func(ctx context.Context, ms int64) error {
		w.clock += ms
		return ctx.Err()
	}
	if _, err := p.Perform(t.Context(), w.at.Session, w.at.Run, perform.Options{}); err != nil {
		t.Fatal(err)
	}
	const want = "waits 2001 ms\nwaits 1001 ms\nwaits 1 ms\nwait ended\nok"
	if got := w.transcript(); !strings.Contains(got, want) {
		t.Errorf("%s", got)
	}

	w = newWait(t, "for: 3s")
	w.answers = []string{}
	before := len(w.events())
	ctx, leave := context.WithCancel(t.Context())
	p = w.performer()
	p.Pause = func(ctx context.Context, ms int64) error {
		leave()
		return ctx.Err()
	}
	_, err := p.Perform(ctx, w.at.Session, w.at.Run, perform.Options{})
	if codeOf(err) != fault.RunWaiting || len(w.events()) != before || !strings.HasSuffix(w.transcript(), "wait ended\nrelease") {
		t.Errorf("left: %v", err)
	}
	if _, err = w.perform(t.Context(), perform.Options{NoWait: true}); codeOf(err) != fault.RunWaiting {
		t.Errorf("without waiting: %v", err)
	}
}

// TestWaitIsCancelled: the end of a run ends the wait of a person too.
func TestWaitIsCancelled(t *testing.T) {
	w := newWait(t, "for: 1h")
	w.answers = []string{}
	asked := false
	w.onWatch = func(ctx context.Context, _ int64) error {
		if !asked {
			asked = true
			_, err := w.g.Cancel(context.Background(), engine.Caller{Actor: event.Actor{Kind: event.Human}, AtMs: 2}, w, w.at,
				engine.CancelRequest{Reason: "stop"})
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}
	p := w.performer()
	p.Pause = func(ctx context.Context, _ int64) error {
		<-ctx.Done()
		return ctx.Err()
	}
	if _, err := p.Perform(t.Context(), w.at.Session, w.at.Run, perform.Options{}); codeOf(err) != fault.RunClosed {
		t.Error(err)
	}
}

// TestWaitAndTheClock: a clock that goes back makes no wait shorter and no wait that is over begin
// again; each iteration of a loop waits for itself.
func TestWaitAndTheClock(t *testing.T) {
	w := newFixture(t, `{id: test.loop, name: Loop, description: d, version: 1.0.0, steps: [
  {id: l, title: Twice, type: loop, loop: {type: for, count: 2, maxIterations: 2}, body: [
    {id: w, title: Pause, action: {kind: wait, for: 1h}},
    {id: c, title: Command, action: {kind: command, argv: [deploy]}}]}]}`)
	step := func(clock int64, tries int) {
		t.Helper()
		w.clock = clock
		_, err := w.perform(t.Context(), perform.Options{})
		if codeOf(err) != fault.RunWaiting && err != nil || len(w.tries) != tries {
			t.Fatalf("at %d: %v, %d commands", clock, err, len(w.tries))
		}
	}
	step(hourMs/2, 0)
	step(-hourMs, 0) // the clock went back
	step(hourMs+1, 1)
	step(hourMs+2, 1) // the second iteration waits
	step(5, 1)        // back again: what is over stays over
	step(2*hourMs, 1)
	step(2*hourMs+200, 2)
	if all := w.waitsOver(); len(all) != 2 || all[0].StepInstanceKey == all[1].StepInstanceKey {
		t.Errorf("%+v", all)
	}
}

// TestWaitUntilAValue: without an instant the step waits for the value, which nothing is recorded
// of; a person is asked for it.
func TestWaitUntilAValue(t *testing.T) {
	w := newWait(t, `until: "{{at}}"`)
	before := len(w.events())
	for range 3 {
		_, err := w.perform(t.Context(), perform.Options{})
		if f := fault.Of(err); codeOf(err) != fault.RunWaiting || f.Details["placeholder"] != "at" ||
			!strings.Contains(f.Message, "waits until {{at}}, which is not set") {
			t.Fatal(err)
		}
	}
	given := canon.OfMembers(canon.Member{Name: "at", Value: canon.OfString("1970-01-01T00:00:09Z")})
	if _, err := w.perform(t.Context(), perform.Options{Context: given}); codeOf(err) != fault.RunWaiting || len(w.events()) != before {
		t.Fatalf("%v, %d events more", err, len(w.events())-before)
	}
	w.clock = 9000
	if _, err := w.perform(t.Context(), perform.Options{Context: given}); err != nil {
		t.Fatal(err)
	}
	w = newWait(t, `until: "{{at}}"`)
	w.answers = []string{"soon", "1970-01-01T00:00:00Z"}
	if _, err := w.perform(t.Context(), perform.Options{}); err != nil || len(w.tries) != 1 {
		t.Error(err)
	}
}

// TestWaitOfOthers: every other caller is refused while the step waits and when it is over, without
// a record; a value that names the moment is taken.
func TestWaitOfOthers(t *testing.T) {
	agent := engine.Caller{Actor: event.Actor{Kind: event.Agent}, AtMs: 10}
	w := newWait(t, "for: 1h")
	before := len(w.events())
	for _, at := range []int64{10, hourMs, hourMs + 1, 9 * hourMs} {
		a, err := w.g.Rehydrate(t.Context(), w.at)
		if err != nil {
			t.Fatal(err)
		}
		if p := a.Pending; p.Wait == nil || p.Wait.UntilMs != hourMs+1 || a.NextIntent != engine.RehydrateOnly ||
			!strings.Contains(p.Prompt, "waits until 1970-01-01T01:00:00.001Z") || a.Next.Params["ackToken"] != nil ||
			strings.Join(a.Next.Command[:2], " ") != "waybill run" {
			t.Fatalf("%+v, %+v", p, a.Next)
		}
		agent.AtMs = at
		_, err = w.g.Advance(t.Context(), agent, w.at, a.AttemptID, advance.Request{Notes: "done"})
		if f := fault.Of(err); codeOf(err) != fault.RunWaiting || f.Details["untilMs"] != int64(hourMs+1) {
			t.Fatal(err)
		}
		forged := wait.Over{DueAtMs: hourMs + 1, OverAtMs: hourMs + 1, StepInstanceKey: "w"}
		req := advance.Request{Artifacts: []advance.Artifact{advance.JSONArtifact(forged.Value())}}
		if _, err = w.g.Advance(t.Context(), agent, w.at, a.AttemptID, req); codeOf(err) != fault.ValidationError {
			t.Fatal(err)
		}
		if _, err = w.g.CheckpointAt(t.Context(), agent, w.at, a.CheckpointID, req); codeOf(err) != fault.ValidationError {
			t.Fatal(err)
		}
	}
	if len(w.events()) != before {
		t.Fatalf("%d events more", len(w.events())-before)
	}
	w = newWait(t, `until: "{{at}}"`)
	a, err := w.g.Rehydrate(t.Context(), w.at)
	if err != nil || a.Pending.Wait.Unset != "at" || a.NextIntent != engine.PerformThenContinue {
		t.Fatalf("%v, %+v", err, a.Pending)
	}
	given := canon.OfMembers(canon.Member{Name: "at", Value: canon.OfString("1970-01-01T00:00:09Z")})
	a, err = w.g.Advance(t.Context(), agent, w.at, a.AttemptID, advance.Request{Context: given})
	if err != nil || len(a.Blockers) != 1 || a.Pending.Wait.UntilMs != 9000 {
		t.Fatalf("%v, %+v", err, a)
	}
	if _, err = w.g.Advance(t.Context(), agent, w.at, a.AttemptID, advance.Request{Notes: "x"}); codeOf(err) != fault.RunWaiting {
		t.Fatal(err)
	}
	w.clock = 9000
	if _, err := w.perform(t.Context(), perform.Options{}); err != nil {
		t.Fatal(err)
	}
}

// TestExpectedAttempt: a caller that made its list before another process continued the run performs
// nothing, also if that process stopped at the same step.
func TestExpectedAttempt(t *testing.T) {
	w := newWait(t, "until: '1970-01-01T00:00:00Z'")
	w.outcomes = []ports.CommandOutcome{{ExitStatus: 4}}
	seen, err := w.g.Rehydrate(t.Context(), w.at)
	if err != nil {
		t.Fatal(err)
	}
	late := perform.Options{Expect: seen.AttemptID}
	if _, err := w.perform(t.Context(), late); codeOf(err) != fault.StepFailed || len(w.tries) != 1 {
		t.Fatalf("%v, %d commands", err, len(w.tries))
	}
	before := len(w.events())
	if _, err := w.perform(t.Context(), late); !errors.Is(err, perform.ErrMoved) || len(w.tries) != 1 || len(w.events()) != before {
		t.Errorf("%v, %d commands", err, len(w.tries))
	}
}
