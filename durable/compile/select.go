package compile

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
)

// Selection is the step that comes next, and how it was found.
type Selection struct {
	Step        *Step // nil: no step is left, the run is complete
	Evaluations []Evaluation
}

// Evaluation is one runCondition that was asked on the way. The steps whose
// condition did not hold were passed over; they are not asked again.
type Evaluation struct {
	StepID    string
	Held      bool
	Condition canon.Value
	Missing   []string // variables that were absent and read as null
}

// First selects where a run starts.
func (c Compiled) First(vars canon.Value) Selection { return c.from(0, vars) }

// After selects what follows a step in the main sequence, over the context as it
// is when that step is left. False when c has no such step.
func (c Compiled) After(stepID string, vars canon.Value) (Selection, bool) {
	i, ok := c.index[stepID]
	if !ok {
		return Selection{}, false
	}
	return c.from(i.Index+1, vars), true
}

// from asks the conditions in order and stops at the first step that runs.
func (c Compiled) from(i int, vars canon.Value) Selection {
	var out Selection
	for ; i < len(c.Steps); i++ {
		s := &c.Steps[i]
		if s.runs.IsZero() {
			out.Step = s
			return out
		}
		e := Evaluation{s.StepID, s.runs.Eval(vars), s.RunCondition, s.runs.Missing(vars)}
		out.Evaluations = append(out.Evaluations, e)
		if e.Held {
			out.Step = s
			return out
		}
	}
	return out
}

// TraceEntry is what a decision trace says about a selection. Kind is a trace kind
// of the locks, evaluated_condition or selected_next_step; StepID is its reference,
// "" when it has none.
type TraceEntry struct {
	Kind    string
	Summary string
	StepID  string
}

// summaryMax lets a trace of the largest number of entries keep its budget.
const summaryMax = limits.TraceBytesMax / limits.TraceEntriesMax

// Trace puts the selection into words: each condition in the order in which it was
// asked, then the step. When there are more than a trace may hold, the middle ones
// are counted in one entry.
func (s Selection) Trace() []TraceEntry {
	var out []TraceEntry
	room := limits.TraceEntriesMax - 2 // the count and the selected step
	for i, e := range s.Evaluations {
		if i == room && len(s.Evaluations) > room+1 {
			out = append(out, TraceEntry{Kind: "evaluated_condition",
				Summary: fmt.Sprintf("%d more conditions were evaluated.", len(s.Evaluations)-room)})
			break
		}
		out = append(out, TraceEntry{"evaluated_condition", reason.Truncate(e.summary(), summaryMax), e.StepID})
	}
	if s.Step == nil {
		return append(out, TraceEntry{Kind: "selected_next_step", Summary: "No step is left: the run is complete."})
	}
	return append(out, TraceEntry{"selected_next_step", fmt.Sprintf("Step %q is next.", s.Step.StepID), s.Step.StepID})
}

// summary names absent variables: a step that is passed over because of a typing
// error in a context key looks like any other.
func (e Evaluation) summary() string {
	verdict := "does not hold, so the step is passed over"
	if e.Held {
		verdict = "holds"
	}
	absent := ""
	if len(e.Missing) > 0 {
		absent = " (not in the context: " + strings.Join(e.Missing, ", ") + ")"
	}
	return fmt.Sprintf("Step %q: its condition %s%s: %s", e.StepID, verdict, absent, e.Condition.JCS())
}
