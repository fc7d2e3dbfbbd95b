package engine_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// keep makes a checkpoint by the tokens of an answer.
func (w *fixture) keep(a engine.Answer, req advance.Request) (engine.Answer, error) {
	return w.g.Checkpoint(context.Background(), w.by(),
		engine.CheckpointCall{StateToken: a.StateToken, CheckpointToken: a.CheckpointToken, Request: req})
}

func (w *fixture) mustKeep(a engine.Answer, req advance.Request) engine.Answer {
	w.Helper()
	out, err := w.keep(a, req)
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// look rehydrates, by the state token alone.
func (w *fixture) look(stateToken string) engine.Answer {
	w.Helper()
	a, err := w.g.Continue(context.Background(), w.by(), engine.Continue{StateToken: stateToken})
	if err != nil {
		w.Fatal(err)
	}
	return a
}

// report is an artifact of a kind.
func report(kind, value string) advance.Artifact {
	return advance.JSONArtifact(set("kind", kind).With("value", canon.OfString(value)))
}

// stateOf is a state token for any node of an answer's run, as another program that holds the log
// may issue it.
func (w *fixture) stateOf(a engine.Answer, n id.Node) string {
	w.Helper()
	keys, err := w.g.Store.Keys(context.Background(), ports.ReadOnly)
	if err != nil {
		w.Fatal(err)
	}
	return token.MintState(keys.Current, token.State{SessionID: a.Session.SessionID, RunID: a.Session.RunID, NodeID: n,
		WorkflowHash: a.Workflow.WorkflowHash})
}

func TestCheckpointDoesNotAdvance(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.must(w.start(longOne), note("zero"))
	kept := w.mustKeep(a, advance.Request{Notes: "half of it", Artifacts: []advance.Artifact{report("draft", "1")}})
	if kept.Kind() != "step" || kept.NodeID != a.NodeID || kept.AckToken != a.AckToken ||
		kept.Status != runs.InProgress || kept.Recap != "" {
		t.Fatalf("%+v", kept)
	}
	if kept.CheckpointToken == a.CheckpointToken || kept.CheckpointToken == "" {
		t.Error("the next checkpoint has no token of its own")
	}
	details, err := w.g.Run(context.Background(), a.Session.RunID.String())
	if err != nil || len(details.Tips) != 1 || details.Progress.Completed != 1 || details.Tips[0].NodeID != a.NodeID {
		t.Fatalf("%+v, %v", details.RunSummary, err)
	}
	if b := w.must(kept, note("one")); b.Pending.StepID != "s2" {
		t.Errorf("%+v", b.Pending)
	}
	if v, err := w.process().VerifySession(context.Background(), engine.Last); err != nil || !v.OK ||
		len(v.Findings) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestCheckpointReplay: the same call is answered from the log as before, however far the run has
// advanced, and other content is reported and not stored (docs/design.md#answers).
func TestCheckpointReplay(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(longOne)
	req := advance.Request{Notes: "half", Artifacts: []advance.Artifact{report("b", "1"), report("a", "2")}}
	first := w.mustKeep(a, req)
	want := text(t, first)
	second := w.mustKeep(first, note("three quarters"))
	for b := second; !b.IsComplete; {
		b = w.must(b, note("on"))
	}
	n := w.events(a)
	for range 2 {
		if got := text(t, w.mustKeep(a, req)); got != want {
			t.Fatalf("again:\n%s\n%s", got, want)
		}
		other := w.mustKeep(a, note("something else"))
		if len(other.Warnings) != 1 || other.Warnings[0].Code != warning.ReplayDiffers {
			t.Fatal(other.Warnings)
		}
		other.Warnings = first.Warnings
		if text(t, other) != want || w.events(a) != n {
			t.Fatal("a replay with other content changed something")
		}
		w.g = w.process()
	}
}

// TestContinueFromTheStateOfACheckpoint: with the tokens of the node that the checkpoint belongs
// to, and rehydrated (docs/design.md#edges-and-tips).
func TestContinueFromTheStateOfACheckpoint(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(longOne)
	kept := w.mustKeep(a, note("half"))
	point := id.ChildNode(a.NodeID, a.CheckpointID, id.OpCheckpoint)
	state := w.stateOf(a, point)
	if seen := w.look(state); seen.NodeID != a.NodeID || seen.StateToken != a.StateToken ||
		seen.AckToken != a.AckToken {
		t.Fatalf("%+v", seen)
	}
	again, err := w.g.Checkpoint(context.Background(), w.by(),
		engine.CheckpointCall{StateToken: state, CheckpointToken: kept.CheckpointToken, Request: note("more")})
	if err != nil || again.NodeID != a.NodeID {
		t.Fatal(err)
	}
	b, err := w.g.Continue(context.Background(), w.by(), engine.Continue{StateToken: state, AckToken: a.AckToken,
		Request: note("zero")})
	if err != nil || b.Pending.StepID != "s1" {
		t.Fatal(err)
	}
	// A checkpoint of another node does not lead to this one.
	_, err = w.g.Continue(context.Background(), w.by(), engine.Continue{StateToken: state, AckToken: b.AckToken,
		Request: note("x")})
	if !fault.Is(err, fault.TokenScopeMismatch) {
		t.Error(err)
	}
}

func TestCheckpointRefusals(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a, b := w.start(longOne), w.start(twoSteps)
	next := w.must(a, note("on"))
	done := w.start(`{"id":"test.one","name":"One","description":"d","version":"1.0.0","steps":[{"id":"only","title":"Only","prompt":"p"}]}`)
	open := done
	done = w.must(done, note("x"))
	for name, tc := range map[string]struct {
		state, point string
		req          advance.Request
		code         fault.Code
		says         []string
	}{
		"an ack token": {a.StateToken, a.AckToken, note("x"), fault.TokenScopeMismatch,
			[]string{"kind ack", "kind checkpoint"}},
		"a state token": {a.StateToken, a.StateToken, note("x"), fault.TokenScopeMismatch,
			[]string{"kind state", "kind checkpoint"}},
		"in the wrong places": {a.CheckpointToken, a.StateToken, note("x"), fault.TokenScopeMismatch,
			[]string{"kind checkpoint", "kind state"}},
		"two runs": {a.StateToken, b.CheckpointToken, note("x"), fault.TokenScopeMismatch,
			[]string{a.Session.RunID.String(), b.Session.RunID.String(), "test.long", "test.two", "checkpoint token"}},
		"two nodes": {a.StateToken, next.CheckpointToken, note("x"), fault.TokenScopeMismatch,
			[]string{"checkpoint token of node"}},
		"none": {a.StateToken, "", note("x"), fault.TokenInvalidFormat, nil},
		"empty": {a.StateToken, a.CheckpointToken, advance.Request{}, fault.ValidationError,
			[]string{"empty"}},
		"context": {a.StateToken, a.CheckpointToken, advance.Request{Notes: "x", Context: set("k", "v")},
			fault.ValidationError, []string{"context"}},
		"a complete run's node": {done.StateToken, open.CheckpointToken, note("x"), fault.TokenScopeMismatch, nil},
	} {
		t.Run(name, func(t *testing.T) {
			n := w.events(a)
			_, err := w.g.Checkpoint(context.Background(), w.by(),
				engine.CheckpointCall{StateToken: tc.state, CheckpointToken: tc.point, Request: tc.req})
			if !fault.Is(err, tc.code) || fault.Of(err).Suggestion.String() == "" || w.events(a) != n {
				t.Fatalf("want %s, got %v", tc.code, err)
			}
			for _, says := range tc.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%v does not contain %q", err, says)
				}
			}
		})
	}
	if done.CheckpointToken != "" {
		t.Error("a complete run hands out a checkpoint token")
	}
	// As an ack token it names both as well.
	_, err := w.g.Continue(context.Background(), w.by(),
		engine.Continue{StateToken: next.StateToken, AckToken: next.CheckpointToken, Request: note("x")})
	if !fault.Is(err, fault.TokenScopeMismatch) || !strings.Contains(err.Error(), "kind checkpoint") ||
		!strings.Contains(err.Error(), "kind ack") {
		t.Error(err)
	}
	_, err = w.g.CheckpointAt(context.Background(), w.by(), done.Position(),
		id.NextAttempt(done.NodeID, id.OpCheckpoint, 0), note("x"))
	if !fault.Is(err, fault.ValidationError) || !strings.Contains(err.Error(), "complete") {
		t.Error(err)
	}
	_, err = w.g.CheckpointAt(context.Background(), w.by(), next.Position(),
		id.NextAttempt(next.NodeID, id.OpCheckpoint, 4), note("x"))
	if !fault.Is(err, fault.Invariant) {
		t.Error(err)
	}
}

// TestRacingCallersOfOneCheckpoint: one checkpoint, and the same answer for all.
func TestRacingCallersOfOneCheckpoint(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(longOne)
	answers, errs := make([]string, 6), make([]error, 6)
	var wg sync.WaitGroup
	for i := range answers {
		g := w.process()
		wg.Go(func() {
			b, err := g.Checkpoint(context.Background(), engine.Caller{Actor: event.Actor{Kind: event.Agent}, AtMs: 5},
				engine.CheckpointCall{StateToken: a.StateToken, CheckpointToken: a.CheckpointToken,
					Request: note("race")})
			if errs[i] = err; err == nil {
				answers[i] = text(t, b)
			}
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
	nodes := 0
	for _, e := range all {
		if _, ok := e.Data.(event.NodeCreated); ok {
			nodes++
		}
	}
	if nodes != 2 {
		t.Fatalf("%d nodes, want the root and one checkpoint", nodes)
	}
}
