package event

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
)

// TraceKind is the closed set of decisions that a trace entry explains.
type TraceKind string

// The trace kinds.
const (
	SelectedNextStep      TraceKind = "selected_next_step"
	EvaluatedCondition    TraceKind = "evaluated_condition"
	EnteredLoop           TraceKind = "entered_loop"
	ExitedLoop            TraceKind = "exited_loop"
	DetectedNonTipAdvance TraceKind = "detected_non_tip_advance"
)

// TraceRef refers to the subject of an entry. Exactly the member of its kind is set.
type TraceRef struct {
	ConditionID string `json:"conditionId,omitzero"`
	Kind        string `json:"kind"` // step_id, loop_id, condition_id, iteration
	LoopID      string `json:"loopId,omitzero"`
	StepID      string `json:"stepId,omitzero"`
	Value       *int64 `json:"value,omitzero"` // 0-based iteration
}

// StepRef returns a reference to a workflow step.
func StepRef(stepID string) TraceRef { return TraceRef{Kind: "step_id", StepID: stepID} }

// LoopRef returns a reference to a loop.
func LoopRef(loopID string) TraceRef { return TraceRef{Kind: "loop_id", LoopID: loopID} }

// ConditionRef returns a reference to a condition of the compiled workflow.
func ConditionRef(conditionID string) TraceRef {
	return TraceRef{Kind: "condition_id", ConditionID: conditionID}
}

// IterationRef returns a reference to a 0-based iteration.
func IterationRef(n int64) TraceRef { return TraceRef{Kind: "iteration", Value: &n} }

// check returns an error unless exactly the member of the kind is set, and valid.
func (r TraceRef) check() error {
	ids := map[string]string{"step_id": r.StepID, "loop_id": r.LoopID, "condition_id": r.ConditionID}
	if r.Kind == "iteration" {
		if r.Value == nil || *r.Value < 0 || r.StepID+r.LoopID+r.ConditionID != "" {
			return fmt.Errorf("an iteration ref wants a value of 0 or more alone")
		}
		return nil
	}
	own, known := ids[r.Kind]
	if !known || r.Value != nil || r.StepID+r.LoopID+r.ConditionID != own || !reason.ValidStepID(own) {
		return fmt.Errorf("ref of kind %q wants the id of that kind alone, of a-z 0-9 _ -", r.Kind)
	}
	return nil
}

// TraceEntry is one explained decision.
type TraceEntry struct {
	Kind    TraceKind  `json:"kind"`
	Refs    []TraceRef `json:"refs,omitzero"`
	Summary string     `json:"summary"`
}

// DecisionTraceAppended explains the decisions of the engine in one advance. It is bounded, and
// never needed for correctness.
type DecisionTraceAppended struct {
	Entries []TraceEntry `json:"entries"`
	TraceID id.Trace     `json:"traceId"`
}

// Kind is "decision_trace_appended".
func (DecisionTraceAppended) Kind() string { return "decision_trace_appended" }

// DedupeKey allows one event per trace id.
func (d DecisionTraceAppended) DedupeKey(owner string, _ Scope) string {
	return "decision_trace_appended:" + owner + ":" + d.TraceID.String()
}

// Check returns an error for a trace that exceeds the budgets, which NewTrace never returns.
func (d DecisionTraceAppended) Check(Scope) error {
	err := within("%d trace entries", len(d.Entries), 1, limits.TraceEntriesMax)
	total := 0
	for i, e := range d.Entries {
		if wrong := e.check(); wrong != nil {
			err = cmp.Or(err, fmt.Errorf("entry %d: %w", i, wrong))
		}
		total += len(e.Summary)
	}
	return cmp.Or(err, within("trace summaries of %d bytes", total, 0, limits.TraceBytesMax))
}

// check returns an error for an entry that exceeds its budgets or has an invalid reference.
func (e TraceEntry) check() error {
	err := cmp.Or(
		oneOf("kind", e.Kind, SelectedNextStep, EvaluatedCondition, EnteredLoop, ExitedLoop, DetectedNonTipAdvance),
		within("summary of %d bytes", len(e.Summary), 0, limits.TraceSummaryBytesMax),
		within("%d refs", len(e.Refs), 0, limits.TraceRefsMax))
	for _, r := range e.Refs {
		err = cmp.Or(err, r.check())
	}
	return err
}

// NewTrace returns a trace of entries, in order, within the budgets (docs/design.md#limits).
// Summaries that are too long are truncated and end in limits.TruncationMarker. Of too many
// entries the first ones are kept, and the last of them states how many are left out.
func NewTrace(traceID id.Trace, entries []TraceEntry) DecisionTraceAppended {
	kept := slices.Clone(entries)
	if rest := len(kept) - limits.TraceEntriesMax; rest > 0 {
		kept = kept[:limits.TraceEntriesMax]
		last := &kept[len(kept)-1]
		last.Summary = fmt.Sprintf("%s (and %d more decisions)",
			reason.Clip(last.Summary, limits.TraceSummaryBytesMax/2), rest)
	}
	left := limits.TraceBytesMax
	for i := range kept {
		// Reserve space for at least the marker in every later entry.
		available := left - (len(kept)-1-i)*len(limits.TruncationMarker)
		kept[i].Summary = reason.Truncate(kept[i].Summary, min(limits.TraceSummaryBytesMax, available))
		left -= len(kept[i].Summary)
	}
	return DecisionTraceAppended{TraceID: traceID, Entries: kept}
}
