package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// loosely has a condition in each place that may have one. Every value that is compared is a
// variable of its own.
const loosely = `{"id":"test.loose","name":"Loose","description":"d","version":"1.0.0","steps":[
 {"id":"skipped","title":"Skipped","prompt":"p","runCondition":{"var":"a","not_equals":"Yes"}},
 {"id":"first","title":"First","prompt":"p","runCondition":{"var":"b","in":[1,2]},
  "validationCriteria":{"type":"contains","value":"done","message":"say done","condition":{"var":"c","equals":"ON"}}},
 {"id":"second","title":"Second","prompt":"p","requireConfirmation":{"var":"d","equals":true},
  "promptFragments":[{"id":"f","text":"Carefully.","when":{"var":"e","equals":"High"}}]},
 {"id":"gated","title":"Gated","prompt":"p","requireConfirmation":{"kind":"human_approval","condition":{"var":"f","equals":"yes"}}},
 {"id":"loop","title":"Loop","type":"loop","loop":{"type":"while","condition":{"var":"g","equals":"go"},"maxIterations":3},
  "body":[{"id":"turn","title":"Turn","prompt":"p"}]},
 {"id":"last","title":"Last","prompt":"p"}]}`

// warned returns the loose matches of an answer, as path=got~expected.
func warned(a engine.Answer) string {
	var out []string
	for _, w := range a.Warnings {
		if w.Code == warning.ConditionMatchedLoosely {
			out = append(out, w.Path+"="+string(w.Got.JCS())+"~"+string(w.Expected.JCS()))
		}
		if w.Code == warning.ConditionMatchedLoosely && (!strings.Contains(w.Message, w.Path) || !strings.Contains(w.Message, string(w.Expected.JCS()))) {
			out = append(out, "message "+w.Message)
		}
	}
	return strings.Join(out, " ")
}

// given is a context in JSON.
func given(t *testing.T, text string) advance.Request {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return advance.Request{Context: v}
}

// form1 returns a workflow as the first version compiled it.
func form1(t *testing.T, c compile.Compiled) compile.Compiled {
	t.Helper()
	old, err := compile.Decode([]byte(strings.Replace(string(c.Bytes()), `"schemaVersion":2`, `"schemaVersion":1`, 1)))
	if err != nil || old.Form2() {
		t.Fatal("not in form 1", err)
	}
	return old
}

// TestLooseWarnings: each decision records the loose matches of the conditions that decided it,
// the answer and its repetition have them, a later reading has none, and the run is
// re-executed without a difference.
func TestLooseWarnings(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	ctx := context.Background()
	start := engine.Start{Workflow: w.compiled(loosely), SourceKind: event.SourceProject, SourceRef: "test.json", Key: "k",
		Context: given(t, `{"a": true, "b": "2"}`).Context}
	a, err := w.g.Start(ctx, w.by(), id.Seed{1}, start)
	if err != nil {
		t.Fatal(err)
	}
	again, err := w.process().Start(ctx, w.by(), id.Seed{2}, start)
	if want := `a=true~"Yes" b="2"~2`; err != nil || warned(a) != want || text(t, a) != text(t, again) {
		t.Fatalf("start: %q, again %q: %v", warned(a), warned(again), err)
	}
	for _, step := range []struct{ request, notes, step, kind, want string }{
		// Blocked: the rule of the notes applies by a loose match; no step is selected.
		{`{"c": " on", "d": " Yes", "e": "HIGH"}`, "", "first", "blocked", `c=" on"~"ON"`},
		{`{}`, "done", "second", "step", `c=" on"~"ON" d=" Yes"~true e="HIGH"~"High"`},
		{`{"f": true}`, "", "gated", "step", `f=true~"yes"`},
		{`{}`, "", "gated", "blocked", `f=true~"yes"`},
	} {
		req := given(t, step.request)
		req.Notes = step.notes
		next := w.must(a, req)
		repeated, err := w.process().Continue(ctx, w.by(), engine.Continue{StateToken: a.StateToken, AckToken: a.AckToken, Request: req})
		if err != nil || warned(next) != step.want || next.Kind() != step.kind || next.Pending.StepID != step.step || text(t, next) != text(t, repeated) {
			t.Fatalf("%s: %s at %s with %q, repeated %q: %v", step.request, next.Kind(), next.Pending.StepID, warned(next), warned(repeated), err)
		}
		a = next
	}
	if read, err := w.process().Continue(ctx, w.by(), engine.Continue{StateToken: a.StateToken}); err != nil || warned(read) != "" {
		t.Fatalf("a reading has %q: %v", warned(read), err)
	}
	all, _, err := w.g.Events(ctx, engine.Last)
	if err != nil {
		t.Fatal(err)
	}
	traced := slices.ContainsFunc(all, func(e event.Event) bool {
		p, ok := e.Data.(event.DecisionTraceAppended)
		return ok && slices.ContainsFunc(p.Entries, func(entry event.TraceEntry) bool {
			return strings.Contains(entry.Summary, `(loosely: b="2" matches b=2)`)
		})
	})
	if report, err := w.g.Replay(ctx, a.Position()); err != nil || !traced || report.Difference != nil {
		t.Fatalf("traced: %v; replay: %+v, %v", traced, report, err)
	}
}

