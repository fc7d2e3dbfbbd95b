package engine_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

const hostSteps = `{"id":"test.hosted","name":"Hosted","description":"d","version":"1.0.0","steps":[
 {"id":"same","title":"Same","action":{"kind":"host","typeId":"core.identity"}},
 {"id":"ask","title":"Ask","prompt":"p"},
 {"id":"fail","title":"Fail","action":{"kind":"host","typeId":"core.fail","config":{"code":"E1","message":"Out of order."}}}]}`

// performHost performs the pending host step of an answer.
func (w *fixture) performHost(a engine.Answer, fail bool) (out engine.Answer) {
	w.Helper()
	workflow, err := w.g.Workflow(w.Context(), a.Workflow.WorkflowHash)
	if err != nil {
		w.Fatal(err)
	}
	step, _ := workflow.Step(a.Pending.StepID)
	r, err := host.Perform(host.Step{Step: *step.Host, StepInstanceKey: a.Pending.StepInstanceKey, Context: a.Context()})
	if err != nil {
		w.Fatal(err)
	}
	v, err := r.Value()
	if err != nil {
		w.Fatal(err)
	}
	err = ports.WithHold(w.Context(), &performerStub{}, a.Session.SessionID, func(h ports.Hold) error {
		out, err = w.g.Perform(w.Context(), h, caller(7), a.Position(), a.AttemptID,
			advance.Request{Artifacts: []advance.Artifact{advance.JSONArtifact(v)}})
		if err == nil && fail {
			_, err = w.g.Fail(w.Context(), h, caller(8), a.Position(), r.Error.Message)
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// TestHostStepsAreDecidedAgain: the record alone gives the same decisions and the same end, also in a session to which an import gave
// other ids; views show what the host did.
func TestHostStepsAreDecidedAgain(t *testing.T) {
	w := newFixture(t)
	first := w.start(hostSteps)
	ask := w.performHost(first, false)
	if ask.Pending == nil || ask.Pending.Host != nil || !strings.Contains(ask.Pending.Prompt, "Result of the host (core.identity)") {
		t.Fatalf("%+v", ask.Pending)
	}
	failed := w.performHost(w.must(ask, note("n")), true)
	if len(failed.Blockers) != 1 || failed.Pending.Host.Error == nil || failed.Pending.Host.Error.Code != "E1" {
		t.Fatalf("%+v", failed.Blockers)
	}
	check := func(of string, g *fixture, s id.Session, run id.Run) {
		t.Helper()
		report, err := g.g.Replay(t.Context(), engine.Position{Session: s, Run: run})
		if err != nil || !report.OK || len(report.Undecided) > 0 {
			t.Errorf("%s: %+v, %+v, %v", of, report, report.Difference, err)
		}
		shown, err := g.g.Run(t.Context(), run.String())
		if err != nil || shown.Status != runs.Failed || len(shown.Steps) != 3 {
			t.Fatalf("%s: %+v, %v", of, shown, err)
		}
		if h := shown.Steps[0].Host; h == nil || h.Outcome != host.Completed || h.Error != nil || shown.Steps[0].ResultNote != "" {
			t.Errorf("%s: %+v", of, shown.Steps[0])
		}
		if h := shown.Steps[2].Host; h == nil || h.Outcome != host.Failed || h.Error == nil || h.Error.Message != "Out of order." {
			t.Errorf("%s: %+v", of, shown.Steps[2])
		}
	}
	s, run := first.Session.SessionID, first.Session.RunID
	check("recorded", w, s, run)
	to := newFixture(t)
	bundle := export(t, w.g, s, 1)
	if got := take(t, to.g, bundle, false); got.Relation != travel.NewSession {
		t.Fatalf("%+v", got)
	}
	check("imported", to, s, run)
	fresh := take(t, to.g, bundle, true)
	list, err := to.g.Runs(context.Background())
	if err != nil || fresh.Relation != travel.NewSession {
		t.Fatalf("%+v, %v", fresh, err)
	}
	for _, r := range list.Runs {
		if r.SessionID == fresh.SessionID {
			check("imported as new", to, r.SessionID, r.RunID)
		}
	}
}

// TestHostResultsAreRedacted: a redacted bundle has no secret of the outputs of a host step, and its result is still one.
func TestHostResultsAreRedacted(t *testing.T) {
	w := newFixture(t)
	first := w.start(strings.Replace(hostSteps, `{"id":"same"`, `{"id":"first","title":"First","prompt":"p"},{"id":"same"`, 1))
	const secret = "sk-canary1234567890canary"
	w.performHost(w.must(first, advance.Request{Context: set("apiKey", secret)}), false)
	var out bytes.Buffer
	if _, err := w.g.Export(t.Context(), id.Seed{4}, travel.ExportRequest{Ref: first.Session.SessionID.String(), ExportedAt: "at 1",
		AppVersion: "1", Redact: true}, &out); err != nil || strings.Contains(out.String(), "canary") {
		t.Fatal(err)
	}
	to := newFixture(t)
	if got := take(t, to.g, out.Bytes(), false); got.Relation != travel.NewSession {
		t.Fatalf("%+v", got)
	}
	list, err := to.g.Runs(t.Context())
	if err != nil || len(list.Runs) != 1 {
		t.Fatal(list, err)
	}
	shown, err := to.g.Run(t.Context(), list.Runs[0].RunID.String())
	if err != nil || shown.Steps[1].Host == nil || shown.Steps[1].Host.TypeID != "core.identity" {
		t.Errorf("%+v, %v", shown.Steps, err)
	}
}

// TestHostStepIsPending: the views of a run at a step of the host name what it waits for.
func TestHostStepIsPending(t *testing.T) {
	w := newFixture(t)
	a := w.start(strings.ReplaceAll(hostSteps, `"typeId":"core.identity"`, `"typeId":"core.delay"`))
	shown, err := w.g.Run(t.Context(), a.Session.RunID.String())
	if err != nil || shown.Pending == nil || shown.Pending.Host == nil || shown.Pending.Host.TypeID != "core.delay" ||
		shown.Pending.Host.UntilMs != a.Pending.Host.UntilMs || a.Pending.Host.UntilMs == 0 || shown.WaitUntilMs != 0 {
		t.Errorf("%+v, %v", shown.Pending, err)
	}
	if due, err := w.g.Due(t.Context(), 1<<50); err != nil || len(due.Items) != 0 || due.Ahead != 0 {
		t.Errorf("a step of the host is due for 'run': %+v, %v", due, err)
	}
}
