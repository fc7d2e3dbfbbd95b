package reason_test

import (
	"encoding/json"
	"testing"

	"github.com/waybill/waybill/durable/reason"
)

// TestLoopFact: the zero value is none and is not written; an id that is none and negative numbers are refused.
func TestLoopFact(t *testing.T) {
	good := reason.LoopFact{LoopID: "l", Iteration: 0, MaxIterations: 3}
	for _, row := range []struct {
		change func(*reason.LoopFact)
		valid  bool
		json   string
	}{
		{func(*reason.LoopFact) {}, true, `{"iteration":0,"loopId":"l","maxIterations":3}`},
		{func(l *reason.LoopFact) { l.Length = 9 }, true, `{"iteration":0,"length":9,"loopId":"l","maxIterations":3}`},
		{func(l *reason.LoopFact) { l.LoopID = "" }, false, ""},
		{func(l *reason.LoopFact) { l.LoopID = "L" }, false, ""},
		{func(l *reason.LoopFact) { l.Iteration = -1 }, false, ""},
		{func(l *reason.LoopFact) { l.Length = -1 }, false, ""},
		{func(l *reason.LoopFact) { l.MaxIterations = -1 }, false, ""},
	} {
		fact := good
		row.change(&fact)
		text, err := json.Marshal(fact)
		if (fact.Check() == nil) != row.valid || err != nil || row.valid && string(text) != row.json {
			t.Errorf("%s: %v, %v", text, fact.Check(), err)
		}
		u := reason.Unmet{Code: reason.InvariantBroken, Pointer: reason.WorkflowStep("l"), Message: "m", Loop: fact}
		if err := reason.ReportOf([]reason.Unmet{u}).Check(); (err == nil) != row.valid {
			t.Errorf("in a blocker: %s: %v", text, err)
		}
	}
	none, err := json.Marshal(reason.Unmet{Code: reason.InvariantBroken, Pointer: reason.WorkflowStep("l"), Message: "m"}.Blocker())
	if err != nil || reason.LoopFact.Check(reason.LoopFact{}) != nil || string(none) != `{"code":"INVARIANT_VIOLATION","message":"m","pointer":{"kind":"workflow_step","stepId":"l"}}` {
		t.Errorf("%s, %v", none, err)
	}
}
