package interpreter

import (
	"cmp"
	"fmt"
	"math"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/condition"
)

// length evaluates the number of iterations of a for or forEach loop, and traces it. It is
// evaluated on entry and stored in the frame: changes to the list during the loop do not affect
// it (docs/design.md#loops). A list or count that is absent or of another type blocks: a typing
// error must not skip the loop. With NeverStop an unknown number counts as none. In form 2 a
// number over maxIterations blocks too, before work is done that the loop could not finish; with
// NeverStop it counts as maxIterations. In form 1 the loop is refused its next iteration at
// maxIterations (tooMany).
func (k *walker) length(loop compile.Loop) (n int64) {
	path, v := loop.Items, loop.Count
	if loop.Kind == compile.For {
		path = loop.Count.Text() // "" for a number
	}
	if path != "" {
		v, _ = condition.Lookup(k.vars(), path)
	}
	var summary string
	switch f := v.Float(); {
	case loop.Kind == compile.ForEach && v.Kind() == canon.Array:
		n = int64(v.Len())
	case loop.Kind == compile.For && v.Kind() == canon.Number && f >= 0 && f == math.Trunc(f) && f <= math.MaxInt32:
		n = int64(f)
	default:
		u := badLength(loop, path, v)
		k.addUnmet(u)
		summary = fmt.Sprintf("Loop %q: how often it runs cannot be told, so it does not run: %s", loop.LoopID, u.Message)
	}
	if k.w.Form2() && n > loop.MaxIterations {
		k.addUnmet(tooLong(loop, path, n))
		summary = fmt.Sprintf("Loop %q has a length of %d; it runs for its maxIterations, %s.", loop.LoopID, n,
			iterations(loop.MaxIterations))
		n = loop.MaxIterations
	}
	k.addTrace(event.EvaluatedCondition,
		cmp.Or(summary, fmt.Sprintf("Loop %q runs for %s.", loop.LoopID, iterations(n))),
		event.LoopRef(loop.LoopID), event.IterationRef(0))
	return n
}

// badLength is the unmet condition for a list or count that is absent or of another type.
func badLength(loop compile.Loop, path string, v canon.Value) reason.Unmet {
	want, example := "a whole number of 0 or more", "3"
	if loop.Kind == compile.ForEach {
		want, example = "a list", `["first","second"]`
	}
	u := reason.Unmet{Code: reason.MissingOutput, Pointer: contextPointer(path, loop.LoopID), Loop: factOf(loop, 0),
		Message: fmt.Sprintf("Loop %q needs %s under context key %q, which is not set.", loop.LoopID, want, path),
		Fix:     fmt.Sprintf("Send it as context: {%q: %s}, or --set '%s=%s'.", path, example, path, example)}
	if !v.IsNull() {
		u.Code = reason.InvalidOutput
		u.Message = fmt.Sprintf("Loop %q needs %s under context key %q, got %s.", loop.LoopID, want, path, excerpt(v))
	}
	return u
}

// tooLong is the unmet condition for a list or count over maxIterations when the loop is entered.
// A new value in the context replaces the one that was refused.
func tooLong(loop compile.Loop, path string, n int64) reason.Unmet {
	u := reason.Unmet{Code: reason.InvalidOutput, Pointer: contextPointer(path, loop.LoopID), Loop: factOf(loop, 0)}
	u.Loop.Length = n
	most := loop.MaxIterations
	numbers := fmt.Sprintf("(loopId=%s, length=%d, maxIterations=%d)", loop.LoopID, n, most)
	instead := fmt.Sprintf("; with autonomy full_auto_never_stop the loop runs for the first %s.", iterations(most))
	switch {
	case loop.Kind == compile.ForEach:
		u.Message = fmt.Sprintf("Loop %q would run for the %d items under context key %q, and its maxIterations is %d %s.",
			loop.LoopID, n, path, most, numbers)
		u.Fix = fmt.Sprintf("Send a list of at most %d under context key %q%s", most, path, instead)
	case path != "":
		u.Message = fmt.Sprintf("Loop %q would run %d times, the number under context key %q, and its maxIterations is "+
			"%d %s.", loop.LoopID, n, path, most, numbers)
		u.Fix = fmt.Sprintf("Send a number of at most %d as context: {%q: %d}, or --set %s=%d%s", most, path, most, path,
			most, instead)
	default: // a number in the workflow; validate warns of it
		u.Code = reason.InvariantBroken
		u.Message = fmt.Sprintf("Loop %q would run %d times, and its maxIterations is %d %s.", loop.LoopID, n, most, numbers)
		u.Fix = "Correct the workflow for later runs" + instead
	}
	return u
}

// excerpt returns at most 60 bytes of a value, for a message.
func excerpt(v canon.Value) string {
	text := string(v.JCS())
	if len(text) > 60 {
		text = reason.Clip(text, 57) + "…"
	}
	return text
}
