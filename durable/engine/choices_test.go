package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
)

// choosing is an input that takes its choices from a step.
func choosing(key, step, pointer string) string {
	return `"inputs":[{"contextKey":"` + key + `","reason":"needs_user_choice","choiceKind":"scope_boundary","description":"which",` +
		`"choicesFrom":{"step":"` + step + `","pointer":"` + pointer + `"}}]`
}

// choosingFlow has n steps between the one with the list and the one that asks.
func choosingFlow(n int) string {
	var between strings.Builder
	for i := range n {
		fmt.Fprintf(&between, `{"id":"s%d","title":"S","prompt":"p"},`, i)
	}
	return `{"id":"test.choose","name":"Choose","description":"d","version":"1.0.0","steps":[
 {"id":"plan","title":"Plan","prompt":"p"},` + between.String() + `
 {"id":"ask","title":"Ask","prompt":"p",` + choosing("target", "plan", "/targets") + `},{"id":"end","title":"End","prompt":"p"}]}`
}

// targets is an artifact with a list of targets.
func targets(kind, list string) advance.Request {
	v, err := canon.Parse([]byte(`{"kind":"` + kind + `","targets":` + list + `}`))
	if err != nil {
		panic(err)
	}
	return advance.Request{Artifacts: []advance.Artifact{advance.JSONArtifact(v)}}
}

// choose is an attempt that sets a context key to a JSON value.
func choose(t *testing.T, key, value string) advance.Request {
	return advance.Request{Context: contextOf(t, `{"`+key+`":`+value+`}`)}
}

// mustRefuse makes an attempt that is refused for one input, with words in the blocker.
func (w *fixture) mustRefuse(a engine.Answer, req advance.Request, words string) engine.Answer {
	w.Helper()
	out := w.must(a, req)
	if len(out.Blockers) != 1 || !strings.Contains(out.Blockers[0].Message+out.Blockers[0].SuggestedFix, words) {
		w.Fatalf("want %q, got %+v", words, out.Blockers)
	}
	return out
}

// mustPass makes an attempt that leads to a step, "" for the end.
func (w *fixture) mustPass(a engine.Answer, req advance.Request, step string) engine.Answer {
	w.Helper()
	out := w.must(a, req)
	if got := ""; len(out.Blockers) > 0 || (out.Pending == nil) != (step == "") || out.Pending != nil && out.Pending.StepID != step {
		w.Fatalf("want %q, got %q, %+v, %+v", step, got, out.Pending, out.Blockers)
	}
	return out
}

// decidedAgain checks that the run of an answer replays, and that the store verifies.
func (w *fixture) decidedAgain(a engine.Answer) {
	w.Helper()
	w.replays(a.Position())
	if v, err := w.process().Verify(context.Background()); err != nil || !v.OK {
		w.Errorf("verify: %v, %+v", err, v)
	}
}

// TestChoicesOfAResult: a value out of the list is refused with the list, the prompt and the next call
// name what is needed, and the corrected value completes the step. A branch has the list of its path.
func TestChoicesOfAResult(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	plan := w.start(choosingFlow(0))
	ask := w.mustPass(plan, targets("demo.plan", `["north", 3, "\n## Done\u202e"]`), "ask")
	const shown = `- which (context key target; one of "north", 3, "\n## Done\u202e")`
	if !strings.Contains(ask.Pending.Prompt, shown) || !strings.Contains(fmt.Sprint(ask.Next.Command), "target=…") {
		t.Errorf("%s\n%v", ask.Pending.Prompt, ask.Next.Command)
	}
	refused := w.mustRefuse(ask, choose(t, "target", `"south"`), `is "south", which is none of its choices: "north", 3, "\n## Done\u202e".`)
	if !strings.Contains(refused.Pending.Prompt, `(context key target, now "south", which is not accepted; one of "north", 3,`) ||
		!strings.Contains(fmt.Sprint(refused.Next.Command), "target=…") {
		t.Errorf("%s\n%v", refused.Pending.Prompt, refused.Next.Command)
	}
	w.mustRefuse(refused, advance.Request{}, `is "south"`)
	end := w.mustPass(w.look(ask.StateToken), choose(t, "target", "3"), "end")
	// A branch from the plan has another list, and the first branch keeps its own.
	other := w.mustPass(w.look(plan.StateToken), targets("demo.plan", `["south"]`), "ask")
	w.mustRefuse(other, choose(t, "target", "3"), `choices: "south"`)
	w.mustPass(w.look(other.StateToken), choose(t, "target", `"south"`), "end")
	w.mustRefuse(w.look(ask.StateToken), choose(t, "target", `"south"`), `choices: "north", 3`)
	w.mustPass(w.look(ask.StateToken), choose(t, "target", `"north"`), "end")
	w.decidedAgain(end)
	// A fork has no node of the plan: nothing is accepted, and the reason says so.
	forked := w.mustFork(ask.Position(), "again")
	if !strings.Contains(forked.Pending.Prompt, "the run was forked after that step") {
		t.Errorf("%s", forked.Pending.Prompt)
	}
	w.mustRefuse(forked, choose(t, "target", `"north"`), "the run was forked after that step")
	w.decidedAgain(forked)
	again := w.mustFork(plan.Position(), "from the plan")
	asked := w.mustPass(again, targets("demo.plan", `["west"]`), "ask")
	w.decidedAgain(w.mustPass(asked, choose(t, "target", `"west"`), "end"))
}

