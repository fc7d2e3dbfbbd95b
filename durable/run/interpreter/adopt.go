package interpreter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// Adopt returns a state as one of the workflow w that it was not made with: another definition, or
// that of another program (docs/design.md#ends-and-branches). The pending step and the loops around
// it must be in w. Completed steps that w does not have are left out; loops that ended are
// completed; the length of a counted loop that was entered is read from vars if the state lacks
// it. The error says what does not fit.
func Adopt(w compile.Compiled, s snapshot.State, vars canon.Value) (snapshot.State, error) {
	pending := s.PendingStep()
	if pending == nil {
		return s, nil
	}
	at, ok := w.StepPlace(pending.StepID)
	if step, _ := w.Step(pending.StepID); !ok || step.Type == compile.LoopStep {
		return s, fmt.Errorf("the workflow has no step %q, which is pending at the node", pending.StepID)
	}
	frames := Frames(s)
	if err := fits(w, at, frames); err != nil {
		return s, err
	}
	for i := range frames {
		inner := pending.StepID
		if i+1 < len(frames) {
			inner = frames[i+1].LoopID
		}
		if err := adoptFrame(w, frames[:i+1], inner, vars); err != nil {
			return s, err
		}
	}
	keys, err := adoptKeys(w, s.CompletedKeys(), frames)
	if err != nil {
		return s, err
	}
	own := pending.Key()
	keys = slices.DeleteFunc(keys, func(key string) bool { return key == own })
	return snapshot.At(pending.StepID, frames, keys), nil
}

// adoptFrame corrects the last of the frames for w. inner is the step or loop in its body at which
// the state is.
func adoptFrame(w compile.Compiled, frames []snapshot.Frame, inner string, vars canon.Value) error {
	frame := &frames[len(frames)-1]
	loop, _ := w.Loop(frame.LoopID)
	place, _ := w.StepPlace(inner)
	frame.BodyIndex = int64(place.Index)
	if loop.Control != nil {
		frame.Count = nil
	} else if frame.Count == nil {
		k := walker{w: w, in: Input{Vars: vars}, frames: frames[:len(frames)-1]}
		n := k.length(loop)
		if len(k.unmet) > 0 {
			return fmt.Errorf("%s", strings.TrimSuffix(k.unmet[0].Message, "."))
		}
		frame.Count = &n
	}
	if loop.Control == nil || loop.Control.Kind != compile.ByArtifact {
		frame.Decision = ""
	}
	most := loop.MaxIterations
	if frame.Count != nil {
		most = min(most, *frame.Count)
	}
	if frame.Iteration >= most {
		return fmt.Errorf("loop %q is in iteration %d at the node, and has at most %s in the workflow", frame.LoopID,
			frame.Iteration+1, iterations(most))
	}
	return nil
}

// adoptKeys returns the completed keys that a state of w has beside the frames. Keys of iterations
// that ended are dropped, with the loop as completed if it ended too.
func adoptKeys(w compile.Compiled, keys []string, frames []snapshot.Frame) ([]string, error) {
	stack := snapshot.PathOf(frames)
	out := []string{}
	for _, key := range keys {
		path, stepID, err := snapshot.ParseKey(key)
		if err != nil {
			return nil, err
		}
		shared := 0
		for shared < min(len(path), len(stack)) && path[shared] == stack[shared] {
			shared++
		}
		if shared < len(path) { // of an iteration that ended
			stepID = path[shared].LoopID
			path = path[:shared]
		}
		around := ""
		if len(path) > 0 {
			around = path[len(path)-1].LoopID
		}
		place, ok := w.StepPlace(stepID)
		entered := shared < len(stack) && stack[shared].LoopID == stepID && len(path) == shared
		if ok && place.LoopID == around && !entered {
			out = append(out, snapshot.InstanceKey(path, stepID))
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
