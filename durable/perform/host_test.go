package perform_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/workflow/hoststep"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// newHosted starts a run of host steps at time 1: each is an id, its type and more members of its action.
func newHosted(t *testing.T, steps string, context ...string) *fixture {
	w := newFixture(t, `{id: test.host, name: Host, description: d, version: 1.0.0, steps: [`+steps+`]}`, context...)
	w.clock = 1000
	return w
}

// hostStep is a step of newHosted.
func hostStep(id, typeID, more string) string {
	return fmt.Sprintf("{id: %s, title: %s, action: {kind: host, typeId: %s%s}}, ", id, strings.ToUpper(id[:1])+id[1:], typeID, more)
}

// hostPerformer is the performer of a server: it has the functions of host steps.
func (w *fixture) hostPerformer() *perform.Performer {
	p := w.performer()
	p.Hosts = host.Perform
	return p
}

func (w *fixture) performHost(ctx context.Context, o perform.Options) (perform.Report, error) {
	return w.hostPerformer().Perform(ctx, w.at.Session, w.at.Run, o)
}

// hostResults lists the results of host steps on record, as JSON.
func (w *fixture) hostResults() (out []string) {
	for _, e := range w.events() {
		p, ok := e.Data.(event.NodeOutputAppended)
		if !ok || p.Payload.ArtifactKind != host.Kind {
			continue
		}
		if e.Actor.Kind != event.Engine {
			w.Errorf("%s of the actor %+v", host.Kind, e.Actor)
		}
		data, err := w.store.Object(w.Context(), manifest.Artifact, p.Payload.SHA256)
		if err != nil {
			w.Fatal(err)
		}
		if _, err := host.Decode(parse(w.T, string(data))); err != nil {
			w.Fatal(err)
		}
		out = append(out, string(data))
	}
	return out
}

// TestHostStepIsLeftToTheHost: a performer without the functions records nothing and says what performs the step, in every mode
// and with a person at a terminal.
func TestHostStepIsLeftToTheHost(t *testing.T) {
	for _, answers := range [][]string{nil, {}} {
		for _, mode := range []string{"", "full_auto_never_stop"} {
			w := newHosted(t, hostStep("a", "core.noop", ""))
			w.answers = answers
			before := len(w.events())
			o := perform.Options{Yes: true, Notes: text("done")}
			if mode != "" {
				o.Preferences = []event.PreferenceChange{{Key: "autonomy", Value: mode}}
			}
			r, err := w.perform(t.Context(), o)
			f := fault.Of(err)
			if f == nil || f.Code != fault.RunWaiting || !strings.Contains(f.Message, "performed by the host (core.noop), and by nothing else") ||
				!strings.Contains(f.Suggestion.String(), "waybill serve --store S") || fault.ExitOf(err) != fault.ExitWaiting {
				t.Fatal(err)
			}
			if len(w.events()) != before || perform.After(r, err) != (perform.Next{Waiting: true}) {
				t.Errorf("%d events more, %+v", len(w.events())-before, perform.After(r, err))
			}
		}
	}
}

// TestHostStepsOfEachType: the host performs step after step; the engine is the actor of each result.
func TestHostStepsOfEachType(t *testing.T) {
	w := newHosted(t, hostStep("a", "core.noop", "")+hostStep("b", "core.identity", "")+hostStep("c", "core.delay", ", config: {delayMs: 0}"),
		`{"greeting":{"to":["you"]},"waybill.internal":1}`)
	r, err := w.performHost(t.Context(), perform.Options{})
	if err != nil || !r.Last.IsComplete || r.Performed != 3 || w.attempts() != "advanced advanced advanced" || len(w.tries) != 0 {
		t.Fatalf("%v, %+v, %s", err, r, w.attempts())
	}
	got := w.hostResults()
	if len(got) != 3 || got[1] != `{"kind":"wr.host_result","outcome":"completed","outputs":{"greeting":{"to":["you"]}},`+
		`"stepInstanceKey":"b","typeId":"core.identity"}` {
		t.Errorf("%q", got)
	}
	if next := perform.After(r, err); next != (perform.Next{Done: true}) {
		t.Errorf("%+v", next)
	}
}