// TestStrictMatchesWarnOfNothing: a context with the very values of the conditions.
func TestStrictMatchesWarnOfNothing(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a, err := w.g.Start(context.Background(), w.by(), id.Seed{1}, engine.Start{Workflow: w.compiled(loosely),
		SourceKind: event.SourceProject, SourceRef: "test.json",
		Context: given(t, `{"a": "Yes", "b": 2, "c": "ON", "d": true, "e": "High", "f": "no way", "g": "go"}`).Context})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"first", "second", "gated", "turn", "last"} {
		if a.Pending.StepID != step || warned(a) != "" {
			t.Fatalf("at %s, want %s, with %q", a.Pending.StepID, step, warned(a))
		}
		req := note("done")
		if step == "turn" {
			req = given(t, `{"g": "stop"}`)
		}
		a = w.must(a, req)
	}
	all, _, err := w.g.Events(context.Background(), engine.Last)
	for _, e := range all {
		if p, ok := e.Data.(event.AdvanceRecorded); ok && p.Warnings != nil {
			t.Errorf("recorded: %v", p.Warnings)
		}
	}
	if err != nil || !a.IsComplete {
		t.Error(a.Status, err)
	}
}

// TestLooseLoop: a loop continues and ends by loose matches.
func TestLooseLoop(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a, err := w.g.Start(context.Background(), w.by(), id.Seed{1}, engine.Start{Workflow: w.compiled(loosely),
		SourceKind: event.SourceProject, SourceRef: "test.json", Context: given(t, `{"a": "Yes", "b": 1, "g": "Go "}`).Context})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"second ", "gated ", `turn g="Go "~"go"`, `turn g="Go "~"go"`} {
		if a = w.must(a, advance.Request{}); a.Pending.StepID+" "+warned(a) != want {
			t.Fatalf("at %s with %q, want %s", a.Pending.StepID, warned(a), want)
		}
	}
	if a = w.must(a, given(t, `{"g": "STOP"}`)); a.Pending.StepID != "last" || warned(a) != "" {
		t.Fatalf("at %s with %q", a.Pending.StepID, warned(a))
	}
}

// TestForm1StaysStrict: a run of a workflow in form 1 compares strictly, and records nothing.
func TestForm1StaysStrict(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a, err := w.g.Start(context.Background(), w.by(), id.Seed{1}, engine.Start{Workflow: form1(t, w.compiled(loosely)),
		SourceKind: event.SourceProject, SourceRef: "test.json",
		Context: given(t, `{"a": true, "b": 2, "c": "on", "d": "yes", "e": "high", "f": true, "g": "Go"}`).Context})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"skipped", "first", "second", "gated", "last"} {
		if a.Pending.StepID != step || len(a.Warnings) != 0 || a.Pending.AwaitsGuided() || strings.Contains(a.Pending.Prompt, "Carefully") {
			t.Fatalf("at %s, want %s: %+v", a.Pending.StepID, step, a)
		}
		a = w.must(a, advance.Request{})
	}
	if report, err := w.g.Replay(context.Background(), a.Position()); err != nil || !a.IsComplete || report.Difference != nil {
		t.Fatalf("%+v, %v", report, err)
	}
}

// TestWarningsAreBounded: at most ten warnings, each of at most 128 bytes a text, in whole
// characters.
func TestWarningsAreBounded(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var parts []string
	vars := canon.OfMembers()
	long := strings.Repeat("ä", 100)
	for i := range 14 {
		name := "v" + string(rune('a'+i))
		parts = append(parts, `{"var":"`+name+`","equals":"`+long+`"}`)
		vars = vars.With(name, canon.OfString(strings.ToUpper(long)))
	}
	a, err := w.g.Start(context.Background(), w.by(), id.Seed{1}, engine.Start{Workflow: w.compiled(`{"id":"test.many","name":"M",
		"description":"d","version":"1.0.0","steps":[{"id":"a","title":"A","prompt":"p","runCondition":{"and":[` +
		strings.Join(parts, ",") + `]}},{"id":"b","title":"B","prompt":"p"}]}`), SourceKind: event.SourceProject, SourceRef: "test.json", Context: vars})
	if err != nil || a.Pending.StepID != "a" || len(a.Warnings) != 10 {
		t.Fatalf("%d warnings at %+v: %v", len(a.Warnings), a.Pending, err)
	}
	for _, warning := range a.Warnings {
		if got := warning.Got.Text(); len(got) > 128 || len(got) < 126 || !strings.HasPrefix(got, "ÄÄÄ") || !strings.HasSuffix(got, "\n\n[TRUNCATED]") ||
			strings.ContainsRune(got, '\ufffd') {
			t.Errorf("%d bytes: %q", len(got), got)
		}
	}
}
