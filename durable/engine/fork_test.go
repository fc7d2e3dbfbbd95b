package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/ports"
)

func (w *fixture) fork(at engine.Position, title string) (engine.Answer, error) {
	w.seeds++
	return w.g.ForkAt(context.Background(), w.by(), id.Seed{w.seeds}, at, engine.ForkRequest{Title: title,
		Observations: []event.ObservationRecorded{{Key: "git_branch", Confidence: "high",
			Value: event.ObservationValue{Type: "short_string", Value: "again"}}}})
}

func (w *fixture) mustFork(at engine.Position, title string) engine.Answer {
	w.Helper()
	a, err := w.fork(at, title)
	if err != nil {
		w.Fatal(err)
	}
	return a
}

// log is the bytes of a session's log.
func (w *fixture) log(s id.Session) string {
	w.Helper()
	var out strings.Builder
	err := filepath.WalkDir(filepath.Join(w.dir, "sessions", s.String()),
		func(path string, d os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".jsonl") {
				data, _ := os.ReadFile(path)
				out.WriteString(filepath.Base(path) + "\n" + string(data))
			}
			return err
		})
	if err != nil {
		w.Fatal(err)
	}
	return out.String()
}

func TestForkContinuesFromANode(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	root := a.Position()
	second := w.must(a, advance.Request{Notes: "done", Context: set("what", "it"),
		Preferences: []event.PreferenceChange{{Key: "riskPolicy", Value: "balanced"}}})
	w.must(second, note("the end"))
	before := w.log(root.Session)
	source, err := w.process().Run(context.Background(), root.Run.String())
	if err != nil {
		t.Fatal(err)
	}

	f := w.mustFork(second.Position(), "")
	if f.Pending == nil || f.Pending.StepID != "second" || f.Session == second.Session || f.Status != "in_progress" {
		t.Fatalf("the fork is at %+v, %s", f.Pending, f.Status)
	}
	if f.Preferences != second.Preferences || f.Preferences.RiskPolicy != "balanced" {
		t.Errorf("preferences %+v, want %+v", f.Preferences, second.Preferences)
	}
	other := w.mustFork(root, "Once more")
	if other.Pending.StepID != "first" || strings.Contains(other.Pending.Prompt, "Do it first") {
		t.Errorf("a later observation is known earlier: %+v", other.Pending)
	}
	if w.log(root.Session) != before {
		t.Error("the source was written to")
	}
	all, v, err := w.process().Events(context.Background(), f.Session.RunID.String())
	if err != nil || v.Health != manifest.Healthy {
		t.Fatalf("%v, %+v", err, v)
	}
	var kinds []string
	for _, e := range all {
		kinds = append(kinds, e.Data.Kind()+"/"+string(e.Actor.Kind))
		switch p := e.Data.(type) {
		case event.RunStarted:
			want := event.ForkedFrom{SessionID: root.Session, RunID: root.Run, NodeID: second.NodeID,
				Head: source.Head.Digest}
			if p.ForkedFrom == nil || *p.ForkedFrom != want {
				t.Errorf("forked from %+v, want %+v", p.ForkedFrom, want)
			}
		case event.ContextSet:
			if string(p.Context.JCS()) != `{"what":"it"}` || p.Source != event.ContextInitial {
				t.Errorf("context %s, %s", p.Context.JCS(), p.Source)
			}
		}
	}
	want := "session_created/agent run_started/agent node_created/engine preferences_changed/engine " +
		"context_set/engine " +
		"decision_trace_appended/engine observation_recorded/engine"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("recorded %s\nwant %s", got, want)
	}
	done := w.must(f, note("the end"))
	if !done.IsComplete {
		t.Errorf("the fork does not continue: %+v", done)
	}
	w.replays(f.Position())
	w.replays(other.Position())
	if v, err := w.process().Verify(context.Background()); err != nil || !v.OK {
		t.Errorf("verify: %v, %+v", err, v)
	}
}

func TestForkOfEnds(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	second := w.must(a, note("done"))
	end := w.must(second, note("done"))
	_, err := w.fork(end.Position(), "")
	if f := fault.Of(err); f == nil || f.Code != fault.ValidationError ||
		!strings.Contains(f.Suggestion.String(), "Fork at an earlier node") {
		t.Errorf("a complete node: %v", err)
	}
	w.mustFork(second.Position(), "") // of a complete run
	if _, err := w.fork(engine.Position{Session: end.Session.SessionID, Run: end.Session.RunID,
		Node: id.RootNode(id.NewRun(id.Seed{77}))}, ""); fault.CodeOf(err) != fault.RunNotFound {
		t.Errorf("an unknown node: %v", err)
	}
	if _, err := w.fork(second.Position(), strings.Repeat("x", 257)); fault.CodeOf(err) != fault.ValidationError {
		t.Errorf("a title that is too long: %v", err)
	}
	b := w.start(twoSteps)
	if _, err := w.cancel(&performerStub{}, b.Position(), engine.CancelRequest{}); err != nil {
		t.Fatal(err)
	}
	if f := w.mustFork(b.Position(), ""); f.Status != "in_progress" {
		t.Errorf("the fork of a cancelled run is %s", f.Status)
	}
	if n := len(w.must(a2(w, second), note("x")).Blockers); n != 0 {
		t.Error("the source does not continue")
	}
}

