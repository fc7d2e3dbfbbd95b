package interpreter_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/snapshot"
)

func parse(t *testing.T, s string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const nested = `{"id":"outer","type":"loop","title":"O","loop":{"type":"forEach","items":"rows","itemVar":"row","indexVar":"r","maxIterations":9},"body":[
	{"id":"inner","type":"loop","title":"I","loop":{"type":"for","count":2,"iterationVar":"try","maxIterations":9},"body":[{"id":"do","title":"T","prompt":"p"}]}]}`

// TestLoopVariablesOverrideContext: iterations count from 1, indexes from 0, and both
// override context keys of the same name.
func TestLoopVariablesOverrideContext(t *testing.T) {
	c := flow(t, steps(nested))
	two := int64(2)
	s := snapshot.At("do", []snapshot.Frame{{LoopID: "outer", Iteration: 1, Count: &two},
		{LoopID: "inner", Count: &two}}, nil)
	for _, row := range []struct{ context, want string }{
		{`{"rows":["a","b"],"r":"hidden","x":1}`,
			`{"currentIteration":2,"r":1,"row":"b","rows":["a","b"],"try":1,"x":1}`},
		{`{"rows":["a"],"row":"of the context"}`,
			`{"currentIteration":2,"r":1,"row":"of the context","rows":["a"],"try":1}`},
	} {
		if got := string(interpreter.Variables(c, s, parse(t, row.context)).JCS()); got != row.want {
			t.Errorf("%s: got %s, want %s", row.context, got, row.want)
		}
	}
	vars := parse(t, `{"rows":["a","b"]}`)
	along, _, err := snapshot.ParseKey(s.PendingStep().Key())
	if err != nil || !interpreter.VariablesAt(c, along, vars).Equal(interpreter.Variables(c, s, vars)) {
		t.Errorf("the key of a step and its state give different variables (%v)", err)
	}
}

// TestLoopConfirmationBeforeFirstStep: a loop's own confirmation is required once, before its
// first step.
func TestLoopConfirmationBeforeFirstStep(t *testing.T) {
	c := flow(t, steps(`{"id":"l","type":"loop","title":"L","requireConfirmation":true,"loop":{"type":"for","count":2,"maxIterations":9},"body":[
		{"id":"a","title":"A","prompt":"p"},{"id":"b","title":"B","prompt":"p","requireConfirmation":{"var":"currentIteration","equals":2}}]}`))
	var got []bool
	r := interpreter.Begin(c, interpreter.Input{})
	for r.State.PendingStep() != nil {
		got = append(got, interpreter.NeedsConfirmation(c, r.State, canon.OfMembers()))
		var err error
		if r, err = interpreter.Next(c, r.State, interpreter.Input{}); err != nil {
			t.Fatal(err)
		}
	}
	if want := []bool{true, false, false, true}; len(got) != 4 || got[0] != want[0] || got[1] != want[1] ||
		got[2] != want[2] || got[3] != want[3] {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestWalkWithoutStepsEnds: nested loops without a step that runs would otherwise take hours.
func TestWalkWithoutStepsEnds(t *testing.T) {
	c := flow(t, steps(`{"id":"a","type":"loop","title":"A","loop":{"type":"for","count":1000,"maxIterations":1000},"body":[
	 {"id":"b","type":"loop","title":"B","loop":{"type":"for","count":1000,"maxIterations":1000},"body":[
	 {"id":"c","title":"C","prompt":"p","runCondition":{"var":"never","equals":true}}]}]},{"id":"end","title":"E","prompt":"p"}`))
	if r := interpreter.Begin(c, interpreter.Input{}); len(r.Unmet) != 1 ||
		!strings.Contains(r.Unmet[0].Message, "passed over") {
		t.Errorf("got %+v", r.Unmet)
	}
	r := interpreter.Begin(c, interpreter.Input{NeverStop: true})
	if p := r.State.PendingStep(); p == nil || p.StepID != "end" {
		t.Errorf("with NeverStop the walk is at %+v", p)
	}
	if most := limits.TraceEntriesMax*limits.TraceEventsMax - 1; len(r.Trace) != most {
		t.Errorf("%d trace entries, want %d", len(r.Trace), most)
	}
}

// TestStateOfAnotherWorkflowIsRefused: no walk starts from it.
func TestStateOfAnotherWorkflowIsRefused(t *testing.T) {
	c := flow(t, steps(nested))
	for _, s := range []snapshot.State{
		snapshot.Done(),
		snapshot.At("gone", nil, nil),
		snapshot.At("do", nil, nil),
		snapshot.At("do", []snapshot.Frame{{LoopID: "inner"}}, nil),
		snapshot.At("do", []snapshot.Frame{{LoopID: "inner"}, {LoopID: "outer"}}, nil),
		snapshot.At("do", []snapshot.Frame{{LoopID: "outer"}, {LoopID: "gone"}}, nil),
	} {
		if _, err := interpreter.Next(c, s, interpreter.Input{}); err == nil {
			t.Errorf("%+v is walked from", s.PendingStep())
		}
	}
}
