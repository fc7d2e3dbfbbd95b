package interpreter_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// path walks from start to end over one context and lists the steps.
func path(t *testing.T, c compile.Compiled, vars canon.Value) []string {
	t.Helper()
	var out []string
	r := interpreter.Begin(c, interpreter.Input{Vars: vars})
	for r.State.PendingStep() != nil {
		out = append(out, r.State.PendingStep().Key())
		var err error
		if r, err = interpreter.Next(c, r.State, interpreter.Input{Vars: vars}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestWalkUsesPinnedBytes: a decoded pinned workflow gives the same walk as its source.
func TestWalkUsesPinnedBytes(t *testing.T) {
	data, err := os.ReadFile("../../../testdata/workflows/access-request.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, c, problems := compile.File("access-request.yaml", source.SourceProject, data)
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	again, err := compile.Decode(c.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for vars, want := range map[string]int{
		`{}`: 3, `{"role":"reader"}`: 3, `{"role":"administrator"}`: 4,
		`{"role":"administrator","requester":{"team":"operations"}}`:                   3,
		`{"role":"administrator","requester":{"team":"operations","openRequests":99}}`: 4,
	} {
		over := parse(t, vars)
		if got := path(t, again, over); len(got) != want || !slices.Equal(got, path(t, c, over)) {
			t.Errorf("over %s: got %q, from the source %q", vars, got, path(t, c, over))
		}
	}
}

// TestTraceOrderAndReferences: decisions are traced in order, with references, and absent
// variables are named.
func TestTraceOrderAndReferences(t *testing.T) {
	c := flow(t, steps(`{"id":"a","title":"A","prompt":"p"},{"id":"b","title":"B","prompt":"p","runCondition":{"var":"x","equals":1}},
	 {"id":"l","type":"loop","title":"L","loop":{"type":"until","condition":{"var":"y","equals":2},"maxIterations":3},"body":[{"id":"c","title":"C","prompt":"p"}]}`))
	r, err := interpreter.Next(c, interpreter.Begin(c, interpreter.Input{}).State,
		interpreter.Input{Vars: parse(t, `{"y":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range r.Trace {
		line := string(e.Kind) + " " + e.Summary
		for _, ref := range e.Refs {
			line += " " + ref.Kind + "=" + ref.StepID + ref.LoopID
			if ref.Value != nil {
				line += fmt.Sprint(*ref.Value)
			}
		}
		got = append(got, line)
	}
	want := []string{
		`evaluated_condition Step "b": its condition does not hold, so the step is passed over (not in the context: x): {"equals":1,"var":"x"} step_id=b`,
		`entered_loop Loop "l" is entered. loop_id=l iteration=0`,
		`evaluated_condition Loop "l" (until), iteration 0: its condition does not hold, so it goes on: {"equals":2,"var":"y"} loop_id=l iteration=0`,
		`selected_next_step Step "c" of loop "l" is next, in iteration 0. step_id=c loop_id=l iteration=0`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s", strings.Join(got, "\n"))
	}
}

// TestTraceBudgets: however many conditions are evaluated, a trace fits into its events,
// keeps its order and counts what it omits.
func TestTraceBudgets(t *testing.T) {
	most := limits.TraceEntriesMax*limits.TraceEventsMax - 1
	for _, n := range []int{24, 25, most - 1, most, most + 1, 700} {
		var list []string
		for i := range n {
			list = append(list,
				fmt.Sprintf(`{"id":"s%d","title":"S","prompt":"p","runCondition":{"var":"x","equals":"%d %s"}}`, i, i,
					strings.Repeat("é", 300)))
		}
		r := interpreter.Begin(flow(t, steps(strings.Join(list, ","))), interpreter.Input{})
		if len(r.Trace) > most {
			t.Errorf("%d conditions: %d entries", n, len(r.Trace))
		}
		for part := range slices.Chunk(r.Trace, limits.TraceEntriesMax) {
			trace := event.NewTrace(id.FromStart(id.RootNode(id.NewRun(id.Seed{1}))).Trace(0), part)
			if err := trace.Check(event.Scope{}); err != nil || len(trace.Entries) != len(part) {
				t.Errorf("%d conditions: %v, %d of %d entries", n, err, len(trace.Entries), len(part))
			}
		}
		if last := r.Trace[len(r.Trace)-1]; last.Kind != event.SelectedNextStep {
			t.Errorf("%d conditions: the trace ends with %+v", n, last)
		}
		counted := slices.ContainsFunc(r.Trace,
			func(e event.TraceEntry) bool { return strings.Contains(e.Summary, "more decisions") })
		if counted != (n+1 > most) {
			t.Errorf("%d conditions: counted %v", n, counted)
		}
	}
}
