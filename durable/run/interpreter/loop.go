package interpreter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/condition"
)

// enterLoop begins a loop at index: it starts iteration 0, or skips the loop if it has no
// iterations, which is traced like any other exit. It returns the index at which the walk
// continues.
func (k *walker) enterLoop(loopID string, index int) int {
	loop, _ := k.w.Loop(loopID)
	k.addTrace(event.EnteredLoop, fmt.Sprintf("Loop %q is entered.", loopID), event.LoopRef(loopID),
		event.IterationRef(0))
	frame := snapshot.Frame{LoopID: loopID}
	var starts bool
	if loop.Control == nil {
		n := k.length(loop)
		frame.Count, starts = &n, n > 0
	} else {
		starts = k.starts(loop)
	}
	if k.stopped {
		return index
	}
	if !starts {
		k.addTrace(event.ExitedLoop, fmt.Sprintf("Loop %q is left without an iteration.", loopID),
			event.LoopRef(loopID), event.IterationRef(0))
		k.complete(loopID)
		return index + 1
	}
	if top := k.top(); top != nil {
		top.BodyIndex = int64(index) // the frame of the enclosing loop records its own position
	}
	k.frames = append(k.frames, frame)
	return 0
}

// starts evaluates a while or until loop on entry. A loop that an artifact decides always
// starts, since the artifact is produced in its body. An absent variable is null here, since
// the body may be what sets it first.
func (k *walker) starts(loop compile.Loop) bool {
	if loop.Control.Kind == compile.ByArtifact {
		return true
	}
	return k.follows(loop, 0, k.decide(loop.Control.ParsedCondition(), k.vars()))
}

// follows reports whether an iteration of a while or until loop follows, and traces it. d is
// the result of the loop's condition.
func (k *walker) follows(loop compile.Loop, iteration int64, d condition.Decision) bool {
	// while repeats as long as the condition is true, until as long as it is false.
	again := d.Held == (loop.Kind == compile.While)
	k.addTrace(event.EvaluatedCondition,
		conditionSummary(loop, d, again, iteration, loop.Control.ParsedCondition().Missing(k.vars())),
		controlRefs(loop, iteration)...)
	return again
}

// endIteration ends an iteration: it starts another one or leaves the loop. It returns the index at
// which the walk continues.
func (k *walker) endIteration() int {
	top := k.top()
	loop, _ := k.w.Loop(top.LoopID)
	again := false
	if k.turns++; k.turns > limits.LoopIterationsPerAdvanceMax {
		k.addUnmet(tooManySkipped(loop, top.Iteration))
	} else {
		again = k.repeats(loop, top)
	}
	if next := top.Iteration + 1; !k.stopped && again && next >= loop.MaxIterations {
		// With NeverStop the loop ends at its bound.
		k.addUnmet(tooMany(loop, next))
		again = false
	}
	if k.stopped {
		return len(loop.Body)
	}
	// The keys of an ended iteration are dropped, so that a snapshot does not grow with
	// history.
	k.dropIterationKeys()
	if again {
		top.Iteration, top.BodyIndex, top.Decision = top.Iteration+1, 0, ""
		return 0
	}
	k.addTrace(event.ExitedLoop, fmt.Sprintf("Loop %q is left after %s.", loop.LoopID, iterations(top.Iteration+1)),
		event.LoopRef(loop.LoopID), event.IterationRef(top.Iteration))
	k.frames = k.frames[:len(k.frames)-1]
	k.complete(loop.LoopID)
	at, _ := k.w.StepPlace(loop.LoopID)
	return k.after(at.Index)
}

