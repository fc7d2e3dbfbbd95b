package engine_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

// cups is a workflow of another program with a counted loop, whose length that program does not
// store.
func cups() object {
	return object{"id": "tea-for-all", "name": "Tea for all", "description": "d", "version": "1.0.0", "steps": []object{
		foreignStep("boil", "Boil the water"),
		{"id": "pour", "title": "Pour", "type": "loop", "loop": object{"type": "forEach", "items": "cups",
			"maxIterations": 5}, "body": []object{foreignStep("fill", "Fill {{currentItem}}"),
			foreignStep("stir", "Stir")}},
		foreignStep("serve", "Serve it")}}
}

func pouring(n, body int) []object {
	return []object{{"loopId": "pour", "iteration": n, "bodyIndex": body}}
}

// forkable is a store of another program with one run, of which every kind of event is known: in
// the second iteration of a loop, with a refused attempt at its tip.
func forkable(t *testing.T, change func(*foreignLog)) (dir string, run string) {
	files := map[string][]byte{}
	l := beginKnown(t, files, 11, cups(), running("boil", nil), object{"cups": []string{"red", "blue", "green"}})
	l.close()
	l.advance("root", "fill0", "step", "intentional_fork", running("fill", pouring(0, 0), "boil", "onboarding"), "it boils")
	l.advance("fill0", "stir0", "step", "intentional_fork", running("stir", pouring(0, 1), "boil", "pour@0::fill"), "red")
	fill1 := running("fill", pouring(1, 0), "boil", "pour@0::fill", "pour@0::stir")
	l.advance("stir0", "fill1", "step", "intentional_fork", fill1, "stirred")
	l.advance("fill1", "no", "blocked_attempt", "intentional_fork", refused(fill1, "MISSING_REQUIRED_OUTPUT", "No cup."), "")
	if change != nil {
		change(l)
	}
	l.close()
	dir = filepath.Join(t.TempDir(), "theirs")
	writeFiles(t, dir, files)
	return dir, l.run.String()
}