// TestHostStepNeedsNoTrust: a run of host steps is performed without trust; one with a command beside them waits for it.
func TestHostStepNeedsNoTrust(t *testing.T) {
	w := newHosted(t, hostStep("a", "core.noop", "")+`{id: c, title: C, action: {kind: command, argv: [deploy]}}`)
	w.trusted = false
	r, err := w.performHost(t.Context(), perform.Options{})
	if codeOf(err) != fault.WorkflowUntrusted || r.Performed != 1 || len(w.tries) != 0 ||
		perform.After(r, err) != (perform.Next{Waiting: true}) {
		t.Errorf("%v, %d steps", err, r.Performed)
	}
}

// TestDelayOfAHost: a delay begins when the step becomes pending. A call that does not wait says when to call again, and every
// further one names the same moment; then the run continues.
func TestDelayOfAHost(t *testing.T) {
	w := newHosted(t, hostStep("a", "core.delay", ", config: {delayMs: 5000}"))
	before := len(w.events())
	for w.clock < 4900 {
		r, err := w.performHost(t.Context(), perform.Options{NoWait: true}) // a new process each time
		if codeOf(err) != fault.RunWaiting || r.ResumeAtMs != 5001 || perform.After(r, err) != (perform.Next{AtMs: 5001}) ||
			fault.Of(err).Details["untilMs"] != int64(5001) {
			t.Fatalf("%v, %+v", err, r.ResumeAtMs)
		}
		w.clock += 1000
	}
	if len(w.events()) != before || w.busy {
		t.Fatalf("%d events more, hold %v", len(w.events())-before, w.busy)
	}
	w.clock = 5001
	r, err := w.performHost(t.Context(), perform.Options{NoWait: true})
	if err != nil || !r.Last.IsComplete || r.ResumeAtMs != 0 || len(w.hostResults()) != 1 {
		t.Errorf("%v, %+v", err, r)
	}
}

// TestDelayIsPassedInOnePause: a call that may wait pauses for what is left, and again if the clock went back meanwhile.
func TestDelayIsPassedInOnePause(t *testing.T) {
	w := newHosted(t, hostStep("a", "core.delay", ""), `{"delaySeconds":3}`)
	p := w.hostPerformer()
	var pauses []int64
	p.NowMs = func() int64 { return w.clock }
	p.Pause = func(_ context.Context, ms int64) error {
		pauses = append(pauses, ms)
		w.clock += ms
		if len(pauses) == 1 {
			w.clock -= 100
		}
		return nil
	}
	if _, err := p.Perform(t.Context(), w.at.Session, w.at.Run, perform.Options{}); err != nil || fmt.Sprint(pauses) != "[2001 100]" {
		t.Errorf("%v, pauses of %v", err, pauses)
	}
}

