package engine_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/projections/runs"
)

func TestAWorkflowRunsToItsEnd(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	if a.Status != runs.InProgress || a.Pending.StepID != "first" ||
		a.NextIntent != engine.PerformThenContinue || a.Kind() != "step" {
		t.Fatalf("start: %+v", a)
	}
	if len(a.Warnings) != 1 || a.Warnings[0].Code != warning.VariableAbsent {
		t.Error("a variable that is not set is a warning:", a.Warnings)
	}
	blocked := w.must(a, note("not yet"))
	if blocked.Kind() != "blocked" || blocked.Status != runs.Blocked || blocked.NodeID != a.NodeID ||
		blocked.AckToken == a.AckToken {
		t.Fatalf("blocked: %+v", blocked)
	}
	b := w.must(blocked, advance.Request{Notes: "done", Context: set("what", "it")})
	if b.Pending.StepID != "second" || b.Status != runs.InProgress {
		t.Fatalf("second: %+v", b)
	}
	c := w.must(b, advance.Request{})
	if !c.IsComplete || c.Status != runs.CompleteStatus || c.Pending != nil || c.AckToken != "" ||
		c.Next != nil || c.NextIntent != engine.CompleteIntent {
		t.Fatalf("complete: %+v", c)
	}
	if _, err := w.g.Rehydrate(context.Background(), c.Position()); err != nil {
		t.Fatal(err)
	}
}

// TestReplayGivesTheSameAnswer: the same call twice, also from another process, after ten more
// steps, and while the fold of the run is cached (docs/design.md#answers).
func TestReplayGivesTheSameAnswer(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(longOne)
	first := w.must(a, note("zero"))
	want, before := text(t, first), w.events(a)
	if got := text(t, w.must(a, note("zero"))); got != want {
		t.Fatalf("again:\n%s\n%s", got, want)
	}
	for b := first; !b.IsComplete; {
		b = w.must(b, note("on"))
	}
	after := w.events(a)
	for range 2 {
		if got := text(t, w.must(a, note("zero"))); got != want {
			t.Fatalf("eleven steps later:\n%s\n%s", got, want)
		}
		w.g = w.process()
	}
	if before == after || w.events(a) != after {
		t.Errorf("%d events after the first step, %d at the end, %d after the replays", before, after, w.events(a))
	}
}

func TestReplayReportsOtherContent(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(longOne)
	want := w.must(a, note("zero"))
	n := w.events(a)
	got := w.must(a, note("something else"))
	if len(got.Warnings) != 1 || got.Warnings[0].Code != warning.ReplayDiffers {
		t.Fatal(got.Warnings)
	}
	got.Warnings = want.Warnings
	if text(t, got) != text(t, want) || w.events(a) != n {
		t.Fatal("a replay with other content changed something")
	}
}

func TestBlockedReplayKeepsItsBlockers(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	want := text(t, w.must(a, note("no")))
	b := w.must(w.must(a, note("no")), note("done")) // by the second attempt
	if b.Pending == nil || b.Pending.StepID != "second" {
		t.Fatalf("%+v", b)
	}
	if got := text(t, w.must(a, note("no"))); got != want {
		t.Fatalf("after the run continued:\n%s\n%s", got, want)
	}
}

func TestRehydrateGivesTheSameAnswerAndWritesNothing(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	b := w.must(w.start(longOne), note("zero"))
	n := w.events(b)
	first := w.look(b.StateToken)
	want := text(t, first)
	for range 20 {
		if got := text(t, w.look(b.StateToken)); got != want {
			t.Fatalf("rehydrated:\n%s\n%s", got, want)
		}
		w.g = w.process()
	}
	if first.Recap = ""; text(t, first) != text(t, b) { // which only a rehydration has
		t.Errorf("rehydrated:\n%s\nadvanced:\n%s", text(t, first), text(t, b))
	}
	if w.events(b) != n {
		t.Fatal("rehydrate appended events")
	}
}