// reading opens a store of another program in place.
func reading(t *testing.T, dir string) *enginetest.Engine {
	s, err := openUnsynced(t, dir, filestore.Options{LockWait: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return over(s)
}

// tree is every file of a directory with content and time, and every directory.
func tree(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			out[path] = info.ModTime().String() + info.Mode().String()
		}
		if err == nil && !d.IsDir() {
			data, err := os.ReadFile(path)
			out[path] += string(data)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestForkFromAStoreOfAnotherProgram: a run whose kinds are all known continues in a store of ours,
// from inside a loop and from before the refused attempt, to its end; theirs is not touched.
func TestForkFromAStoreOfAnotherProgram(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir, run := forkable(t, nil)
	theirs, w := reading(t, dir), newFixture(t)
	before := tree(t, dir)
	if shown, err := theirs.Run(ctx, run); err != nil || len(shown.UnknownKinds) != 0 {
		t.Errorf("kinds of events that are shown as not known: %q, %v", shown.UnknownKinds, err)
	}
	for ref, steps := range map[string][]string{
		"":     {"pour@1::fill", "pour@1::stir", "pour@2::fill", "pour@2::stir", "serve"},
		"boil": {"boil", "pour@0::fill", "pour@0::stir", "pour@1::fill", "pour@1::stir", "pour@2::fill", "pour@2::stir", "serve"},
	} {
		at, err := theirs.LocateNode(ctx, run, ref)
		must(t, err)
		from, err := theirs.ForkPoint(ctx, at)
		if err != nil {
			t.Fatalf("%q: %v", ref, err)
		}
		w.seeds++
		a, err := w.g.Fork(ctx, w.by(), id.Seed{w.seeds}, engine.ForkRequest{From: from})
		must(t, err)
		if p := a.Preferences; p.Autonomy != event.Guided || p.RiskPolicy != event.Conservative {
			t.Errorf("%q: preferences %+v", ref, p)
		}
		var seen []string
		for !a.IsComplete {
			seen = append(seen, a.Pending.StepInstanceKey)
			if a.Pending.StepID == "fill" && !strings.Contains("Fill red Fill blue Fill green", a.Pending.Title) {
				t.Errorf("%q: title %q", ref, a.Pending.Title)
			}
			a = w.must(a, note("done"))
		}
		if !slices.Equal(seen, steps) {
			t.Errorf("%q: steps %q, want %q", ref, seen, steps)
		}
		r, err := w.g.Run(ctx, a.Session.RunID.String())
		must(t, err)
		// The tip is a refused attempt: the fork begins before it.
		if f := r.ForkedFrom; f == nil || f.RunID.String() != run || r.Workflow.WorkflowID != "tea-for-all" ||
			(f.NodeID == at.Node) != (ref != "") {
			t.Errorf("%q: forked from %+v, workflow %+v", ref, f, r.Workflow)
		}
	}
	if v, err := w.g.Verify(ctx); err != nil || !v.OK {
		t.Errorf("verify of the forks: %+v, %v", v, err)
	}
	after := tree(t, dir)
	if len(after) != len(before) {
		t.Errorf("the other store has %d entries, before %d", len(after), len(before))
	}
	for path, content := range before {
		if after[path] != content {
			t.Errorf("%s was changed", path)
		}
	}
}

// TestForkRefusesWhatIsNotKnown: each fact of another program that a fork would lose or cannot
// carry out refuses it, by name, and nothing is written.
func TestForkRefusesWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	stuck := func(change func(state object)) func(*foreignLog) {
		return func(l *foreignLog) {
			s := running("stir", pouring(1, 1), "boil")
			change(s)
			l.advance("no", "odd", "step", "intentional_fork", s, "")
		}
	}
	for name, c := range map[string]struct {
		change func(*foreignLog)
		code   fault.Code
		want   string
	}{
		"unknown kinds": {func(l *foreignLog) {
			l.add("run_completed", l.ofRun(), object{})
			l.add("git_metrics_recorded", l.ofRun(), object{})
		}, fault.SessionUnhealthy, "git_metrics_recorded, run_completed"},
		"a member of the state": {stuck(func(s object) { s["timers"] = []int{1} }), fault.SessionUnhealthy, `"timers"`},
		"a state":               {stuck(func(s object) { s["kind"] = "sleeping" }), fault.SessionUnhealthy, `"sleeping"`},
		"a member of a frame": {stuck(func(s object) {
			s["loopStack"] = []object{{"loopId": "pour", "iteration": 1, "bodyIndex": 1, "until": 3}}
		}), fault.SessionUnhealthy, `"until"`},
		"a step that does not exist": {stuck(func(s object) {
			s["pending"] = object{"kind": "some", "step": object{"loopPath": []object{{"iteration": 1, "loopId": "pour"}},
				"stepId": "sip"}}
		}), fault.ValidationError, `"sip"`},
		"an iteration beyond the list": {stuck(func(s object) {
			s["loopStack"] = pouring(3, 1)
			s["pending"] = object{"kind": "some", "step": object{"loopPath": []object{{"iteration": 3, "loopId": "pour"}},
				"stepId": "stir"}}
		}), fault.ValidationError, "iteration 4"},
		"the end": {func(l *foreignLog) { l.advance("no", "end", "step", "intentional_fork", complete, "") },
			fault.ValidationError, "no step to perform"},
	} {
		dir, run := forkable(t, c.change)
		theirs, w := reading(t, dir), newFixture(t)
		at, err := theirs.LocateNode(ctx, run, "")
		must(t, err)
		from, err := theirs.ForkPoint(ctx, at)
		if err == nil {
			_, err = w.g.Fork(ctx, w.by(), id.Seed{1}, engine.ForkRequest{From: from})
		}
		if !fault.Is(err, c.code) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s with %s", name, err, c.code, c.want)
		}
		if list, err := w.g.Runs(ctx); err != nil || len(list.Runs) != 0 {
			t.Errorf("%s: the fork was recorded: %+v, %v", name, list, err)
		}
	}
}

// TestForkFromADamagedStore: no run continues from a log that is damaged.
func TestForkFromADamagedStore(t *testing.T) {
	t.Parallel()
	dir, run := forkable(t, nil)
	segments, err := filepath.Glob(filepath.Join(dir, "sessions", "*", "events", "*.jsonl"))
	must(t, err)
	data, err := os.ReadFile(segments[1])
	must(t, err)
	data[len(data)/2] ^= 1
	must(t, os.WriteFile(segments[1], data, 0o644))
	theirs := reading(t, dir)
	at, err := theirs.LocateNode(context.Background(), run, "")
	if err == nil {
		_, err = theirs.ForkPoint(context.Background(), at)
	}
	if !fault.Is(err, fault.SessionUnhealthy) {
		t.Error(err)
	}
}

// TestForkWithAnotherDefinition: the run continues by the edited workflow from the pending step, the
// log names both definitions, and one that does not fit is refused.
func TestForkWithAnotherDefinition(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	workflow := func(steps ...string) string {
		return `{"id":"test.rounds","name":"Rounds","description":"d","version":"1.0.0","steps":[` +
			strings.Join(steps, ",") + "]}"
	}
	step := func(id string) string { return `{"id":"` + id + `","title":"` + id + `","prompt":"p"}` }
	loop := func(id, kind string, body ...string) string {
		return `{"id":"` + id + `","title":"Round","type":"loop","loop":{` + kind + `},"body":[` + strings.Join(body, ",") +
			`]}`
	}
	twice, thrice := `"type":"for","count":2,"maxIterations":4`, `"type":"for","count":3,"maxIterations":4`
	before := workflow(step("first"), loop("round", twice, step("one"), step("two")), step("last"))
	a := w.start(before)
	for range 4 { // the second round's "two" is pending
		a = w.must(a, note("done"))
	}
	source := w.log(a.Session.SessionID)
	fork := func(text string) (engine.Answer, error) {
		w.seeds++
		return w.g.ForkAt(context.Background(), w.by(), id.Seed{w.seeds}, a.Position(), engine.ForkRequest{
			Definition: &engine.Definition{Workflow: w.compiled(text), SourceKind: event.SourceProject, SourceRef: "new.json"}})
	}
	for name, c := range map[string]struct {
		text  string
		steps []string
	}{
		"the same": {before, []string{"round@1::two", "last"}},
		"a step of the body before and after": {workflow(step("first"), loop("round", twice, step("zero"), step("one"),
			step("two"), step("three")), step("last")), []string{"round@1::two", "round@1::three", "last"}},
		"more at the end, a completed step less": {workflow(loop("round", twice, step("one"), step("two")), step("last"),
			step("after")), []string{"round@1::two", "last", "after"}},
		"a count that was read on entry": {workflow(step("first"), loop("round", thrice, step("one"), step("two")),
			step("last")), []string{"round@1::two", "last"}},
		"a new step before, in form 2": {workflow(step("zero"), step("first"), loop("round", twice, step("one"), step("two")),
			step("last")), []string{"round@1::two", "zero", "last"}},
	} {
		b, err := fork(c.text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if hash := w.compiled(c.text).Hash(); b.Workflow.WorkflowHash != hash {
			t.Errorf("%s: pinned to %s, want %s", name, b.Workflow.WorkflowHash, hash)
		}
		var seen []string
		run := b.Session
		for !b.IsComplete {
			seen = append(seen, b.Pending.StepInstanceKey)
			b = w.must(b, note("done"))
		}
		if !slices.Equal(seen, c.steps) {
			t.Errorf("%s: steps %q, want %q", name, seen, c.steps)
		}
		log := w.log(run.SessionID)
		other := `"workflowHash":"` + a.Workflow.WorkflowHash.String()
		if named := strings.Contains(log, other); !named {
			t.Errorf("%s: the log does not name the source's definition", name)
		}
		d, err := w.g.Replay(context.Background(), b.Position())
		if err != nil || d.Difference != nil {
			t.Errorf("%s: replay: %+v, %v", name, d, err)
		}
	}
	for name, c := range map[string]struct{ text, want string }{
		"without the step":  {workflow(step("first"), loop("round", twice, step("one")), step("last")), `no step "two"`},
		"out of its loop":   {workflow(step("first"), step("one"), step("two"), step("last")), `"round"`},
		"in another loop":   {workflow(loop("again", twice, step("two"))), `"again"`},
		"in a shorter loop": {workflow(loop("round", `"type":"for","count":1,"maxIterations":1`, step("two"))), "iteration 2"},
		"as a loop":         {workflow(loop("two", twice, step("one"))), `no step "two"`},
	} {
		if _, err := fork(c.text); !fault.Is(err, fault.ValidationError) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if w.log(a.Session.SessionID) != source {
		t.Error("the source was written")
	}
	if v, err := w.g.Verify(context.Background()); err != nil || !v.OK {
		t.Errorf("verify: %+v, %v", v, err)
	}
}
