// Package interpreter walks a compiled workflow: from its start to the first step, or from a
// completed step to the next one, through conditions and loops (docs/design.md#loops). A walk
// is a pure function of the pinned workflow, the state at a node, the context and the node's
// artifacts.
//
// A Result contains the next state, the trace of decisions, and the conditions that prevented a
// decision. Whether a missing input blocks the run depends on the mode, which is an argument;
// package advance turns results into events. Trace summaries and unmet conditions are stored,
// so their sentences must not change. Start with Begin and Next.
package interpreter

import (
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/condition"
)

// Input is what a walk reads besides workflow and state.
type Input struct {
	// Vars is the effective context when the step is left.
	Vars canon.Value
	// Artifacts are the current JSON artifacts of the node, oldest first.
	Artifacts []canon.Value
	// NeverStop continues past a missing input, as docs/design.md#loops defines for each
	// case.
	NeverStop bool
	// Guided waits for confirmations.
	Guided bool
}

// Result is the end of a walk. If Unmet is not empty and NeverStop was not set, State is
// undefined.
type Result struct {
	State snapshot.State
	Trace []event.TraceEntry
	Unmet []reason.Unmet
	// Loose are the loose matches of the conditions that decided the walk, and how the step at its
	// end is shown.
	Loose []condition.Match
}

// Begin walks from the start of a workflow to its first step, or to completion if no step
// runs.
func Begin(w compile.Compiled, in Input) Result {
	k := walker{w: w, in: in}
	k.walk(0)
	return k.result()
}

// Next walks from the state's pending step, which is regarded as completed, to the step after
// it. It fails if the state does not belong to the workflow.
func Next(w compile.Compiled, s snapshot.State, in Input) (Result, error) {
	pending := s.PendingStep()
	if pending == nil {
		return Result{}, fmt.Errorf("no step is pending")
	}
	at, ok := w.StepPlace(pending.StepID)
	if !ok {
		return Result{}, fmt.Errorf("the pinned workflow has no step %q, which the node's snapshot names",
			pending.StepID)
	}
	frames := Frames(s)
	if err := fits(w, at, frames); err != nil {
		return Result{}, err
	}
	k := walker{w: w, in: in, frames: frames, completed: s.WithCompleted(pending.Key()), reselect: w.Form2()}
	if k.reselect {
		k.left, _, _ = w.Position(pending.StepID)
	}
	// Decisions belong to the step being left, so they are read before the walk moves.
	k.applyDecisions()
	k.walk(k.after(at.Index))
	return k.result(), nil
}

// Frames returns a copy of a state's loop stack, outermost first.
func Frames(s snapshot.State) []snapshot.Frame {
	if s.LoopStack == nil {
		return nil
	}
	return append([]snapshot.Frame(nil), *s.LoopStack...)
}

// fits checks a loop stack against the workflow: every loop must be in the body of the loop
// around it, and the pending step in the innermost body.
func fits(w compile.Compiled, at compile.StepPlace, frames []snapshot.Frame) error {
	for i := len(frames) - 1; i >= 0; i-- {
		// Frames are checked from the innermost outwards; at moves to the loop's own
		// position.
		if at.LoopID != frames[i].LoopID {
			return fmt.Errorf("the node's snapshot names loop %q where the pinned workflow has %q", frames[i].LoopID,
				at.LoopID)
		}
		var ok bool
		if at, ok = w.StepPlace(at.LoopID); !ok {
			return fmt.Errorf("the pinned workflow has no loop %q", frames[i].LoopID)
		}
	}
	if at.LoopID != "" {
		return fmt.Errorf("the node's snapshot lacks loop %q", at.LoopID)
	}
	return nil
}

// walker is the state of one walk. Its frames are a copy that it may change.
type walker struct {
	w         compile.Compiled
	in        Input
	frames    []snapshot.Frame
	completed []string
	trace     []event.TraceEntry
	unmet     []reason.Unmet
	loose     []condition.Match
	state     snapshot.State
	turns     int  // iterations ended in this walk; bounds walks without a step
	stopped   bool // at an unmet condition, without NeverStop

	// reselect: the main sequence is still to be walked from its first step (form 2).
	reselect bool
	// left is the index in the main sequence of the step that is left, or of the outermost
	// loop around it. It is 0 where no step before it can be selected: at the start of a run
	// and in form 1.
	left int
}

// result returns the outcome of the walk, with the trace within its limits.
func (k *walker) result() Result { return Result{k.state, shorten(k.trace), k.unmet, k.loose} }

// top returns the innermost loop, nil outside of loops.
func (k *walker) top() *snapshot.Frame {
	if len(k.frames) == 0 {
		return nil
	}
	return &k.frames[len(k.frames)-1]
}

// loopID returns the id of the innermost loop, "" outside of loops.
func (k *walker) loopID() string {
	if top := k.top(); top != nil {
		return top.LoopID
	}
	return ""
}