// TestChoicesWithoutList: what a step handed in must be a list; the newest artifact that is JSON
// counts, and never-stop records a gap.
func TestChoicesWithoutList(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		handed advance.Request
		words  string
	}{
		"nothing":     {advance.Request{}, "handed in no JSON artifact"},
		"text":        {handing("n", plainText(`{"targets":["a","b"]}`)), "handed in no JSON artifact"},
		"whole notes": {note(strings.Repeat("n", 5000)), "handed in no JSON artifact"},
		"no list":     {targets("demo.plan", `"a"`), `"/targets": it is a string`},
		"bad entry":   {targets("demo.plan", `["a", null]`), "entry 1 is absent or null"},
		"too large":   {targets("demo.plan", `["`+strings.Repeat("x", 4<<20)+`"]`), "bytes, at most 4194304 are read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			a := w.mustPass(w.start(choosingFlow(0)), row.handed, "ask")
			refused := w.mustRefuse(a, choose(t, "target", `"a"`), row.words)
			if !strings.Contains(refused.Blockers[0].SuggestedFix, `Go back to step "plan"`) {
				t.Errorf("%+v", refused.Blockers)
			}
			w.replays(refused.Position())
		})
	}
	w := newFixture(t)
	a := w.mustPass(w.start(choosingFlow(0)), advance.Request{}, "ask")
	passed := w.mustPass(a, advance.Request{Preferences: []event.PreferenceChange{{Key: "autonomy", Value: string(event.FullAutoNeverStop)}}, Context: contextOf(t, `{"target":"x"}`)}, "end")
	w.decidedAgain(passed)
}

// TestChoicesInLoops: an iteration has the list of its own step, or of the latest iteration that
// performed it, and each iteration that of a step before the loop.
func TestChoicesInLoops(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(`{"id":"test.loop","name":"Loop","description":"d","version":"1.0.0","steps":[
 {"id":"plan","title":"Plan","prompt":"p"},
 {"id":"rounds","title":"Rounds","type":"loop","loop":{"type":"for","count":3,"maxIterations":3,"iterationVar":"n"},"body":[
  {"id":"make","title":"Make","prompt":"p","runCondition":{"var":"n","not_equals":2}},
  {"id":"inner","title":"Inner","type":"loop","loop":{"type":"for","count":1,"maxIterations":1},"body":[
   {"id":"pick","title":"Pick","prompt":"p",` + choosing("picked", "make", "/targets") + `}]},
  {"id":"use","title":"Use","prompt":"p",` + choosing("used", "plan", "/targets") + `}]}]}`)
	a = w.mustPass(a, targets("demo.plan", `["p"]`), "make")
	for n, own := range []string{"r0", "r0", "r2"} {
		if n != 1 {
			a = w.mustPass(a, targets("demo.round", `["`+own+`"]`), "pick")
		}
		if n > 0 {
			a = w.mustRefuse(a, choose(t, "picked", `"other"`), `choices: "`+own+`"`)
		}
		a = w.mustPass(a, choose(t, "picked", `"`+own+`"`), "use")
		a = w.mustRefuse(a, choose(t, "used", `"`+own+`"`), `choices: "p"`)
		a = w.mustPass(a, choose(t, "used", `"p"`), []string{"pick", "make", ""}[n])
	}
	w.decidedAgain(a)
}

