package snapshot

import (
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

// View is what a snapshot says to whoever only looks: where the run stands. It is made
// of a State or, with DecodeForeign, of what another program stored, and there is no
// way from it to a State: nothing goes on from a View (R14).
type View struct {
	kind      string
	pending   *PendingStep
	completed []string
	lacks     []Lack
}

// Lack is one thing for want of which another program refused an attempt. Ours stand
// in the events of the attempt (R16).
type Lack struct {
	Code         string `json:"code"` // of the locks' blocker codes, as far as the writer kept to them
	Message      string `json:"message"`
	SuggestedFix string `json:"suggestedFix,omitzero"` // for callers of the program that wrote it
}

// blockedKind is the state of a run that waits for what a refused attempt lacked. This
// version keeps such a run in its running state.
const blockedKind = "blocked"

// View shows a state of our own.
func (s State) View() View {
	return View{kind: string(s.Kind), pending: s.PendingStep(), completed: s.CompletedKeys()}
}

// IsComplete reports a run that has nothing left to do.
func (v View) IsComplete() bool { return v.kind == string(Complete) }

// IsBlocked reports a run that another program stored as blocked.
func (v View) IsBlocked() bool { return v.kind == blockedKind }

// PendingStep is the pending step, nil when there is none.
func (v View) PendingStep() *PendingStep { return v.pending }

// CompletedKeys are the step instance keys that are done, in the order in which they
// were stored; callers must not change them.
func (v View) CompletedKeys() []string { return v.completed }

// Lacks are what a blocked state says is missing, in its order.
func (v View) Lacks() []Lack { return v.lacks }

// DecodeForeign reads what another program or version stored in the place of a
// snapshot: the members that this version knows, in any order of keys and sets, and
// nothing of the others. What is no snapshot at all is ErrUnknownShape.
func DecodeForeign(data []byte) (View, error) {
	if len(data) > limits.SnapshotBytesMax {
		return View{}, fmt.Errorf("%w: %d bytes", ErrUnknownShape, len(data))
	}
	file, err := canon.Parse(data)
	if err != nil {
		return View{}, fmt.Errorf("%w: %w", ErrUnknownShape, err)
	}
	payload := member(file, "enginePayload")
	state := member(payload, "engineState")
	v := View{kind: member(state, "kind").Text()}
	if member(file, "kind").Text() != fileKind || member(file, "v").Float() != 1 || member(payload, "v").Float() != 1 ||
		v.kind == "" {
		return View{}, fmt.Errorf("%w: no engine state of version 1", ErrUnknownShape)
	}
	if step := member(member(state, "pending"), "step"); step.Kind() == canon.Object {
		v.pending = foreignStep(step)
	}
	for _, key := range items(member(member(state, "completed"), "values")) {
		if key.Text() != "" {
			v.completed = append(v.completed, key.Text())
		}
	}
	for _, b := range items(member(member(member(state, "blocked"), "blockers"), "blockers")) {
		if message := member(b, "message").Text(); message != "" {
			v.lacks = append(v.lacks, Lack{member(b, "code").Text(), message, member(b, "suggestedFix").Text()})
		}
	}
	return v, nil
}

// foreignStep is nil for what names no step.
func foreignStep(step canon.Value) *PendingStep {
	p := &PendingStep{LoopPath: []PathElement{}, StepID: member(step, "stepId").Text()}
	for _, at := range items(member(step, "loopPath")) {
		p.LoopPath = append(p.LoopPath, PathElement{int64(member(at, "iteration").Float()), member(at, "loopId").
			Text()})
	}
	if p.StepID == "" {
		return nil
	}
	return p
}

// member is a member of an object, null where it is not there.
func member(v canon.Value, name string) canon.Value {
	m, _ := v.Get(name)
	return m
}

// items are those of a list, none of anything else.
func items(v canon.Value) []canon.Value {
	if v.Kind() != canon.Array {
		return nil
	}
	out := make([]canon.Value, v.Len())
	for i := range out {
		out[i] = v.Item(i)
	}
	return out
}
