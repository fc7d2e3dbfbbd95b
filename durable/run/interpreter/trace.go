package interpreter

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/condition"
)

// summaryMax bounds a summary so that a trace of the maximum number of entries stays within
// limits.TraceBytesMax.
const summaryMax = limits.TraceBytesMax / limits.TraceEntriesMax

// addTrace adds a trace entry. Entries are in the order of the decisions.
func (k *walker) addTrace(kind event.TraceKind, summary string, refs ...event.TraceRef) {
	k.trace = append(k.trace, event.TraceEntry{Kind: kind, Summary: reason.Truncate(summary, summaryMax), Refs: refs})
}

// shorten keeps the beginning and the end of a long trace and replaces the middle with one
// entry that counts what was dropped.
func shorten(all []event.TraceEntry) []event.TraceEntry {
	// Package advance adds one entry of its own for a branch.
	const most = limits.TraceEntriesMax*limits.TraceEventsMax - 1
	if len(all) <= most {
		return all
	}
	half := most / 2
	out := append([]event.TraceEntry(nil), all[:half]...)
	out = append(out, event.TraceEntry{Kind: event.EvaluatedCondition,
		Summary: fmt.Sprintf("%d more decisions were made.", len(all)-most+1)})
	return append(out, all[len(all)-(most-half-1):]...)
}

// controlRefs returns the references of a loop's trace entry: the loop, the iteration, and
// the named condition if there is one.
func controlRefs(loop compile.Loop, iteration int64) []event.TraceRef {
	refs := []event.TraceRef{event.LoopRef(loop.LoopID), event.IterationRef(iteration)}
	if loop.Control != nil && loop.Control.ConditionID != "" {
		refs = append(refs, event.ConditionRef(loop.Control.ConditionID))
	}
	return refs
}

// stepSummary names absent variables: without their names, a step skipped by a typing error
// in a context key would look like any other. back: the step was passed over before.
func stepSummary(step *compile.Step, d condition.Decision, back bool, missing []string) string {
	verdict := map[bool]string{true: "holds", false: "does not hold, so the step is passed over"}
	if back {
		verdict[true] = "holds now, after the step was passed over"
	}
	return fmt.Sprintf("Step %q: its condition %s%s%s: %s", step.StepID, verdict[d.Held], absent(missing),
		loosely(d.Loose), step.RunCondition.JCS())
}

// conditionSummary describes the evaluation of a while or until condition.
func conditionSummary(loop compile.Loop, d condition.Decision, again bool, iteration int64, missing []string) string {
	verdict := map[bool]string{true: "holds", false: "does not hold"}
	follows := map[bool]string{true: "it goes on", false: "it is left"}
	return fmt.Sprintf("Loop %q (%s), iteration %d: its condition %s%s%s, so %s: %s", loop.LoopID, loop.Kind, iteration,
		verdict[d.Held], absent(missing), loosely(d.Loose), follows[again], loop.Control.ParsedCondition())
}

// absent lists absent variables, for a summary.
func absent(missing []string) string {
	if len(missing) == 0 {
		return ""
	}
	return " (not in the context: " + strings.Join(missing, ", ") + ")"
}

// loosely lists loose matches, for a summary.
func loosely(matches []condition.Match) string {
	var words []string
	for _, m := range matches {
		words = append(words, event.LooseMatch(m.Path, m.Expected, m.Got).String())
	}
	if len(words) == 0 {
		return ""
	}
	return " (loosely: " + strings.Join(words, "; ") + ")"
}

// countSummary describes the position in a for or forEach loop after an iteration.
func countSummary(loop compile.Loop, top *snapshot.Frame, again bool) string {
	n := top.Iteration + 1
	if top.Count != nil {
		n = *top.Count
	}
	if again {
		return fmt.Sprintf("Loop %q: iteration %d of %s is done; it goes on.", loop.LoopID, top.Iteration,
			iterations(n))
	}
	return fmt.Sprintf("Loop %q: the last of %s is done.", loop.LoopID, iterations(n))
}

// iterations formats a number of iterations.
func iterations(n int64) string {
	if n == 1 {
		return "1 iteration"
	}
	return fmt.Sprintf("%d iterations", n)
}
