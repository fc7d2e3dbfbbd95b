// Package interpreter walks a compiled workflow: which step comes first, which one
// follows the step that was done, when a loop goes round again and when it ends
// (locks section 9; R22). A walk is a pure function of the pinned workflow, the
// state at a node, the context and the node's artifacts; it says why it went where
// it went, and what kept it from going on.
//
// Whether something missing blocks or is disclosed is a matter of mode and is
// told to the walk; what is recorded of it is decided by package advance.
package interpreter

import (
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// Input is what a walk looks at beside workflow and state.
type Input struct {
	// Vars is the context that holds when the step is left.
	Vars canon.Value
	// Artifacts are the JSON artifacts that are current at the node, oldest first.
	Artifacts []canon.Value
	// NeverStop: what is missing is gone around, as R22 says for each case.
	NeverStop bool
}

// Result is where a walk came to. Without NeverStop the State means nothing when
// something is Unmet.
type Result struct {
	State snapshot.State
	Trace []event.TraceEntry
	Unmet []reason.Unmet
}

// Begin walks from the start of a workflow to its first step.
func Begin(w compile.Compiled, in Input) Result {
	k := walker{w: w, in: in}
	k.walk(0)
	return k.result()
}

// Next walks from the pending step of a state, which is done, to the step that
// follows. An error is a state that is not one of this workflow.
func Next(w compile.Compiled, s snapshot.State, in Input) (Result, error) {
	pending := s.PendingStep()
	if pending == nil {
		return Result{}, fmt.Errorf("no step is pending")
	}
	at, ok := w.Place(pending.StepID)
	if !ok {
		return Result{}, fmt.Errorf("the pinned workflow has no step %q, which the node's snapshot names",
			pending.StepID)
	}
	frames := Frames(s)
	if err := fits(w, at, frames); err != nil {
		return Result{}, err
	}
	k := walker{w: w, in: in, frames: frames, completed: s.WithCompleted(pending.Key())}
	k.listen()
	k.walk(at.Index + 1)
	return k.result(), nil
}

// Frames is a copy of a state's loop stack, outermost first.
func Frames(s snapshot.State) []snapshot.Frame {
	if s.LoopStack == nil {
		return nil
	}
	return append([]snapshot.Frame(nil), *s.LoopStack...)
}

// fits holds a loop stack against the workflow: each loop stands in the body of the
// one around it, and the pending step in the innermost.
func fits(w compile.Compiled, at compile.Place, frames []snapshot.Frame) error {
	for i := len(frames) - 1; i >= 0; i-- {
		if at.LoopID != frames[i].LoopID {
			return fmt.Errorf("the node's snapshot names loop %q where the pinned workflow has %q", frames[i].LoopID,
				at.LoopID)
		}
		var ok bool
		if at, ok = w.Place(at.LoopID); !ok {
			return fmt.Errorf("the pinned workflow has no loop %q", frames[i].LoopID)
		}
	}
	if at.LoopID != "" {
		return fmt.Errorf("the node's snapshot lacks loop %q", at.LoopID)
	}
	return nil
}

// walker is one walk. Its frames are its own.
type walker struct {
	w         compile.Compiled
	in        Input
	frames    []snapshot.Frame
	completed []string
	trace     []event.TraceEntry
	unmet     []reason.Unmet
	state     snapshot.State
	turns     int  // iterations ended in this walk
	stopped   bool // at something unmet, without NeverStop
}

func (k *walker) result() Result { return Result{k.state, shorten(k.trace), k.unmet} }

// top is the innermost loop, nil outside of loops.
func (k *walker) top() *snapshot.Frame {
	if len(k.frames) == 0 {
		return nil
	}
	return &k.frames[len(k.frames)-1]
}

func (k *walker) loopID() string {
	if top := k.top(); top != nil {
		return top.LoopID
	}
	return ""
}

// walk goes on from a place in the current sequence until a step waits, nothing is
// left, or something is missing. Every round moves on in a sequence, starts an
// iteration, of which there is a bounded number, or leaves a loop: it ends.
func (k *walker) walk(index int) {
	for !k.stopped {
		sequence := k.w.Sequence(k.loopID())
		if index >= len(sequence) {
			if len(k.frames) == 0 {
				k.finish()
				return
			}
			index = k.turn()
			continue
		}
		step := &sequence[index]
		switch {
		case !k.runs(step):
			index++
		case step.Type == compile.LoopStep:
			index = k.enter(step.StepID, index)
		default:
			k.wait(step, index)
			return
		}
	}
}

// runs asks a step's condition; a step without one runs and leaves no trace of it.
func (k *walker) runs(step *compile.Step) bool {
	c := step.Condition()
	if c.IsZero() {
		return true
	}
	vars := k.vars()
	held := c.Eval(vars)
	k.note(event.EvaluatedCondition, stepSummary(step, held, c.Missing(vars)), event.StepRef(step.StepID))
	return held
}

// wait stops at a step that someone has to do.
func (k *walker) wait(step *compile.Step, index int) {
	if top := k.top(); top != nil {
		top.BodyIndex = int64(index)
	}
	k.state = snapshot.At(step.StepID, k.frames, k.completed)
	refs := []event.TraceRef{event.StepRef(step.StepID)}
	summary := fmt.Sprintf("Step %q is next.", step.StepID)
	if top := k.top(); top != nil {
		refs = append(refs, event.LoopRef(top.LoopID), event.IterationRef(top.Iteration))
		summary = fmt.Sprintf("Step %q of loop %q is next, in iteration %d.", step.StepID, top.LoopID, top.Iteration)
	}
	k.note(event.SelectedNextStep, summary, refs...)
}

func (k *walker) finish() {
	k.state = snapshot.Done()
	k.note(event.SelectedNextStep, "No step is left: the run is complete.")
}

// miss notes something unmet, once. Without NeverStop the walk ends there.
func (k *walker) miss(u reason.Unmet) {
	for _, have := range k.unmet {
		if have.Same(u) {
			return
		}
	}
	k.unmet = append(k.unmet, u)
	k.stopped = !k.in.NeverStop
}
