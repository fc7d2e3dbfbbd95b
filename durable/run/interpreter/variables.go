package interpreter

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/condition"
)

// Variables is what a step sees: the context with the variables of the loops
// around it laid over, inner ones over outer ones (R22). They are nowhere stored:
// the state and the context say them.
func Variables(w compile.Compiled, s snapshot.State, vars canon.Value) canon.Value {
	return Along(w, path(Frames(s)), vars)
}

func (k *walker) vars() canon.Value { return Along(k.w, path(k.frames), k.in.Vars) }

// Along is Variables for whoever knows a step by its StepInstanceKey only.
func Along(w compile.Compiled, loops []snapshot.PathElement, vars canon.Value) canon.Value {
	for _, f := range loops {
		loop, ok := w.Loop(f.LoopID)
		if !ok {
			continue
		}
		set := func(name string, v canon.Value) {
			if name != "" {
				vars = vars.With(name, v)
			}
		}
		// The list is looked up before its own variables could hide it.
		list, _ := condition.Lookup(vars, loop.Items)
		set(loop.IterationVar, canon.OfInt(f.Iteration+1))
		set(loop.IndexVar, canon.OfInt(f.Iteration))
		if loop.Kind == compile.ForEach && list.Kind() == canon.Array && int(f.Iteration) < list.Len() {
			set(loop.ItemVar, list.Item(int(f.Iteration)))
		}
	}
	return vars
}

// NeedsConfirmation reports whether guided mode waits for a person before the
// pending step: for its own sake, or since it is the first of a loop that asks (R20).
func NeedsConfirmation(w compile.Compiled, s snapshot.State, vars canon.Value) bool {
	return asks(w, s, vars, compile.Step.NeedsConfirmation)
}

// NeedsApproval reports whether a person's recorded approval is required before the
// pending step can be left, in every mode: for its own sake, or since it is the first
// of a loop that asks (R20).
func NeedsApproval(w compile.Compiled, s snapshot.State, vars canon.Value) bool {
	return asks(w, s, vars, compile.Step.NeedsApproval)
}

func asks(w compile.Compiled, s snapshot.State, vars canon.Value, asked func(compile.Step, canon.Value) bool) bool {
	pending := s.PendingStep()
	if pending == nil {
		return false
	}
	step, ok := w.Step(pending.StepID)
	seen := Variables(w, s, vars)
	if ok && asked(step, seen) {
		return true
	}
	frames := Frames(s)
	for i := range frames {
		marker, ok := w.Step(frames[i].LoopID)
		if ok && untouched(s, frames, i) && asked(marker, seen) {
			return true
		}
	}
	return false
}

// untouched reports that nothing of a loop is done yet: it and those inside it are in
// their first iteration, and no key of it is there. Where in the body the pending step
// stands does not say so, as steps before it may have been passed over.
func untouched(s snapshot.State, frames []snapshot.Frame, at int) bool {
	later := func(f snapshot.Frame) bool { return f.Iteration > 0 }
	inside := func(key string) bool { return within(key, frames[:at+1]) }
	return !slices.ContainsFunc(frames[at:], later) && !slices.ContainsFunc(s.CompletedKeys(), inside)
}