// walk continues at an index of the current sequence until a step is pending, no step is
// left, or the walk stopped. It terminates: every round advances in a sequence, starts one of
// a bounded number of iterations, leaves a loop, or, once in a walk, returns to the first step.
// A run terminates, since every walk selects a step that is not completed: in the main sequence
// each step and loop is selected at most once, and iterations are bounded.
func (k *walker) walk(index int) {
	for !k.stopped {
		sequence := k.w.Sequence(k.loopID())
		if index >= len(sequence) {
			if len(k.frames) == 0 {
				k.finish()
				return
			}
			// The end of a body: another iteration of the loop, or the step after it.
			index = k.endIteration()
			continue
		}
		step := &sequence[index]
		switch {
		case k.isCompleted(step) || !k.runs(step, index):
			index++
		// A loop is entered, and skipped there if it has no iterations.
		case step.Type == compile.LoopStep:
			index = k.enterLoop(step.StepID, index)
		default:
			k.wait(step, index)
			return
		}
	}
}

// after returns the index at which the walk continues in the current sequence, behind the step
// or loop at an index. In form 2 that is the first step when the walk reaches the main sequence,
// so that a step which was passed over is selected once its condition holds
// (docs/design.md#selection). Later loops of the walk are followed by the next step: the context
// is the same, so that no condition before them has another value.
func (k *walker) after(index int) int {
	if k.reselect && len(k.frames) == 0 {
		k.reselect = false
		return 0
	}
	return index + 1
}

// isCompleted reports whether a step or loop of the main sequence is completed, in form 2. In the
// body of a loop, and in form 1, the walk is never before a completed step.
func (k *walker) isCompleted(step *compile.Step) bool {
	if len(k.frames) > 0 || !k.w.Form2() {
		return false
	}
	_, found := slices.BinarySearch(k.completed, step.StepID)
	return found
}

// runs evaluates the condition of the step at an index. A step without a condition runs and adds
// no trace entry, as does a step before the one that is left which is passed over again: it would
// be traced in every advance of the run, and so would its loose matches be warned of.
func (k *walker) runs(step *compile.Step, index int) bool {
	c := step.Condition()
	if c.IsZero() {
		return true
	}
	vars := k.vars()
	d := c.Decide(vars)
	if back := len(k.frames) == 0 && index < k.left; d.Held || !back {
		k.loose = condition.AddMatches(k.loose, d.Loose)
		k.addTrace(event.EvaluatedCondition, stepSummary(step, d, back, c.Missing(vars)), event.StepRef(step.StepID))
	}
	return d.Held
}

// decide evaluates a condition that decides the walk, and keeps its loose matches.
func (k *walker) decide(c condition.Condition, vars canon.Value) condition.Decision {
	d := c.Decide(vars)
	k.loose = condition.AddMatches(k.loose, d.Loose)
	return d
}

// wait ends the walk at a step that must be performed.
func (k *walker) wait(step *compile.Step, index int) {
	if top := k.top(); top != nil {
		// The position is stored, so that Next can continue after it.
		top.BodyIndex = int64(index)
	}
	k.state = snapshot.At(step.StepID, k.frames, k.completed)
	refs := []event.TraceRef{event.StepRef(step.StepID)}
	summary := fmt.Sprintf("Step %q is next.", step.StepID)
	if top := k.top(); top != nil {
		refs = append(refs, event.LoopRef(top.LoopID), event.IterationRef(top.Iteration))
		summary = fmt.Sprintf("Step %q of loop %q is next, in iteration %d.", step.StepID, top.LoopID, top.Iteration)
	}
	k.addTrace(event.SelectedNextStep, summary, refs...)
	if loose := k.looseShown(step); len(loose) > 0 {
		k.loose = condition.AddMatches(k.loose, loose)
		k.addTrace(event.EvaluatedCondition, fmt.Sprintf("Step %q is shown as its conditions say%s.", step.StepID,
			loosely(loose)), event.StepRef(step.StepID))
	}
}

// looseShown returns the loose matches of the conditions that decide how the pending step is
// shown: of its confirmation, which only the guided mode asks for, its approval, and the
// fragments of its prompt.
func (k *walker) looseShown(step *compile.Step) []condition.Match {
	kinds := []compile.ConfirmationKind{compile.ConfirmApproval}
	if k.in.Guided {
		kinds = append(kinds, compile.ConfirmIf)
	}
	loose := looseGates(k.w, k.state, k.in.Vars, kinds...)
	for _, f := range step.PromptFragments {
		loose = condition.AddMatches(loose, f.Condition().Decide(k.vars()).Loose)
	}
	return loose
}

// finish ends the walk with the run complete.
func (k *walker) finish() {
	k.state = snapshot.Done()
	k.addTrace(event.SelectedNextStep, "No step is left: the run is complete.")
}

// addUnmet records an unmet condition, each once. Without NeverStop it stops the walk.
func (k *walker) addUnmet(u reason.Unmet) {
	if slices.ContainsFunc(k.unmet, u.Same) {
		return
	}
	k.unmet = append(k.unmet, u)
	k.stopped = !k.in.NeverStop
}
