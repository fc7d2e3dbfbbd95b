package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/projections/runs"
)

const approving = `{"id":"test.approving","name":"Approving","description":"d","version":"1.0.0","steps":[
 {"id":"plan","title":"Plan","prompt":"p","requireConfirmation":{"kind":"human_approval"}},
 {"id":"build","title":"Build","prompt":"p"}]}`

func (w *fixture) person(ref string) engine.Caller {
	by := w.by()
	by.Actor = event.Actor{Kind: event.Human, Ref: ref}
	return by
}

func (w *fixture) mustApprove(a engine.Answer, comment string) engine.Answer {
	w.Helper()
	out, err := w.g.Approve(context.Background(), w.person("ada"), a.Position(), comment)
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// TestApprovalLetsAStepPass: submitted, refused for want of an approval, approved, and passed by an
// attempt that brings nothing new, in every mode (docs/design.md#requirements-on-the-caller).
func TestApprovalLetsAStepPass(t *testing.T) {
	t.Parallel()
	for _, autonomy := range []event.Autonomy{event.Guided, event.FullAutoStopOnUserDeps, event.FullAutoNeverStop} {
		t.Run(string(autonomy), func(t *testing.T) {
			w := newFixture(t)
			a := w.start(approving)
			wait, done := engine.HumanApproval{Kind: "human_approval"}, engine.HumanApproval{Kind: "human_approval", Approved: true}
			line := "`waybill approve " + a.Session.RunID.String() + "`"
			if a.NextIntent != engine.AwaitConfirmation || a.OutputsSubmitted() || a.Pending.RequireConfirmation != wait ||
				!strings.HasSuffix(a.Pending.Prompt, line) || !slices.Contains(a.Next.Command, "--notes") {
				t.Errorf("the approval is not announced: %+v, %+v", a, a.Pending)
			}
			blocked := w.must(a, advance.Request{Notes: "the plan", Artifacts: []advance.Artifact{report("plan", "1")},
				Preferences: []event.PreferenceChange{{Key: "autonomy", Value: string(autonomy)}}})
			if blocked.Kind() != "blocked" || blocked.Status != runs.Blocked ||
				blocked.NextIntent != engine.AwaitConfirmation || !blocked.OutputsSubmitted() ||
				blocked.Pending.RequireConfirmation != wait {
				t.Fatalf("%+v", blocked)
			}
			if strings.Contains(strings.Join(blocked.Next.Command, " "), "--notes") ||
				blocked.Next.Params["output"] != nil {
				t.Error("the suggested call would void the approval:", blocked.Next)
			}
			ok := w.mustApprove(blocked, "go ahead")
			if ok.Kind() != "step" || ok.Status != runs.InProgress ||
				ok.NextIntent != engine.PerformThenContinue || !ok.OutputsSubmitted() ||
				ok.AckToken != blocked.AckToken || ok.Pending.RequireConfirmation != done ||
				!strings.Contains(ok.Pending.Prompt, "- A person approved the outputs with "+line) {
				t.Fatalf("%+v", ok)
			}
			if b := w.must(ok, advance.Request{}); b.Pending == nil || b.Pending.StepID != "build" ||
				b.Status != runs.InProgress {
				t.Fatalf("%+v", b)
			}
			if v, err := w.process().VerifySession(context.Background(), engine.Last); err != nil || !v.OK ||
				len(v.Findings) > 0 {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
}

func TestApprovingTwice(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.must(w.start(approving), note("the plan"))
	want := w.mustApprove(a, "fine")
	n := w.events(a)
	w.g = w.process()
	if got := w.mustApprove(a, "fine"); text(t, got) != text(t, want) || w.events(a) != n {
		t.Errorf("%s\n%s", text(t, got), text(t, want))
	}
	other := w.mustApprove(a, "in other words")
	if len(other.Warnings) != 1 || other.Warnings[0].Code != warning.ReplayDiffers || w.events(a) != n {
		t.Error(other.Warnings)
	}
}

// TestOtherOutputsVoidAnApproval: the next approval is of the new outputs.
func TestOtherOutputsVoidAnApproval(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.must(w.start(approving), note("plan A"))
	ok := w.mustApprove(a, "")
	refused := w.must(ok, note("plan B"))
	if refused.Kind() != "blocked" || refused.NextIntent != engine.AwaitConfirmation {
		t.Fatalf("%+v", refused)
	}
	again := w.must(refused, advance.Request{})
	if again.Kind() != "blocked" {
		t.Fatal("an approval of other outputs counts")
	}
	if b := w.must(w.mustApprove(again, ""), note("plan B")); b.Pending.StepID != "build" {
		t.Fatalf("%+v", b)
	}
	// Another branch of the node does not inherit an approval.
	back := w.look(a.StateToken)
	if c := w.must(back, note("plan C")); c.Kind() != "blocked" {
		t.Errorf("%+v", c)
	}
}

func TestApprovalRefusals(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	plain, a := w.start(longOne), w.must(w.start(approving), note("x"))
	unknown := a.Position()
	unknown.Node = id.RootNode(plain.Session.RunID)
	for name, tc := range map[string]struct {
		by   engine.Caller
		at   engine.Position
		code fault.Code
		says string
	}{
		"an agent":     {w.by(), a.Position(), fault.RunWaiting, "agent"},
		"another step": {w.person(""), plain.Position(), fault.ValidationError, `"s0"`},
		"no such node": {w.person(""), unknown, fault.TokenUnknownNode, "no node"},
	} {
		t.Run(name, func(t *testing.T) {
			n := w.events(a)
			_, err := w.g.Approve(context.Background(), tc.by, tc.at, "")
			if !fault.Is(err, tc.code) || !strings.Contains(err.Error(), tc.says) ||
				fault.Of(err).Suggestion.String() == "" ||
				w.events(a) != n {
				t.Fatal(err)
			}
		})
	}
}

// TestApprovalOfACheckpointedStep: the outputs of a checkpoint are not those of the step: they
// neither void an approval nor count for it.
func TestApprovalOfACheckpointedStep(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.must(w.start(approving), note("plan"))
	ok := w.mustApprove(w.mustKeep(a, note("draft")), "")
	ok = w.mustKeep(ok, note("another draft"))
	at := ok.Position()
	at.Node = id.ChildNode(a.NodeID, a.CheckpointID, id.OpCheckpoint)
	if again, err := w.g.Approve(context.Background(), w.person("ada"), at, ""); err != nil ||
		again.NodeID != a.NodeID || len(again.Warnings) > 0 {
		t.Fatalf("%+v, %v", again, err)
	}
	if b := w.must(ok, advance.Request{}); b.Pending.StepID != "build" {
		t.Fatalf("%+v", b)
	}
}