// TestRacingCallersOfOneAttempt: one advance, and the same answer for all
// (docs/design.md#commit-protocol).
func TestRacingCallersOfOneAttempt(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(longOne)
	answers, errs := make([]string, 8), make([]error, 8)
	var wg sync.WaitGroup
	for i := range answers {
		g := w.process()
		wg.Go(func() {
			b, err := g.Continue(context.Background(), engine.Caller{Actor: event.Actor{Kind: event.Agent}, AtMs: 5},
				engine.Continue{StateToken: a.StateToken, AckToken: a.AckToken, Request: note("race")})
			answers[i], errs[i] = text(t, b), err
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil || answers[i] != answers[0] {
			t.Errorf("caller %d: %v\n%s\n%s", i, err, answers[i], answers[0])
		}
	}
	all, _, err := w.g.Events(context.Background(), a.Session.RunID.String())
	if err != nil {
		t.Fatal(err)
	}
	advances := 0
	for _, e := range all {
		if _, ok := e.Data.(event.AdvanceRecorded); ok {
			advances++
		}
	}
	if advances != 1 {
		t.Fatalf("%d advances", advances)
	}
}

func TestForksFromOneNode(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(longOne)
	seen := map[id.Node]bool{}
	for range 4 {
		again, err := w.g.Rehydrate(context.Background(), a.Position())
		if err != nil {
			t.Fatal(err)
		}
		b := w.must(again, note("fork"))
		seen[b.NodeID] = true
	}
	if len(seen) != 4 {
		t.Fatalf("four attempts from one node gave %d nodes", len(seen))
	}
	details, err := w.g.Run(context.Background(), a.Session.RunID.String())
	if err != nil || len(details.Tips) != 4 {
		t.Fatal(len(details.Tips), err)
	}
}

func TestTokenRefusals(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a, b := w.start(longOne), w.start(twoSteps)
	a2 := w.must(a, note("on"))
	other := newFixture(t)
	foreign := other.start(longOne)
	tampered := a.StateToken[:len(a.StateToken)-4] + "AAAA"
	for name, tc := range map[string]struct {
		state, ack string
		req        advance.Request
		code       fault.Code
		says       string
	}{
		"no token": {"hello", "", advance.Request{}, fault.TokenInvalidFormat, "hello"},
		"newer token": {strings.Replace(a.StateToken, ".v1.", ".v2.", 1), "", advance.Request{},
			fault.TokenUnsupportedVersion, "v2"},
		"tampered":             {tampered, "", advance.Request{}, fault.TokenBadSignature, ""},
		"of another store":     {foreign.StateToken, "", advance.Request{}, fault.TokenBadSignature, ""},
		"ack as state":         {a.AckToken, "", advance.Request{}, fault.TokenScopeMismatch, "ack"},
		"two runs":             {a.StateToken, b.AckToken, advance.Request{}, fault.TokenScopeMismatch, "test.two"},
		"two nodes":            {a.StateToken, a2.AckToken, advance.Request{}, fault.TokenScopeMismatch, "node"},
		"inputs without ack":   {a.StateToken, "", note("x"), fault.ValidationError, "ack"},
		"ack token without st": {"", a.AckToken, advance.Request{}, fault.TokenInvalidFormat, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.g.Continue(context.Background(), w.by(), engine.Continue{StateToken: tc.state, AckToken: tc.ack,
				Request: tc.req})
			if !fault.Is(err, tc.code) || !strings.Contains(err.Error(), tc.says) {
				t.Fatalf("want %s with %q, got %v", tc.code, tc.says, err)
			}
			if fault.Of(err).Suggestion.String() == "" {
				t.Error("no suggestion")
			}
		})
	}
}

func TestTokensWithoutAStore(t *testing.T) {
	t.Parallel()
	token := newFixture(t).start(longOne).StateToken
	for sent, want := range map[string]fault.Code{"hello": fault.TokenInvalidFormat, token: fault.TokenBadSignature} {
		_, err := newFixture(t).g.Continue(context.Background(), engine.Caller{}, engine.Continue{StateToken: sent})
		if !fault.Is(err, want) {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}

func TestTokensOfTwoRunsAreBothNamed(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a, b := w.start(longOne), w.start(twoSteps)
	_, err := w.g.Continue(context.Background(), w.by(),
		engine.Continue{StateToken: a.StateToken, AckToken: b.AckToken})
	f := fault.Of(err)
	for _, want := range []string{a.Session.RunID.String(), b.Session.RunID.String(), "test.long", "test.two"} {
		if !strings.Contains(f.Message, want) {
			t.Errorf("the message does not name %q: %s", want, f.Message)
		}
	}
}

func TestAttemptsThatNoAnswerIssued(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(longOne)
	_, err := w.g.Advance(context.Background(), w.by(), a.Position(), id.NextAttempt(a.NodeID, id.OpAck, 3), note("x"))
	if !fault.Is(err, fault.Invariant) {
		t.Fatal(err)
	}
	unknown := a.Position()
	unknown.Node = id.RootNode(id.NewRun(id.Seed{200}))
	if _, err := w.g.Rehydrate(context.Background(), unknown); !fault.Is(err, fault.TokenUnknownNode) {
		t.Fatal(err)
	}
}

const asking = `{"id":"test.asking","name":"Asking","description":"d","version":"1.0.0","steps":[
 {"id":"ask","title":"Ask","prompt":"p","inputs":[{"contextKey":"ticket","reason":"needs_user_artifact","description":"the ticket"}]},
 {"id":"work","title":"Work","action":{"kind":"command","argv":["true"]}}]}`

// TestSuggestedCallIsComplete: the call that an answer suggests contains what the step requires,
// and a command step is for the performer of commands.
func TestSuggestedCallIsComplete(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(asking)
	if got := strings.Join(a.Next.Command, " "); !strings.HasSuffix(got, "--set ticket=…") ||
		a.Next.Params["context"] == nil {
		t.Error(got, a.Next.Params)
	}
	b := w.must(a, advance.Request{Context: set("ticket", "T-1")})
	if got := strings.Join(b.Next.Command, " "); got != "waybill run --run "+b.Session.RunID.String() {
		t.Error(got)
	}
}