// TestChoicesOfAStepPassedOver: a step that did not run has no list.
func TestChoicesOfAStepPassedOver(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(`{"id":"test.over","name":"Over","description":"d","version":"1.0.0","steps":[{"id":"first","title":"F","prompt":"p"},
 {"id":"plan","title":"Plan","prompt":"p","runCondition":{"var":"x","equals":1}},
 {"id":"ask","title":"Ask","prompt":"p",` + choosing("target", "plan", "") + `}]}`)
	a = w.mustPass(a, targets("demo.plan", `["a"]`), "ask")
	w.decidedAgain(w.mustRefuse(a, choose(t, "target", `"a"`), "the step was passed over"))
}

// TestChoicesOfACommand: the whole stdout of the command is the result, until an artifact is handed in.
func TestChoicesOfACommand(t *testing.T) {
	t.Parallel()
	for stdout, words := range map[string]string{`["a", 2]`: "", "[\"a\", 2]\n": "", `["a"] x`: "not one JSON text", "": "not one JSON text"} {
		w := newFixture(t)
		a := w.start(`{"id":"test.command","name":"Command","description":"d","version":"1.0.0","steps":[
 {"id":"list","title":"List","action":{"kind":"command","argv":["make","all"]}},
 {"id":"ask","title":"Ask","prompt":"p",` + choosing("target", "list", "") + `}]}`)
		v, err := canon.ValueOf(command.Result{Kind: command.Kind, Tries: 1, OutputDigest: canon.Sum(nil), Stderr: &command.Stream{},
			Stdout:     &command.Stream{Bytes: int64(len(stdout)), Head: stdout},
			ArgvDigest: command.ArgvDigest(source.Action{Argv: []string{"make", "all"}})})
		must(t, err)
		must(t, w.hold(a.Session.SessionID, func(h ports.Hold) (err error) {
			a, err = w.g.Perform(context.Background(), h, w.by(), a.Position(), a.AttemptID,
				advance.Request{Artifacts: []advance.Artifact{advance.JSONArtifact(v)}})
			return err
		}))
		if words != "" {
			a = w.mustRefuse(a, choose(t, "target", "2"), words)
		} else {
			a = w.mustRefuse(a, choose(t, "target", "3"), `choices: "a", 2`)
			a = w.mustPass(a, choose(t, "target", "2"), "")
		}
		w.decidedAgain(a)
	}
}

// TestChoicesOfALongRun: the step with the list is older than what a process keeps of the run.
func TestChoicesOfALongRun(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.mustPass(w.start(choosingFlow(100)), targets("demo.plan", `["a", "b"]`), "s0")
	for range 100 {
		a = w.must(a, advance.Request{})
	}
	w.g.Flush(context.Background())
	for range 2 {
		w.g = w.process()
		if seen := w.look(a.StateToken); !strings.Contains(seen.Pending.Prompt, `one of "a", "b"`) {
			t.Fatalf("%s", seen.Pending.Prompt)
		}
		w.g = w.process()
		a = w.mustRefuse(a, choose(t, "target", `"c"`), `choices: "a", "b"`)
		w.g = w.process()
	}
	w.decidedAgain(w.mustPass(a, choose(t, "target", `"b"`), "end"))
}

// TestChoicesOfAnErasedResult: without the artifact nothing is accepted, and the replay says that it
// cannot be decided again.
func TestChoicesOfAnErasedResult(t *testing.T) {
	t.Parallel()
	w := newCleanupFixture(t)
	plan := targets("demo.plan", `["a"]`)
	a := w.mustPass(w.start(choosingFlow(0)), plan, "ask")
	a = w.mustRefuse(a, choose(t, "target", `"b"`), `choices: "a"`)
	if _, err := w.erase(canon.Sum(plan.Artifacts[0].Bytes), "a mistake"); err != nil {
		t.Fatal(err)
	}
	a = w.mustRefuse(w.look(a.StateToken), choose(t, "target", `"a"`), "the artifact was erased")
	got, err := w.process().Replay(context.Background(), a.Position())
	if err != nil || got.Difference != nil || len(got.Undecided) == 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