// repeats decides whether another iteration follows.
func (k *walker) repeats(loop compile.Loop, top *snapshot.Frame) bool {
	switch {
	case loop.Control == nil:
		again := top.Count != nil && top.Iteration+1 < *top.Count
		k.addTrace(event.EvaluatedCondition, countSummary(loop, top, again), controlRefs(loop, top.Iteration)...)
		return again
	case loop.Control.Kind == compile.ByArtifact:
		return k.followDecision(loop, top)
	}
	c := loop.Control.ParsedCondition()
	vars := k.vars()
	d := k.decide(c, vars)
	if !d.Decided {
		missing := c.Missing(vars)
		// A variable that is absent now is an error, unlike on entry: see variableMissing.
		k.addUnmet(variableMissing(loop, top.Iteration, missing))
		if !k.stopped {
			k.addTrace(event.EvaluatedCondition,
				fmt.Sprintf("Loop %q: whether it goes round again cannot be told, since the context does not hold "+
					"%s; it is left.",
					loop.LoopID, strings.Join(missing, ", ")), controlRefs(loop, top.Iteration)...)
		}
		return false
	}
	return k.follows(loop, top.Iteration, d)
}

// followDecision applies the decision of the current iteration. Without one, NeverStop repeats the
// loop up to maxIterations, since leaving it would be a decision too.
func (k *walker) followDecision(loop compile.Loop, top *snapshot.Frame) bool {
	refs := controlRefs(loop, top.Iteration)
	if top.Decision == "" {
		k.addUnmet(k.decisionMissing(loop, top.Iteration))
		if !k.stopped {
			k.addTrace(event.EvaluatedCondition,
				fmt.Sprintf("Loop %q: iteration %d brought no decision; it goes round again.", loop.LoopID,
					top.Iteration), refs...)
		}
		return true
	}
	k.addTrace(event.EvaluatedCondition, fmt.Sprintf("Loop %q: the decision after iteration %d is %s.", loop.LoopID,
		top.Iteration, top.Decision), refs...)
	return top.Decision == decisionContinue
}

// complete adds a loop's own key to the completed steps.
func (k *walker) complete(loopID string) {
	k.completed = snapshot.WithKey(k.completed, snapshot.InstanceKey(snapshot.PathOf(k.frames), loopID))
}

// dropIterationKeys removes the keys of the innermost iteration and of the loops inside it.
func (k *walker) dropIterationKeys() {
	k.completed = slices.DeleteFunc(slices.Clone(k.completed), func(key string) bool { return within(key, k.frames) })
}

// within reports whether a key belongs to the innermost iteration of frames, or to a loop
// inside it.
func within(key string, frames []snapshot.Frame) bool {
	here := strings.TrimSuffix(snapshot.InstanceKey(snapshot.PathOf(frames), "x"), "::x")
	return strings.HasPrefix(key, here+"::") || strings.HasPrefix(key, here+"/")
}

// factOf is what an unmet condition states of a loop.
func factOf(loop compile.Loop, iteration int64) reason.LoopFact {
	return reason.LoopFact{LoopID: loop.LoopID, Iteration: iteration, MaxIterations: loop.MaxIterations}
}

// tooManySkipped is the unmet condition for a walk through more than limits.LoopIterationsPerAdvanceMax iterations
// in which no step runs.
func tooManySkipped(loop compile.Loop, iteration int64) reason.Unmet {
	return reason.Unmet{Code: reason.InvariantBroken, Pointer: reason.WorkflowStep(loop.LoopID), Loop: factOf(loop, iteration),
		Message: fmt.Sprintf("Loop %q went through more than %d iterations of which every step is passed over.",
			loop.LoopID, limits.LoopIterationsPerAdvanceMax),
		Fix: "Correct the conditions of its steps for later runs; this run goes on past the loop with autonomy " +
			"full_auto_never_stop."}
}

// tooMany is the unmet condition for an iteration beyond maxIterations
// (docs/design.md#loops).
func tooMany(loop compile.Loop, next int64) reason.Unmet {
	fix := "Decide to stop, or let the run go on past it with autonomy full_auto_never_stop."
	if loop.Control == nil {
		fix = "Raise maxIterations in the workflow for later runs; this run goes on past the loop with autonomy " +
			"full_auto_never_stop."
	}
	return reason.Unmet{Code: reason.InvariantBroken, Pointer: reason.WorkflowStep(loop.LoopID), Loop: factOf(loop, next),
		Message: fmt.Sprintf("Loop %q would start iteration %d, and its maxIterations is %d (loopId=%s, "+
			"iteration=%d, maxIterations=%d).",
			loop.LoopID, next, loop.MaxIterations, loop.LoopID, next, loop.MaxIterations), Fix: fix}
}
