package perform_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/perform"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// outputs decodes the recorded command results.
func (w *fixture) outputs() []command.Result {
	w.Helper()
	var out []command.Result
	for _, e := range w.events() {
		o, ok := e.Data.(event.NodeOutputAppended)
		if !ok || o.Payload.ArtifactKind != command.Kind {
			continue
		}
		data, err := w.store.Object(context.Background(), manifest.Artifact, o.Payload.SHA256)
		if err != nil {
			w.Fatal(err)
		}
		v, err := canon.Parse(data)
		if err != nil {
			w.Fatal(err)
		}
		r, err := command.Decode(v)
		if err != nil {
			w.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func TestResultDescribesLastTry(t *testing.T) {
	w := newFixture(t, steps(retryStep))
	second := ports.CommandOutcome{DurationMs: 20, OutputBytes: 3, OutputHead: "yes", OutputTail: "tail",
		Stdout: command.Stream{Bytes: 2, Head: "ye"}, Stderr: command.Stream{Bytes: 9, Head: "s", Tail: "tail"}}
	w.outcomes = []ports.CommandOutcome{bad, second}
	if _, err := w.perform(context.Background(), perform.Options{}); err != nil {
		t.Fatal(err)
	}
	want := command.Result{Kind: command.Kind, DurationMs: 27, Tries: 2, OutputBytes: 3,
		Stdout: &second.Stdout, Stderr: &second.Stderr,
		OutputDigest: canon.Sum([]byte("yes")), ArgvDigest: w.outputs()[0].ArgvDigest}
	if got := w.outputs(); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("recorded %+v", got)
	}
}

func TestCommandThatCannotStartFails(t *testing.T) {
	w := newFixture(t, steps(buildStep))
	w.outcomes = []ports.CommandOutcome{{ExitStatus: -1, Failure: `the program "make" was not found`,
		Fix: fault.Suggest("Install it: %d%% sure.", 100)}}
	_, err := w.perform(context.Background(), perform.Options{})
	f := fault.Of(err)
	if f == nil || f.Code != fault.StepFailed ||
		f.Suggestion.String() != "Install it: 100% sure. Then continue with 'waybill run --run R'." {
		t.Fatalf("got %+v", f)
	}
	if !strings.Contains(f.Message, `the program "make" was not found`) {
		t.Error(f.Message)
	}
	if r := w.outputs(); len(r) != 1 || r[0].OK() || r[0].ExitStatus != -1 {
		t.Errorf("recorded %+v", r)
	}
}

func TestFaultDetailsEncodeAsJSON(t *testing.T) {
	w := newFixture(t, steps(buildStep))
	long := strings.Repeat("a line of output\n", 1000)
	w.outcomes = []ports.CommandOutcome{{ExitStatus: 1, OutputHead: long, OutputTail: long}}
	_, err := w.perform(context.Background(), perform.Options{})
	f := fault.Of(err)
	v, encErr := canon.ValueOf(f.Details)
	if encErr != nil {
		t.Fatal(encErr)
	}
	for _, name := range []string{"runId", "sessionId", "stepId", "nodeId", "exitStatus", "tries", "outputTail",
		"blockers"} {
		if _, ok := v.Get(name); !ok {
			t.Errorf("details have no %s: %s", name, v.JCS())
		}
	}
	tail, _ := v.Get("outputTail")
	if n := len(tail.Text()); n > 2<<10 || n < 1<<10 || !strings.HasPrefix(tail.Text(), "a line") {
		t.Errorf("the output in the error has %d bytes and begins with %.20q", n, tail.Text())
	}
}

func TestCommandEnvironmentHasAttemptIDs(t *testing.T) {
	w := newFixture(t, steps("  - {id: build, title: Build, action: {kind: command, argv: [make], cwd: sub, "+
		"timeoutSeconds: 3, env: {A: \"1\"}}}\n"))
	a, err := w.g.Rehydrate(context.Background(), w.at)
	if err != nil {
		t.Fatal(err)
	}
	crash := context.DeadlineExceeded
	w.onTry = func(n int, _ ports.Command) error {
		if n == 1 {
			return crash
		}
		return nil
	}
	if _, err := w.perform(context.Background(), perform.Options{}); err != crash || w.attempts() != "" {
		t.Fatalf("got %v, recorded %q", err, w.attempts())
	}
	if _, err := w.perform(context.Background(), perform.Options{}); err != nil {
		t.Fatal(err)
	}
	for i, c := range w.tries {
		want := map[string]string{"A": "1", "WAYBILL_RUN_ID": w.at.Run.String(),
			"WAYBILL_SESSION_ID": w.at.Session.String(),
			"WAYBILL_STEP_ID":    "build", "WAYBILL_ATTEMPT_ID": a.AttemptID.String()}
		if len(c.Env) != len(want) || c.Cwd != "sub" || c.TimeoutMs != 3000 {
			t.Errorf("try %d: %+v", i, c)
		}
		for k, v := range want {
			if c.Env[k] != v {
				t.Errorf("try %d: %s is %q, want %q", i, k, c.Env[k], v)
			}
		}
	}
}

func TestInterruptionRecordsNothing(t *testing.T) {
	w := newFixture(t, steps(lookStep+buildStep))
	ctx, cancel := context.WithCancel(context.Background())
	w.onTry = func(int, ports.Command) error { cancel(); return ctx.Err() }
	_, err := w.perform(ctx, perform.Options{Notes: text("")})
	f := fault.Of(err)
	if f == nil || f.Code != fault.Interrupted || !strings.Contains(f.Message, `step 2 of 2, "Build"`) ||
		!strings.Contains(f.Suggestion.String(), "waybill run --run R") {
		t.Fatalf("got %+v", f)
	}
	if got := w.attempts(); got != "advanced" || w.busy {
		t.Errorf("recorded %q, lock held %v", got, w.busy)
	}
}

func TestInterruptionEndsThePauseBetweenTries(t *testing.T) {
	w := newFixture(t, steps(retryStep))
	w.outcomes = []ports.CommandOutcome{bad, bad, bad}
	ctx, cancel := context.WithCancel(context.Background())
	w.onTry = func(int, ports.Command) error { cancel(); return nil }
	if _, err := w.perform(ctx, perform.Options{}); codeOf(err) != fault.Interrupted || len(w.tries) != 1 ||
		w.attempts() != "" {
		t.Fatalf("%v after %d tries, recorded %q", err, len(w.tries), w.attempts())
	}
}

// closing is an engine whose answers have the status of a closed run.
type closing struct {
	sender
	status runs.Status
}

func (c closing) Rehydrate(ctx context.Context, at engine.Position) (engine.Answer, error) {
	a, err := c.sender.Rehydrate(ctx, at)
	a.Status = c.status
	return a, err
}

func TestClosedRunIsNotPerformed(t *testing.T) {
	for _, status := range []runs.Status{runs.Cancelled, runs.Failed} {
		w := newFixture(t, steps(buildStep))
		p := w.performer()
		p.Engine = closing{sender{w}, status}
		if _, err := p.Perform(context.Background(), w.at.Session, w.at.Run,
			perform.Options{}); codeOf(err) != fault.RunClosed || w.transcript() != "" {
			t.Errorf("%s: %v", status, err)
		}
	}
}

func TestUnknownRunIsRefused(t *testing.T) {
	w := newFixture(t, steps(buildStep))
	if _, err := w.performer().
		Perform(context.Background(), w.at.Session, id.NewRun(id.Seed{7}),
			perform.Options{}); codeOf(err) != fault.RunNotFound {
		t.Error(err)
	}
}

func TestCompletedCommandIsRecordedOnInterrupt(t *testing.T) {
	w := newFixture(t, steps(buildStep+lookStep))
	ctx, cancel := context.WithCancel(context.Background())
	w.onTry = func(int, ports.Command) error { cancel(); return nil } // it had ended by then
	if _, err := w.perform(ctx, perform.Options{}); codeOf(err) != fault.Interrupted {
		t.Fatal(err)
	}
	if got := w.attempts(); got != "advanced" {
		t.Errorf("recorded %q", got)
	}
}

func TestLockedLogIsRetriedWithoutRerunningCommand(t *testing.T) {
	for _, code := range []fault.Code{fault.SessionLocked, fault.StoreConflict, fault.StoreOutcomeUnknown} {
		w := newFixture(t, steps(buildStep))
		w.onSend = func(n int) error {
			if n < 3 {
				return fault.New(code, "for a moment")
			}
			return nil
		}
		if _, err := w.perform(context.Background(), perform.Options{}); err != nil || len(w.tries) != 1 ||
			w.attempts() != "advanced" {
			t.Errorf("%s: %v after %d tries, recorded %q", code, err, len(w.tries), w.attempts())
		}
	}
	w := newFixture(t, steps(buildStep))
	w.onSend = func(int) error { return fault.New(fault.SessionLocked, "for ever") }
	if _, err := w.perform(context.Background(), perform.Options{}); codeOf(err) != fault.SessionLocked || w.sent != 3 {
		t.Errorf("%v after %d sendings", err, w.sent)
	}
	w = newFixture(t, steps(buildStep))
	w.onSend = func(int) error { return fault.New(fault.StoreFull, "disk full") }
	if _, err := w.perform(context.Background(), perform.Options{}); codeOf(err) != fault.StoreFull || w.sent != 1 {
		t.Errorf("%v after %d sendings", err, w.sent)
	}
}

// The general suggestion "Send the same call again" would start another run if
// the call was 'waybill run FILE'.
func TestStoreFaultsSuggestContinuingTheRun(t *testing.T) {
	for _, code := range []fault.Code{fault.StoreFull, fault.StoreIO, fault.StoreOutcomeUnknown,
		fault.StoreAnswerUnread, fault.SessionLocked} {
		w := newFixture(t, steps(buildStep))
		below := fault.New(code, "disk full").With("path", "x")
		w.onSend = func(int) error { return below }
		_, err := w.perform(context.Background(), perform.Options{})
		f := fault.Of(err)
		if f.Code != code || f.Message != below.Message ||
			!strings.Contains(f.Suggestion.String(), "continue with 'waybill run --run R'") ||
			f.Details["runId"] != w.at.Run.String() || f.Details["path"] != "x" || below.Details["runId"] != nil {
			t.Errorf("%s: %+v", code, f)
		}
	}
}

func TestCompleteRunIsNotPerformed(t *testing.T) {
	w := newFixture(t, steps(buildStep))
	if _, err := w.perform(context.Background(), perform.Options{}); err != nil {
		t.Fatal(err)
	}
	w.transcript()
	before := len(w.events())
	report, err := w.perform(context.Background(), perform.Options{Context: members("k", "v"), Notes: text("x")})
	if err != nil || !report.Already || report.Performed != 0 || len(w.events()) != before || w.transcript() != "" {
		t.Errorf("%+v, %v, %d events after %d", report, err, len(w.events()), before)
	}
}

func TestSecondPerformerIsRefused(t *testing.T) {
	w := newFixture(t, steps(buildStep))
	w.busy = true
	if _, err := w.perform(context.Background(), perform.Options{}); codeOf(err) != fault.RunBusy || len(w.tries) > 0 {
		t.Errorf("%v after %d tries", err, len(w.tries))
	}
}

// late is a lock that is acquired just after another performer has advanced the
// run.
type late struct {
	*fixture
	before func()
}

func (l late) Hold(context.Context, id.Session) (ports.Lease, error) {
	l.before()
	return ports.Lease{Release: func() error { return nil }}, nil
}

func TestRunAdvancedBeforeLockIsReadAgain(t *testing.T) {
	w := newFixture(t, steps(buildStep+strings.ReplaceAll(buildStep, "build", "again")))
	p := w.performer()
	p.Performers = late{w, func() {
		a, err := w.g.Rehydrate(context.Background(), w.at)
		if err != nil {
			t.Fatal(err)
		}
		r, err := canon.ValueOf(command.Result{Kind: command.Kind, Tries: 1, OutputDigest: canon.Sum(nil),
			ArgvDigest: argv("make", "all")})
		if err != nil {
			t.Fatal(err)
		}
		if err := ports.WithHold(context.Background(), w, w.at.Session, func(h ports.Hold) error {
			_, err := w.g.Perform(context.Background(), h,
				engine.Caller{Actor: event.Actor{Kind: event.Agent}, AtMs: 5}, w.at, a.AttemptID,
				advance.Request{Artifacts: []advance.Artifact{advance.JSONArtifact(r)}})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}}
	if _, err := p.Perform(context.Background(), w.at.Session, w.at.Run, perform.Options{}); err != nil {
		t.Fatal(err)
	}
	if len(w.tries) != 1 || w.tries[0].Env["WAYBILL_STEP_ID"] != "again" || w.attempts() != "advanced advanced" {
		t.Errorf("%d tries, recorded %q", len(w.tries), w.attempts())
	}
}

// Another caller records the attempt while the command runs; the command's
// result must not be lost.
func TestResultSurvivesAnotherCallersAttempt(t *testing.T) {
	ctx := context.Background()
	by := engine.Caller{Actor: event.Actor{Kind: event.Agent}, AtMs: 3}
	for _, answers := range [][]string{nil, {}} { // no person present; person present
		w := newFixture(t, steps(buildStep))
		w.answers = answers
		w.onTry = func(int, ports.Command) error {
			a, err := w.g.Rehydrate(ctx, w.at)
			for range 2 {
				if err == nil {
					a, err = w.g.Advance(ctx, by, w.at, a.AttemptID, advance.Request{})
				}
			}
			return err
		}
		w.onSend = func(n int) error {
			if n > 5 {
				t.Fatal("the attempt is sent without end: " + w.attempts())
			}
			return nil
		}
		_, err := w.perform(ctx, perform.Options{})
		if got := w.attempts(); err != nil || got != "blocked blocked advanced" || len(w.tries) != 1 {
			t.Errorf("%v, %q, %d tries", err, got, len(w.tries))
		}
	}
}

func TestStepsOfAnotherCallerAreNotRepeated(t *testing.T) {
	ctx := context.Background()
	given := canon.OfMembers(canon.Member{Name: "key", Value: canon.OfString("value")})
	w := newFixture(t, steps(lookStep+strings.ReplaceAll(lookStep, "look", "again")+noteStep))
	w.answers = []string{"late", "the notes"}
	w.onSend = func(n int) error {
		if n > 1 {
			return nil
		}
		by, at := engine.Caller{Actor: event.Actor{Kind: event.Agent}, AtMs: 3}, w.at
		a, err := w.g.Rehydrate(ctx, at)
		for range 2 {
			if err == nil {
				a, err = w.g.Advance(ctx, by, a.Position(), a.AttemptID, advance.Request{Notes: "first"})
			}
		}
		return err
	}
	report, err := w.perform(ctx, perform.Options{Context: given})
	transcript := w.transcript()
	if err != nil || !report.Last.IsComplete || strings.Contains(transcript, "[2/3]") ||
		!strings.Contains(transcript, "warning: This attempt is recorded with other content") {
		t.Fatalf("%v\n%s", err, transcript)
	}
	var kept int
	for _, e := range w.events() {
		if c, ok := e.Data.(event.ContextSet); ok && c.Context.Equal(given) {
			kept++
		}
	}
	if kept != 1 {
		t.Errorf("the context is recorded %d times", kept)
	}
}
