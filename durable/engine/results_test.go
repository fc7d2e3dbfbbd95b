package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/resume"
)

// plainSteps is a workflow of n steps with guidance.
func plainSteps(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"id":"s%d","title":"Step %d","prompt":"p"}`, i, i))
	}
	return `{"id":"test.plain","name":"Plain","description":"d","version":"1.0.0","metaGuidance":["Be brief."],
	 "steps":[` + strings.Join(all, ",") + `]}`
}

// handing is an attempt with notes and artifacts.
func handing(notes string, artifacts ...advance.Artifact) advance.Request {
	return advance.Request{Notes: notes, Artifacts: artifacts}
}

func plainText(s string) advance.Artifact {
	return advance.Artifact{ContentType: "text/plain", Bytes: []byte(s)}
}

const resultsHeading = "## Results of the steps before\n"

// TestResultsReachTheNextStep, and a resumed chat: those of the path and no others.
func TestResultsReachTheNextStep(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(plainSteps(5))
	if strings.Contains(a.Pending.Prompt, resultsHeading) || w.look(a.StateToken).Recap != "" {
		t.Error("the first step has steps before it")
	}
	b := w.must(a, handing("n0", report("demo.r", "zero"), plainText("# a text")))
	c := w.must(b, handing("n1", report("demo.r", "one")))
	seen := w.look(c.StateToken)
	if seen.Pending.Prompt != c.Pending.Prompt {
		t.Error("a rehydrate shows another prompt")
	}
	for name, text := range map[string]string{"prompt": c.Pending.Prompt, "recap": seen.Recap} {
		at := 0
		for _, want := range []string{resultsHeading, "### Step 1 (s1)\n\n- demo.r, application/json, ",
			"`waybill artifacts get " + canon.Sum(report("demo.r", "one").Bytes).String() + "`\n  > {\"kind\":\"demo.r\"",
			"### Step 0 (s0)\n\n- ", "`waybill artifacts get sha256:"} {
			i := strings.Index(text[at:], want)
			if i < 0 {
				t.Fatalf("%s: %q is missing, or not in order:\n%s", name, want, text)
			}
			at += i
		}
		if !strings.Contains(text, "\n  > # a text") ||
			strings.Contains(text, "\n# a text") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	if !strings.HasPrefix(seen.Recap, "## Rules of this workflow\n\n- Be brief.\n\n## Done before this step") {
		t.Errorf("the guidance is missing:\n%s", seen.Recap)
	}
	// A branch from an earlier node has the results of its own path only.
	other := w.must(w.must(w.look(a.StateToken), note("another way")), note("on"))
	if strings.Contains(other.Pending.Prompt, `"one"`) || strings.Contains(w.look(other.StateToken).Recap, `"one"`) {
		t.Errorf("results of another branch:\n%s", other.Pending.Prompt)
	}
	forked := w.mustFork(c.Position(), "again")
	if got := w.look(forked.StateToken).Recap; !strings.Contains(got, "`waybill runs show "+a.Session.RunID.String()+"`") {
		t.Errorf("the origin is missing:\n%s", got)
	}
}

// TestAnswersWithResultsAreReplayed: a long run in several processes, with saved folds, gives the same
// answers as a replay over the whole prefix, byte for byte.
func TestAnswersWithResultsAreReplayed(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(plainSteps(120))
	for i := range 100 {
		req := handing(fmt.Sprintf("n%d", i))
		if i%3 > 0 {
			req.Artifacts = []advance.Artifact{report("demo.r", fmt.Sprintf("<%d>", i)), plainText(strings.Repeat("é", 300*i))}
		}
		next := w.must(a, req)
		if i%17 == 16 {
			w.g.Flush(context.Background())
			w.g = w.process()
		}
		if i%10 == 0 || i > 90 {
			replayed, err := w.process().Continue(context.Background(), w.by(), engine.Continue{StateToken: a.StateToken,
				AckToken: a.AckToken, Request: req})
			if err != nil || text(t, replayed) != text(t, next) {
				t.Fatalf("%d: %v\n%s\n%s", i, err, text(t, replayed), text(t, next))
			}
		}
		if seen := w.look(next.StateToken); seen.Pending.Prompt != next.Pending.Prompt ||
			len(seen.Recap) > limits.RecapBytesMax || i > 0 && !strings.Contains(seen.Recap, resultsHeading) {
			t.Fatalf("%d:\n%s\n%s", i, seen.Pending.Prompt, seen.Recap)
		}
		a = next
	}
}