// a2 is the source's node once more: another branch begins at it.
func a2(w *fixture, a engine.Answer) engine.Answer {
	out, err := w.g.Rehydrate(context.Background(), a.Position())
	if err != nil {
		w.Fatal(err)
	}
	return out
}

const withCapability = `{"id":"test.cap","name":"Cap","description":"d","version":"1.0.0","steps":[
 {"id":"one","title":"One","prompt":"p"},{"id":"two","title":"Two","prompt":"p"},{"id":"three","title":"Three","prompt":"p"}]}`

// TestForkTakesCapabilities: those that held at the node, with the place where they were observed;
// not what was observed after the path left, nor a claim.
func TestForkTakesCapabilities(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(withCapability)
	observed := func(n byte, name, status string, strong bool) event.CapabilityObserved {
		o := event.CapabilityObserved{CapObsID: id.FromStart(id.RootNode(a.Session.RunID)).
			CapObs(int(n)), Capability: name, Status: status,
			Provenance: event.Provenance{Kind: "manual_claim", EnforcementGrade: "weak",
				Detail: event.ProvenanceDetail{ClaimedBy: "agent", Claim: "available"}}}
		if strong {
			o.Provenance = event.Provenance{Kind: "attempted_use", EnforcementGrade: "strong",
				Detail: event.ProvenanceDetail{AttemptContext: "workflow_step", Result: "success"}}
		}
		return o
	}
	at := func(a engine.Answer) event.Scope { return event.Scope{RunID: a.Session.RunID, NodeID: a.NodeID} }
	w.appendUnchecked(a, at(a), observed(1, "delegation", "unavailable", true))
	w.appendUnchecked(a, at(a), observed(2, "delegation", "available", true))
	w.appendUnchecked(a, at(a), observed(3, "web_browsing", "available", false))
	w.g = w.process()
	two := w.must(a2(w, a), note("x"))
	w.appendUnchecked(two, at(a), observed(4, "delegation", "unknown", true)) // at the root, after the path left
	w.appendUnchecked(two, at(two), observed(5, "web_browsing", "unavailable", true))
	w.g = w.process()
	three := w.must(a2(w, two), note("x"))
	for _, row := range []struct {
		at   engine.Answer
		want string
	}{
		{three, "delegation available attempted_use, web_browsing unavailable attempted_use"},
		{a, "delegation unknown attempted_use"},
	} {
		f := w.mustFork(row.at.Position(), "")
		all, _, err := w.process().Events(context.Background(), f.Session.RunID.String())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range all {
			if c, ok := e.Data.(event.CapabilityObserved); ok {
				got = append(got, c.Capability+" "+c.Status+" "+c.Provenance.Kind)
			}
		}
		if strings.Join(got, ", ") != row.want {
			t.Errorf("kept: %s\nwant %s", strings.Join(got, ", "), row.want)
		}
		w.replays(f.Position())
	}
}

// TestForkHasNoApproval: neither the approval of a step nor what was approved is in a fork, with the
// same definition and with another one, which a person has to approve by its own outputs.
func TestForkHasNoApproval(t *testing.T) {
	t.Parallel()
	ctx, w := context.Background(), newFixture(t)
	a := w.mustApprove(w.must(w.start(approving), note("the plan")), "go ahead")
	edited := w.compiled(strings.Replace(approving, `"title":"Plan"`, `"title":"Another plan"`, 1))
	for name, d := range map[string]*engine.Definition{"the same": nil,
		"another": {Workflow: edited, SourceKind: event.SourceProject, SourceRef: "new.json"}} {
		w.seeds++
		f, err := w.g.ForkAt(ctx, w.by(), id.Seed{w.seeds}, a.Position(), engine.ForkRequest{Definition: d})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if f.OutputsSubmitted() || f.Pending.RequireConfirmation != (engine.HumanApproval{Kind: "human_approval"}) {
			t.Errorf("%s: %+v", name, f.Pending)
		}
		// The outputs that were approved in the source need an approval here.
		blocked := w.must(f, note("the plan"))
		if blocked.Kind() != "blocked" {
			t.Fatalf("%s: the approval of the source was taken", name)
		}
		if on := w.must(w.mustApprove(blocked, "again"), advance.Request{}); on.Pending.StepID != "build" {
			t.Errorf("%s: %+v", name, on.Pending)
		}
	}
	if v, err := w.g.Verify(ctx); err != nil || !v.OK {
		t.Errorf("verify: %+v, %v", v, err)
	}
}

// TestForkRunsCommandsAgain: a value that was given for a command of the source does not replace the
// value that the command of the fork has to write.
func TestForkRunsCommandsAgain(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	build := w.must(w.start(gatedFlow), advance.Request{Context: contextOf(t, `{"who":"me"}`)})
	blocked := w.must(build, advance.Request{Context: contextOf(t, `{"commit":"given"}`)})
	if blocked.Kind() != "blocked" {
		t.Fatalf("%+v", blocked)
	}
	f := w.mustFork(blocked.Position(), "again")
	var out engine.Answer
	must(t, w.hold(f.Session.SessionID, func(h ports.Hold) (err error) {
		out, err = w.g.Perform(context.Background(), h, w.by(), f.Position(), f.AttemptID, madeUp(t))
		return err
	}))
	if len(out.Blockers) != 1 || out.Blockers[0].Pointer.Key != "commit" {
		t.Errorf("a value of the source was taken: %+v", out.Blockers)
	}
}
