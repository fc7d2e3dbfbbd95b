package snapshot

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/problem"
)

// View is the read-only form of a snapshot, for display: of a State, or of a snapshot by
// another program (DecodeForeign). It cannot be converted to a State, since no run can be
// continued from a foreign snapshot (docs/design.md#foreign-stores).
type View struct {
	kind      string
	pending   *PendingStep
	completed []string
	blockers  []ForeignBlocker
}

// ForeignBlocker is one blocker of a refused attempt in a snapshot by another program. Waybill's own
// blockers are in the attempt's events (docs/design.md#blocked-attempts).
type ForeignBlocker struct {
	Code         string `json:"code"` // a blocker code, if the writer used the closed set
	Message      string `json:"message"`
	SuggestedFix string `json:"suggestedFix,omitzero"` // for callers of the program that wrote it
}

// blockedKind is the state of a run whose last attempt was refused, in stores of other
// programs. Waybill leaves such a run in its running state.
const blockedKind = "blocked"

// View returns the read-only form of the state.
func (s State) View() View {
	return View{kind: string(s.Kind), pending: s.PendingStep(), completed: s.CompletedKeys()}
}

// Brief returns a copy without the keys of the completed steps, which shares no memory with the snapshot: of a long run
// each snapshot has thousands of keys.
func (v View) Brief() View {
	out := View{kind: strings.Clone(v.kind), blockers: v.blockers}
	if v.pending != nil {
		p := PendingStep{LoopPath: make([]PathElement, len(v.pending.LoopPath)), StepID: strings.Clone(v.pending.StepID)}
		for i, at := range v.pending.LoopPath {
			p.LoopPath[i] = PathElement{at.Iteration, strings.Clone(at.LoopID)}
		}
		out.pending = &p
	}
	return out
}

// IsComplete reports whether the run has no steps left.
func (v View) IsComplete() bool { return v.kind == string(Complete) }

// IsBlocked reports a run that another program stored as blocked.
func (v View) IsBlocked() bool { return v.kind == blockedKind }

// PendingStep returns the pending step, nil if there is none.
func (v View) PendingStep() *PendingStep { return v.pending }

// CompletedKeys returns the keys of the completed steps, in stored order; callers must not
// change the slice.
func (v View) CompletedKeys() []string { return v.completed }

// Blockers returns the blockers of a blocked state, in stored order.
func (v View) Blockers() []ForeignBlocker { return v.blockers }

// DecodeForeign reads a snapshot by another program or version: the members that this version
// knows, in any order, ignoring the others. Data without an engine state of version 1 is
// ErrUnknownShape.
func DecodeForeign(data []byte) (View, error) {
	if len(data) > limits.SnapshotBytesMax {
		return View{}, fmt.Errorf("%w: %d bytes", ErrUnknownShape, len(data))
	}
	file, err := canon.Parse(data)
	if err != nil {
		return View{}, fmt.Errorf("%w: %w", ErrUnknownShape, err)
	}
	root := problem.SourceValue{Value: file}
	payload := root.Member("enginePayload")
	state := payload.Member("engineState")
	v := View{kind: textIn(state, "kind")}
	if textIn(root, "kind") != fileKind || root.Member("v").Value.Float() != 1 ||
		payload.Member("v").Value.Float() != 1 || v.kind == "" {
		return View{}, fmt.Errorf("%w: no engine state of version 1", ErrUnknownShape)
	}
	v.pending = foreignStep(state.Member("pending").Member("step"))
	for _, key := range state.Member("completed").Member("values").Items() {
		if key.Value.Text() != "" {
			v.completed = append(v.completed, key.Value.Text())
		}
	}
	for _, b := range state.Member("blocked").Member("blockers").Member("blockers").Items() {
		if message := textIn(b, "message"); message != "" {
			v.blockers = append(v.blockers, ForeignBlocker{textIn(b, "code"), message, textIn(b, "suggestedFix")})
		}
	}
	return v, nil
}

// foreignStep reads a pending step; nil if it has no step id.
func foreignStep(step problem.SourceValue) *PendingStep {
	p := &PendingStep{LoopPath: []PathElement{}, StepID: textIn(step, "stepId")}
	for _, at := range step.Member("loopPath").Items() {
		p.LoopPath = append(p.LoopPath, PathElement{int64(at.Member("iteration").Value.Float()), textIn(at, "loopId")})
	}
	if p.StepID == "" {
		return nil
	}
	return p
}

// textIn returns the text of a member, "" if it is absent or not a string.
func textIn(at problem.SourceValue, name string) string { return at.Member(name).Value.Text() }
