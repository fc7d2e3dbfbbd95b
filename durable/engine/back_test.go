package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/ports"
)

// TestBranchesKeepTheirOutputs: what an attempt on one branch records at a node that both have is not
// shown to the other one, neither its results nor its notes, and an answer that was given stays as it
// was.
func TestBranchesKeepTheirOutputs(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(plainSteps(4))
	b := w.must(a, handing("notes of the first way", report("demo.r", "first")))
	c := w.must(b, note("on"))
	before := w.look(c.StateToken)
	other := w.must(w.look(a.StateToken), handing("notes of the second way, "+strings.Repeat("x", 5000),
		report("demo.r", "second")))
	third := w.must(w.look(a.StateToken), handing("notes of the third way", report("demo.r", "third")))
	for _, g := range []*engine.Engine{w.g.Engine, w.process().Engine} {
		for name, way := range map[string]engine.Answer{"first": c, "second": other, "third": third} {
			at, err := g.Rehydrate(context.Background(), way.Position())
			must(t, err)
			for _, other := range []string{"first", "second", "third"} {
				for what, text := range map[string]string{"prompt": at.Pending.Prompt, "recap": at.Recap} {
					if has := strings.Contains(text, `"`+other+`"`); has != (name == other) {
						t.Errorf("%s of the %s way has results of the %s: %v:\n%s", what, name, other, has, text)
					}
				}
				if has := strings.Contains(at.Recap, "notes of the "+other); has != (name == other) {
					t.Errorf("recap of the %s way has notes of the %s: %v:\n%s", name, other, has, at.Recap)
				}
			}
			if cut := strings.Contains(text(t, at), "NOTES_TRUNCATED"); cut != (name == "second") {
				t.Errorf("the %s way warns of cut notes: %v", name, cut)
			}
		}
	}
	if after := w.look(c.StateToken); after.Pending.Prompt != before.Pending.Prompt || after.Recap != before.Recap {
		t.Errorf("the answer changed:\n%s\n%s", before.Recap, after.Recap)
	}
	// The steps of a run are those of its preferred branch, with the artifacts that are current there.
	w.must(c, note("further"))
	run, err := w.g.Run(context.Background(), a.Session.RunID.String())
	must(t, err)
	var current []canon.Digest
	for _, row := range run.Steps[0].Artifacts {
		if row.Current {
			current = append(current, row.SHA256)
		}
	}
	if first := canon.Sum(report("demo.r", "first").Bytes); run.Steps[0].Notes != "notes of the first way" ||
		len(current) != 1 || current[0] != first {
		t.Errorf("step with %q and %v, want %v", run.Steps[0].Notes, current, first)
	}
	// The next attempt at the node itself starts from what is current there.
	if at := w.look(a.StateToken); !strings.Contains(at.Recap, "notes of the third way") {
		t.Errorf("at the node:\n%s", at.Recap)
	}
}

// contextOf parses a context.
func contextOf(t *testing.T, text string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	must(t, err)
	return v
}

const gatedFlow = `{"id":"test.gated","name":"Gated","description":"d","version":"1.0.0","steps":[
 {"id":"ask","title":"Ask","prompt":"p","inputs":[{"contextKey":"who","reason":"needs_user_artifact","description":"d"}]},
 {"id":"build","title":"Build","outputs":{"commit":"stdout"},
  "action":{"kind":"command","argv":["make","all"]}},{"id":"after","title":"After","prompt":"p"}]}`

// TestBranchesRunCommandsAgain: at a command step that is repeated neither the result of the branch
// before nor a value that was given for it counts.
func TestBranchesRunCommandsAgain(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(gatedFlow)
	build := w.must(a, advance.Request{Context: contextOf(t, `{"who":"me"}`)})
	perform := func(at engine.Answer, req advance.Request) (out engine.Answer) {
		t.Helper()
		must(t, w.hold(at.Session.SessionID, func(h ports.Hold) (err error) {
			out, err = w.g.Perform(context.Background(), h, w.by(), at.Position(), at.AttemptID, req)
			return err
		}))
		return out
	}
	// The command did not print the commit: refused, then given by the caller.
	refused := perform(build, madeUp(t))
	if len(refused.Blockers) != 1 || refused.Blockers[0].Pointer.Key != "commit" {
		t.Fatalf("%+v", refused.Blockers)
	}
	given := w.must(refused, advance.Request{Context: contextOf(t, `{"commit":"c1"}`)})
	if given.Pending == nil || given.Pending.StepID != "after" {
		t.Fatalf("%+v", given)
	}
	// The same value does not do for the branch: first its command runs.
	again, err := w.next(w.look(build.StateToken), advance.Request{Context: contextOf(t, `{"commit":"c2"}`)})
	must(t, err)
	if len(again.Blockers) != 1 || again.Blockers[0].Pointer.StepID != "build" || again.Result != nil {
		t.Fatalf("the result of the earlier branch was taken: %+v, %+v", again.Blockers, again.Result)
	}
	// What was given in this branch counts with the result of this branch.
	done := perform(again, madeUp(t))
	if len(done.Blockers) > 0 || done.Pending.StepID != "after" {
		t.Fatalf("%+v", done.Blockers)
	}
	for at, want := range map[id.Node]string{given.NodeID: "c1", done.NodeID: "c2"} {
		p := done.Position()
		p.Node = at
		seen, err := w.g.Rehydrate(context.Background(), p)
		must(t, err)
		if commit, _ := seen.Context().Get("commit"); commit.Text() != want {
			t.Errorf("commit is %q, want %q", commit.Text(), want)
		}
	}
	// A third branch has neither.
	third := perform(w.look(build.StateToken), madeUp(t))
	if len(third.Blockers) != 1 || third.Blockers[0].Pointer.Key != "commit" {
		t.Errorf("a value given on another branch was taken: %+v", third.Blockers)
	}
	d, err := w.g.Replay(context.Background(), done.Position())
	if err != nil || d.Difference != nil {
		t.Errorf("replay: %+v, %v", d, err)
	}
	if v, err := w.g.Verify(context.Background()); err != nil || !v.OK {
		t.Errorf("verify: %+v, %v", v, err)
	}
}

// TestApprovalIsOfItsBranch: an approval at a node that is done again is no result of the branch that
// left it before.
func TestApprovalIsOfItsBranch(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(approving)
	refused, err := w.next(a, note("plan A"))
	must(t, err)
	approved := w.mustApprove(refused, "first comment")
	b := w.must(approved, advance.Request{})
	again, err := w.next(w.look(a.StateToken), note("plan B"))
	must(t, err)
	if len(again.Blockers) != 1 {
		t.Fatalf("other outputs passed with the approval of the first: %+v", again)
	}
	w.mustApprove(again, "second comment")
	if got := w.look(b.StateToken).Pending.Prompt; !strings.Contains(got, "first comment") ||
		strings.Contains(got, "second comment") {
		t.Errorf("the first branch has the approval of the second:\n%s", got)
	}
}