// TestErasedAndLargeResults: a resumed chat does not get what was erased, also in a process that
// read it before; what is too large is not read.
func TestErasedAndLargeResults(t *testing.T) {
	t.Parallel()
	w := newCleanupFixture(t)
	secret := plainText("hunter2 is the word")
	large := plainText(strings.Repeat("L", limits.ResultsReadBytesMax-len(secret.Bytes)+1))
	a := w.must(w.start(plainSteps(5)), handing("n", large))
	a = w.must(a, handing("n", secret))
	if got := a.Pending.Prompt; !strings.Contains(got, "hunter2") || !strings.Contains(got, "not quoted for its size") ||
		strings.Contains(got, "LLL") {
		t.Errorf("%s", got)
	}
	if _, err := w.erase(canon.Sum(secret.Bytes), "a secret"); err != nil {
		t.Fatal(err)
	}
	if got := w.look(a.StateToken); strings.Contains(text(t, got), "hunter2") ||
		!strings.Contains(got.Recap, "text/plain, 19 bytes, erased, whole: ") {
		t.Errorf("%s", text(t, got))
	}
	if b := w.must(a, note("on")); strings.Contains(b.Pending.Prompt, "hunter2") {
		t.Error("what is erased is shown again")
	}
}

// TestDamagedResultsAreNotAnswered: no answer is given over changed bytes.
func TestDamagedResultsAreNotAnswered(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	r := report("demo.r", "one")
	a := w.must(w.start(plainSteps(3)), handing("n", r))
	w.flip("artifacts/"+canon.Sum(r.Bytes).FileName(), 3)
	w.g = w.process()
	if _, err := w.g.Rehydrate(context.Background(), a.Position()); !fault.Is(err, fault.StoreCorrupt) {
		t.Errorf("%v", err)
	}
}

// TestResultsAtThisStep: a resumed chat gets what a refused attempt brought, as a result of this
// step.
func TestResultsAtThisStep(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.must(w.start(twoSteps), handing("not yet", report("draft", "1")))
	if a.Kind() != "blocked" || strings.Contains(a.Pending.Prompt, resultsHeading) {
		t.Fatalf("%+v", a)
	}
	if got := w.look(a.StateToken).Recap; !strings.Contains(got, "not yet\n\n- draft, application/json, 28 bytes, whole: ") ||
		!strings.Contains(got, "\n  > {\"kind\":\"draft\",\"value\":\"1\"}") {
		t.Errorf("%s", got)
	}
}

// TestApprovalIsAnnounced only where its condition holds, and stays once it was required.
func TestApprovalIsAnnounced(t *testing.T) {
	t.Parallel()
	const conditional = `{"id":"test.if","name":"If","description":"d","version":"1.0.0","steps":[
	 {"id":"plan","title":"Plan","prompt":"p","requireConfirmation":{"kind":"human_approval","condition":{"var":"risky","equals":true}}},
	 {"id":"build","title":"Build","prompt":"p"}]}`
	w := newFixture(t)
	a := w.start(conditional)
	if a.NextIntent != engine.PerformThenContinue || a.Pending.RequireConfirmation != engine.GuidedConfirmation(false) ||
		strings.Contains(a.Pending.Prompt, "approve") {
		t.Errorf("%+v", a.Pending)
	}
	blocked := w.must(a, advance.Request{Notes: "n",
		Context: canon.OfMembers(canon.Member{Name: "risky", Value: canon.OfBool(true)})})
	if blocked.Kind() != "blocked" || !strings.HasSuffix(blocked.Pending.Prompt, "`waybill approve "+
		a.Session.RunID.String()+"`") {
		t.Fatalf("%+v", blocked)
	}
	off := w.must(blocked, advance.Request{Context: canon.OfMembers(canon.Member{Name: "risky", Value: canon.OfBool(false)})})
	if off.Kind() != "blocked" || off.Pending.RequireConfirmation != blocked.Pending.RequireConfirmation ||
		off.NextIntent != engine.AwaitConfirmation {
		t.Errorf("%+v", off.Pending)
	}
	if b := w.must(w.mustApprove(off, ""), advance.Request{}); b.Pending.StepID != "build" ||
		!strings.Contains(b.Pending.Prompt, "- Approved by a person, who is named \"ada\"") {
		t.Errorf("%+v", b.Pending)
	}
}

// TestCheckpointsOfACandidate: a search for a run shows the work in progress.
func TestCheckpointsOfACandidate(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.must(w.start(plainSteps(3)), note("began"))
	a = w.mustKeep(w.mustKeep(a, note("first")), note("second "+strings.Repeat("é", 2000)))
	list := w.resume(resume.Query{Run: a.Session.RunID})
	c := list.Candidates[0].Checkpoint
	if c == nil || !strings.HasPrefix(c.Notes, "second é") || len(c.Notes) > limits.ResumeSnippetBytesMax ||
		c.At == "" || c.NodeID == a.NodeID {
		t.Fatalf("%+v", c)
	}
	run, err := w.g.Run(context.Background(), a.Session.RunID.String())
	if err != nil || len(run.Steps[1].Checkpoints) != 2 || run.Steps[1].Checkpoints[0].Notes != "first" ||
		run.Steps[0].Checkpoints != nil {
		t.Errorf("%v, %+v", err, run.Steps)
	}
}