// TestDelayIsCancelled: the end of the run ends a delay: of a performer that waits, and of a run that nothing performs.
func TestDelayIsCancelled(t *testing.T) {
	w := newHosted(t, hostStep("a", "core.delay", ", config: {delayMs: 60000}"))
	asked := make(chan struct{})
	w.onWatch = seen(asked)
	p := w.hostPerformer()
	p.Pause = func(ctx context.Context, _ int64) error {
		if got, err := w.cancel(false); err != nil || got.Status != runs.Cancelling {
			t.Errorf("%+v, %v", got, err)
		}
		close(asked)
		<-ctx.Done()
		return ctx.Err()
	}
	r, err := p.Perform(t.Context(), w.at.Session, w.at.Run, perform.Options{})
	if codeOf(err) != fault.RunClosed || perform.After(r, err) != (perform.Next{Done: true}) || len(w.hostResults()) != 0 {
		t.Errorf("%v, %q", err, w.hostResults())
	}
	w = newHosted(t, hostStep("a", "core.delay", ", config: {delayMs: 60000}"))
	if _, err := w.performHost(t.Context(), perform.Options{NoWait: true}); codeOf(err) != fault.RunWaiting {
		t.Fatal(err)
	}
	if got, err := w.cancel(false); err != nil || got.Status != runs.Cancelled {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := w.performHost(t.Context(), perform.Options{}); codeOf(err) != fault.RunClosed {
		t.Error(err)
	}
}

// TestFailedHostStepEndsTheRun: the failure is a blocked attempt with its result, and the run is failed with the error's message,
// in every mode.
func TestFailedHostStepEndsTheRun(t *testing.T) {
	for _, mode := range []string{"guided", "full_auto_never_stop"} {
		w := newHosted(t, hostStep("a", "core.fail", ", config: {code: E1, message: Out of order.}")+hostStep("b", "core.noop", ""))
		r, err := w.performHost(t.Context(), perform.Options{Preferences: []event.PreferenceChange{{Key: "autonomy", Value: mode}}})
		f := fault.Of(err)
		if f == nil || f.Code != fault.RunClosed || f.Details["status"] != "failed" || f.Details["reason"] != "Out of order." ||
			r.Last.Status != runs.Failed || perform.After(r, err) != (perform.Next{Done: true}) {
			t.Fatalf("%v, %s", err, r.Last.Status)
		}
		if w.attempts() != "blocked" || w.ends() != "requested by human, failed by engine" || len(w.hostResults()) != 1 {
			t.Errorf("%s; %s; %q", w.attempts(), w.ends(), w.hostResults())
		}
		if !strings.Contains(w.transcript(), "blocked: INVALID_REQUIRED_OUTPUT a") {
			t.Error("the blocker does not name the step")
		}
	}
}

// TestFailedHostStepIsEndedLater: a performer that is killed between the attempt and the end of the run leaves the failure on record;
// the next one ends the run without performing the step again, also one that performs no host steps.
func TestFailedHostStepIsEndedLater(t *testing.T) {
	for _, hosts := range []bool{true, false} {
		w := newHosted(t, hostStep("a", "core.fail", ""))
		w.onFail = func() error { return errors.New("killed") }
		if _, err := w.performHost(t.Context(), perform.Options{}); err == nil || w.ends() != "" || w.attempts() != "blocked" {
			t.Fatalf("%v; %s; %s", err, w.ends(), w.attempts())
		}
		w.onFail = nil
		p := w.performer()
		if hosts {
			p = w.hostPerformer()
		}
		r, err := p.Perform(t.Context(), w.at.Session, w.at.Run, perform.Options{})
		if codeOf(err) != fault.RunClosed || r.Last.Status != runs.Failed || w.attempts() != "blocked" || len(w.hostResults()) != 1 ||
			w.ends() != "requested by human, failed by engine" {
			t.Errorf("%v; %s; %s", err, w.ends(), w.attempts())
		}
	}
}

// TestFailedHostStepOfABusyLog: the end is recorded again while another process writes.
func TestFailedHostStepOfABusyLog(t *testing.T) {
	w := newHosted(t, hostStep("a", "core.fail", ""))
	calls := 0
	w.onFail = func() error {
		if calls++; calls < 3 {
			return fault.New(fault.SessionLocked, "busy")
		}
		return nil
	}
	if _, err := w.performHost(t.Context(), perform.Options{}); codeOf(err) != fault.RunClosed || calls != 3 {
		t.Errorf("%v, %d calls", err, calls)
	}
	w = newHosted(t, hostStep("a", "core.fail", ""))
	w.onFail = func() error { return fault.New(fault.SessionLocked, "busy") }
	r, err := w.performHost(t.Context(), perform.Options{})
	if codeOf(err) != fault.SessionLocked || perform.After(r, err) != (perform.Next{Retry: true}) {
		t.Error(err)
	}
}

// TestFailIsRefusedWithoutAHold: a run is ended as failed under a live hold only.
func TestFailIsRefusedWithoutAHold(t *testing.T) {
	w := newHosted(t, hostStep("a", "core.fail", ""))
	by := engine.Caller{Actor: event.Actor{Kind: event.Agent}, AtMs: 5}
	if _, err := w.g.Fail(t.Context(), ports.Hold{}, by, w.at, "no"); !errors.Is(err, ports.ErrHold) || w.ends() != "" {
		t.Errorf("%v, %s", err, w.ends())
	}
}

// TestGateOfAHost: a host step that people approve is performed first; once it is approved the run continues with the same result.
func TestGateOfAHost(t *testing.T) {
	w := newHosted(t, `{id: gate, title: Gate, action: {kind: host, typeId: core.noop}, requireConfirmation: {kind: human_approval}}`)
	r, err := w.performHost(t.Context(), perform.Options{})
	if codeOf(err) != fault.RunWaiting || w.attempts() != "blocked" || perform.After(r, err) != (perform.Next{Waiting: true}) {
		t.Fatalf("%v; %s", err, w.attempts())
	}
	if _, err := w.performHost(t.Context(), perform.Options{}); codeOf(err) != fault.RunWaiting || w.attempts() != "blocked" {
		t.Fatalf("%v; %s", err, w.attempts())
	}
	person := engine.Caller{Actor: event.Actor{Kind: event.Human}, Account: "a", AtMs: w.clock}
	shown, err := w.g.Approvable(t.Context(), person, w.at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.g.Decide(t.Context(), person, shown, event.Approved, ""); err != nil {
		t.Fatal(err)
	}
	r, err = w.performHost(t.Context(), perform.Options{})
	if err != nil || !r.Last.IsComplete || w.attempts() != "blocked advanced" || len(w.hostResults()) != 1 {
		t.Errorf("%v; %s; %d results", err, w.attempts(), len(w.hostResults()))
	}
}

// TestGateOfAHostIsSentBack: the host does not hand in the same result again, so that the log does not grow.
func TestGateOfAHostIsSentBack(t *testing.T) {
	w := newHosted(t, `{id: gate, title: Gate, action: {kind: host, typeId: core.noop}, requireConfirmation: {kind: human_approval}}`)
	if _, err := w.performHost(t.Context(), perform.Options{}); codeOf(err) != fault.RunWaiting {
		t.Fatal(err)
	}
	person := engine.Caller{Actor: event.Actor{Kind: event.Human}, Account: "a", AtMs: w.clock}
	shown, err := w.g.Approvable(t.Context(), person, w.at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.g.Decide(t.Context(), person, shown, event.SentBack, "again"); err != nil {
		t.Fatal(err)
	}
	before := len(w.events())
	for range 3 {
		if _, err := w.performHost(t.Context(), perform.Options{}); codeOf(err) != fault.RunWaiting || !strings.Contains(fault.Of(err).Message,
			"was sent back") {
			t.Fatal(err)
		}
	}
	if len(w.events()) != before {
		t.Errorf("%d events more", len(w.events())-before)
	}
}

// TestHostStepOfOthers: every other caller is refused with a result, blocked without one, and learns what performs the step; the
// host then performs it.
func TestHostStepOfOthers(t *testing.T) {
	w := newHosted(t, hostStep("a", "core.noop", ""))
	agent := engine.Caller{Actor: event.Actor{Kind: event.Agent}, AtMs: 10}
	a, err := w.g.Rehydrate(t.Context(), w.at)
	if err != nil {
		t.Fatal(err)
	}
	if p := a.Pending; p.Host == nil || p.Host.TypeID != "core.noop" || p.Host.UntilMs != 0 || a.NextIntent != engine.RehydrateOnly ||
		!strings.Contains(p.Prompt, "performed by `waybill serve` (core.noop)") || a.Next.Params["ackToken"] != nil ||
		strings.Join(a.Next.Command, " ") != "waybill serve" {
		t.Fatalf("%+v, %+v", p, a.Next)
	}
	r, _ := host.Perform(host.Step{Step: *w.hostOf("a"), StepInstanceKey: "a"})
	v, err := r.Value()
	if err != nil {
		t.Fatal(err)
	}
	forged := advance.Request{Artifacts: []advance.Artifact{advance.JSONArtifact(v)}}
	if _, err = w.g.Advance(t.Context(), agent, w.at, a.AttemptID, forged); codeOf(err) != fault.ValidationError {
		t.Fatal(err)
	}
	if _, err = w.g.CheckpointAt(t.Context(), agent, w.at, a.CheckpointID, forged); codeOf(err) != fault.ValidationError {
		t.Fatal(err)
	}
	if _, err = w.g.Perform(t.Context(), ports.Hold{}, agent, w.at, a.AttemptID, forged); !errors.Is(err, ports.ErrHold) {
		t.Fatal(err)
	}
	blocked, err := w.g.Advance(t.Context(), agent, w.at, a.AttemptID, advance.Request{Notes: "done"})
	if err != nil || len(blocked.Blockers) != 1 || !strings.Contains(blocked.Blockers[0].Message, "has no result") ||
		!strings.Contains(blocked.Blockers[0].SuggestedFix, "waybill serve") {
		t.Fatalf("%v, %+v", err, blocked.Blockers)
	}
	if _, err := w.performHost(t.Context(), perform.Options{}); err != nil || w.attempts() != "blocked advanced" {
		t.Errorf("%v; %s", err, w.attempts())
	}
}

// TestHostStepThatIsNotPerformedYet: a step of a later version's type leaves the run as it is.
func TestHostStepThatIsNotPerformedYet(t *testing.T) {
	w := newHosted(t, hostStep("a", "core.ai.callPrompt", ""))
	before := len(w.events())
	r, err := w.performHost(t.Context(), perform.Options{})
	if codeOf(err) != fault.RunWaiting || len(w.events()) != before || perform.After(r, err) != (perform.Next{Waiting: true}) {
		t.Error(err)
	}
}

// TestHostStepInALoop: each iteration has a result of its own, and a delay of its own.
func TestHostStepInALoop(t *testing.T) {
	w := newHosted(t, `{id: l, title: Twice, type: loop, loop: {type: for, count: 2, maxIterations: 2}, body: [`+
		hostStep("d", "core.delay", ", config: {delayMs: 1000}")+"]}")
	w.clock = 1
	var moments []int64
	for range 3 {
		r, err := w.performHost(t.Context(), perform.Options{NoWait: true})
		if err == nil {
			break
		}
		moments = append(moments, r.ResumeAtMs)
		w.clock = r.ResumeAtMs
	}
	got := w.hostResults()
	if len(got) != 2 || got[0] == got[1] || len(moments) != 2 || moments[0] != 1001 || moments[1] < 2001 {
		t.Errorf("%q, moments %v", got, moments)
	}
}

// hostOf is the host step of the fixture's workflow with an id.
func (w *fixture) hostOf(id string) *hoststep.Step {
	c, err := w.g.Workflow(w.Context(), w.hash)
	if err != nil {
		w.Fatal(err)
	}
	s, _ := c.Step(id)
	return s.Host
}

// TestAfter: what follows each outcome of a call.
func TestAfter(t *testing.T) {
	waits := perform.Report{ResumeAtMs: 7}
	for _, row := range []struct {
		report perform.Report
		err    error
		want   perform.Next
	}{
		{perform.Report{}, nil, perform.Next{Done: true}},
		{waits, fault.New(fault.RunClosed, "x"), perform.Next{Done: true}},
		{waits, fault.New(fault.RunWaiting, "x"), perform.Next{AtMs: 7}},
		{perform.Report{}, fault.New(fault.RunWaiting, "x"), perform.Next{Waiting: true}},
		{perform.Report{}, fault.New(fault.RunBlocked, "x"), perform.Next{Waiting: true}},
		{perform.Report{}, fault.New(fault.StepFailed, "x"), perform.Next{Waiting: true}},
		{perform.Report{}, fault.New(fault.WorkflowUntrusted, "x"), perform.Next{Waiting: true}},
		{perform.Report{}, fault.New(fault.SessionUnhealthy, "x"), perform.Next{Waiting: true}},
		{perform.Report{}, fault.New(fault.RunNotFound, "x"), perform.Next{Waiting: true}},
		{perform.Report{}, errors.New("x"), perform.Next{Waiting: true}},
		{perform.Report{}, fault.New(fault.RunBusy, "x"), perform.Next{Retry: true}},
		{perform.Report{}, fault.New(fault.SessionLocked, "x"), perform.Next{Retry: true}},
		{perform.Report{}, fault.New(fault.StoreLocked, "x"), perform.Next{Retry: true}},
		{perform.Report{}, fault.New(fault.StoreConflict, "x"), perform.Next{Retry: true}},
		{perform.Report{}, fault.New(fault.StoreOutcomeUnknown, "x"), perform.Next{Retry: true}},
		{perform.Report{}, fault.New(fault.StoreIO, "x"), perform.Next{Retry: true}},
		{perform.Report{}, fault.New(fault.StoreFull, "x"), perform.Next{Retry: true}},
		{perform.Report{}, fault.New(fault.Interrupted, "x"), perform.Next{Retry: true}},
		{perform.Report{}, fmt.Errorf("ending the run: %w", fault.New(fault.StoreIO, "x")), perform.Next{Retry: true}},
		{perform.Report{}, perform.ErrMoved, perform.Next{Retry: true}},
		{perform.Report{}, context.Canceled, perform.Next{Retry: true}},
	} {
		if got := perform.After(row.report, row.err); got != row.want {
			t.Errorf("%v: %+v, want %+v", row.err, got, row.want)
		}
	}
}
