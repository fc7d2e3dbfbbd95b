package interpreter

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/condition"
)

// Variables returns the context as a step sees it: with the variables of the loops around it,
// inner ones over outer ones (docs/design.md#loops). They are not stored, since state and
// context determine them.
func Variables(w compile.Compiled, s snapshot.State, vars canon.Value) canon.Value {
	return VariablesAt(w, snapshot.PathOf(Frames(s)), vars)
}

// vars returns the variables at the walk's current position.
func (k *walker) vars() canon.Value { return VariablesAt(k.w, snapshot.PathOf(k.frames), k.in.Vars) }

// Looper is a workflow of which only the loops are needed: a compile.Compiled, or a compile.View.
type Looper interface {
	Loop(loopID string) (compile.Loop, bool)
}

// VariablesAt is Variables for a loop path, such as that of a step instance key.
func VariablesAt(w Looper, loops []snapshot.PathElement, vars canon.Value) canon.Value {
	vars, _ = withLoops(w, loops, vars)
	return vars
}

// LoopVariablesAt returns the variables of the loops alone, as an object.
func LoopVariablesAt(w Looper, loops []snapshot.PathElement, vars canon.Value) canon.Value {
	_, own := withLoops(w, loops, vars)
	return own
}

// withLoops returns the context with the variables of the loops, and these alone.
func withLoops(w Looper, loops []snapshot.PathElement, vars canon.Value) (all, own canon.Value) {
	own = canon.OfMembers()
	for _, f := range loops {
		loop, ok := w.Loop(f.LoopID)
		if !ok {
			continue
		}
		set := func(name string, v canon.Value) {
			if name != "" {
				vars, own = vars.With(name, v), own.With(name, v)
			}
		}
		// The list is read first: the loop's own variables could have its name.
		list, _ := condition.Lookup(vars, loop.Items)
		set(loop.IterationVar, canon.OfInt(f.Iteration+1))
		// iterationVar counts from 1 and indexVar from 0.
		set(loop.IndexVar, canon.OfInt(f.Iteration))
		if loop.Kind == compile.ForEach && list.Kind() == canon.Array && int(f.Iteration) < list.Len() {
			set(loop.ItemVar, list.Item(int(f.Iteration)))
		}
	}
	return vars, own
}

// NeedsConfirmation reports whether guided mode requires a person's confirmation before the
// pending step: because of the step itself, or because it is the first step of a loop that
// requires it (docs/design.md#requirements-on-the-caller).
func NeedsConfirmation(w compile.Compiled, s snapshot.State, vars canon.Value) bool {
	return requires(w, s, vars, compile.Step.NeedsConfirmation)
}

// NeedsApproval reports whether the pending step can only be left with a person's recorded
// approval, in every mode: because of the step itself, or because it is the first step of a
// loop that requires it (docs/design.md#requirements-on-the-caller).
func NeedsApproval(w compile.Compiled, s snapshot.State, vars canon.Value) bool {
	return requires(w, s, vars, compile.Step.NeedsApproval)
}

// ApprovalRules returns the rules of the gates by which the pending step requires an approval: of the
// step, and of the loops that it is the first step of. vars are the contexts for which a gate counts
// if its condition holds for one of them. If the step required an approval before and no condition
// holds any more, it returns the rules of all gates, and the zero rule if there is no gate.
func ApprovalRules(w compile.Compiled, s snapshot.State, vars ...canon.Value) []compile.Approval {
	var holding, all []compile.Approval
	for _, step := range gates(w, s) {
		if step.RequireConfirmation.Kind != compile.ConfirmApproval {
			continue
		}
		all = append(all, step.RequireConfirmation.Approval)
		if slices.ContainsFunc(vars, func(v canon.Value) bool { return step.NeedsApproval(Variables(w, s, v)) }) {
			holding = append(holding, step.RequireConfirmation.Approval)
		}
	}
	switch {
	case len(holding) > 0:
		return holding
	case len(all) > 0:
		return all
	}
	return []compile.Approval{{}}
}

// requires evaluates a requirement for the pending step and for every loop that it is the first
// step of.
func requires(w compile.Compiled, s snapshot.State, vars canon.Value, test func(compile.Step, canon.Value) bool) bool {
	seen := Variables(w, s, vars)
	return slices.ContainsFunc(gates(w, s), func(step compile.Step) bool { return test(step, seen) })
}

// gates returns the pending step and the step of every loop that it is the first step of: the
// steps whose confirmation it waits for. Empty if no step is pending.
func gates(w compile.Compiled, s snapshot.State) (out []compile.Step) {
	pending := s.PendingStep()
	if pending == nil {
		return nil
	}
	if step, ok := w.Step(pending.StepID); ok {
		out = append(out, step)
	}
	frames := Frames(s)
	for i := range frames {
		if marker, ok := w.Step(frames[i].LoopID); ok && notStarted(s, frames, i) {
			out = append(out, marker)
		}
	}
	return out
}

// LooseApproval returns the loose matches in the conditions by which the pending step requires
// an approval, or does not.
func LooseApproval(w compile.Compiled, s snapshot.State, vars canon.Value) []condition.Match {
	return looseGates(w, s, vars, compile.ConfirmApproval)
}

// looseGates returns the loose matches in the conditions of the gates of some kinds.
func looseGates(w compile.Compiled, s snapshot.State, vars canon.Value,
	kinds ...compile.ConfirmationKind) (out []condition.Match) {
	seen := Variables(w, s, vars)
	for _, step := range gates(w, s) {
		if slices.Contains(kinds, step.RequireConfirmation.Kind) {
			out = condition.AddMatches(out, step.GateCondition().Decide(seen).Loose)
		}
	}
	return out
}

// notStarted reports whether no step of a loop is completed: it and the loops inside it are in
// their first iteration, and none of its keys is completed. The position in the body does not
// show that, since earlier steps may have been skipped.
func notStarted(s snapshot.State, frames []snapshot.Frame, at int) bool {
	later := func(f snapshot.Frame) bool { return f.Iteration > 0 }
	inside := func(key string) bool { return within(key, frames[:at+1]) }
	return !slices.ContainsFunc(frames[at:], later) && !slices.ContainsFunc(s.CompletedKeys(), inside)
}
