// Package snapshot defines the execution state at a node (docs/design.md#snapshots): the
// pending step, the loop stack and the completed steps.
//
// It contains what a run needs to continue and nothing that can be computed from events.
// Encode and Decode are strict and refuse impossible states; the package stores nothing and
// decides no transition, which package interpreter does. View is the read-only form, also of
// snapshots by other programs.
package snapshot

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
)

// StateKind is the closed set of engine states that Waybill writes. A session with others,
// written by another program, has an unknown version.
type StateKind string

// The state kinds.
const (
	Running  StateKind = "running"
	Complete StateKind = "complete"
)

// Frame is one entered loop: its current iteration and the position in its body.
type Frame struct {
	BodyIndex int64  `json:"bodyIndex"`      // 0-based
	Count     *int64 `json:"count,omitzero"` // number of iterations, fixed on entry; for and forEach only
	// Decision is "continue" or "stop" once an artifact of this iteration decided the loop.
	// It is stored because later steps of the body do not have the artifact.
	Decision  string `json:"decision,omitzero"`
	Iteration int64  `json:"iteration"` // 0-based
	LoopID    string `json:"loopId"`
}

// PathElement is one loop and iteration of a pending step's path.
type PathElement struct {
	Iteration int64  `json:"iteration"`
	LoopID    string `json:"loopId"`
}

// PendingStep is the step that awaits acknowledgement, with the loops around it, outermost
// first.
type PendingStep struct {
	LoopPath []PathElement `json:"loopPath"`
	StepID   string        `json:"stepId"`
}

// Pending states explicitly whether a step is pending.
type Pending struct {
	Kind string       `json:"kind"` // "none" or "some"
	Step *PendingStep `json:"step,omitzero"`
}

// Completed is the set of step instance keys that are done: those of the main sequence and of
// iterations still on the stack. An ended loop is represented by its own id
// (docs/design.md#loops).
type Completed struct {
	Kind   string   `json:"kind"` // "set"
	Values []string `json:"values"`
}

// State is the interpreter's state at a node. A complete state has no members besides Kind.
type State struct {
	Completed *Completed `json:"completed,omitzero"`
	Kind      StateKind  `json:"kind"`
	LoopStack *[]Frame   `json:"loopStack,omitzero"`
	Pending   *Pending   `json:"pending,omitzero"`
}

// payload is the member enginePayload of a snapshot file.
type payload struct {
	EngineState State `json:"engineState"`
	V           int64 `json:"v"`
}

// file is a snapshot file.
type file struct {
	EnginePayload payload `json:"enginePayload"`
	Kind          string  `json:"kind"`
	V             int64   `json:"v"`
}

const fileKind = "execution_snapshot"

// ErrUnknownShape is returned for a snapshot that this version cannot have written. If its
// digest is valid, the session's version is unknown rather than damaged
// (docs/design.md#foreign-stores).
var ErrUnknownShape = errors.New("snapshot of a shape that this version does not know")

// Done returns the state of a complete run.
func Done() State { return State{Kind: Complete} }

// At returns a running state with a pending step, whose path follows from the frames.
// completed is sorted if necessary and becomes part of the state: the caller must not change
// it afterwards.
func At(stepID string, frames []Frame, completed []string) State {
	keys := completed
	if keys == nil {
		keys = []string{} // an empty set is written, not omitted
	}
	if !ascending(keys) {
		keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	}
	stack := append([]Frame{}, frames...)
	return State{
		Kind: Running, LoopStack: &stack, Completed: &Completed{"set", keys},
		Pending: &Pending{"some", &PendingStep{LoopPath: PathOf(frames), StepID: stepID}},
	}
}

// PathOf returns the loop path of a stack of frames.
func PathOf(frames []Frame) []PathElement {
	path := make([]PathElement, len(frames))
	for i, f := range frames {
		path[i] = PathElement{Iteration: f.Iteration, LoopID: f.LoopID}
	}
	return path
}

// ascending reports whether keys are sorted and distinct, as they are except in the first
// call. It avoids copying thousands of keys at every step of a long run.
func ascending(keys []string) bool {
	for i := 1; i < len(keys); i++ {
		if keys[i-1] >= keys[i] {
			return false
		}
	}
	return true
}

// IsComplete reports whether the run has no steps left.
func (s State) IsComplete() bool { return s.Kind == Complete }

// PendingStep returns the pending step, nil if there is none.
func (s State) PendingStep() *PendingStep {
	if s.Pending == nil {
		return nil
	}
	return s.Pending.Step
}

// StepIDs returns the ids of the steps and loops that the state names: pending, entered and
// completed ones, in this order and with repetitions.
func (s State) StepIDs() []string {
	var out []string
	if p := s.PendingStep(); p != nil {
		out = append(out, p.StepID)
	}
	if s.LoopStack != nil {
		for _, f := range *s.LoopStack {
			out = append(out, f.LoopID)
		}
	}
	for _, key := range s.CompletedKeys() {
		_, step, inside := strings.Cut(key, "::") // Check parsed the key
		if !inside {
			step = key
		}
		out = append(out, step)
	}
	return out
}

// CompletedKeys returns the sorted keys of the completed steps; callers must not change the
// slice.
func (s State) CompletedKeys() []string {
	if s.Completed == nil {
		return nil
	}
	return s.Completed.Values
}

// WithCompleted returns the sorted keys of the completed steps with one added, in a new
// slice.
func (s State) WithCompleted(key string) []string {
	return WithKey(s.CompletedKeys(), key)
}

// WithKey returns sorted keys with one added, in a new slice.
func WithKey(keys []string, key string) []string {
	at, found := slices.BinarySearch(keys, key)
	if found {
		return slices.Clone(keys)
	}
	return slices.Concat(keys[:at], []string{key}, keys[at:])
}

// Encode returns the bytes of the snapshot file: canonical JSON without a newline
// (docs/design.md#lines-and-files). States that Check refuses, and files over
// limits.SnapshotBytesMax, are errors.
func (s State) Encode() ([]byte, error) {
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	data, err := canon.Marshal(file{payload{s, 1}, fileKind, 1})
	if len(data) > limits.SnapshotBytesMax {
		return nil, fmt.Errorf("snapshot: %d bytes: want at most %d", len(data), limits.SnapshotBytesMax)
	}
	return data, err
}

// Decode reads a snapshot file strictly: the result encodes to the same bytes. All other
// input is ErrUnknownShape, whose text states the reason.
func Decode(data []byte) (State, error) {
	var f file
	if len(data) > limits.SnapshotBytesMax {
		return State{}, fmt.Errorf("%w: %d bytes", ErrUnknownShape, len(data))
	}
	if err := canon.UnmarshalExact(data, &f); err != nil {
		return State{}, fmt.Errorf("%w: %w", ErrUnknownShape, err)
	}
	if f.Kind != fileKind || f.V != 1 || f.EnginePayload.V != 1 {
		return State{}, fmt.Errorf("%w: kind %q, v %d, payload v %d", ErrUnknownShape, f.Kind, f.V, f.EnginePayload.V)
	}
	s := f.EnginePayload.EngineState
	if err := s.Check(); err != nil {
		return State{}, fmt.Errorf("%w: %w", ErrUnknownShape, err)
	}
	return s, nil
}

// Check refuses impossible states (docs/design.md#snapshots).
func (s State) Check() error {
	if s.Kind == Complete {
		if s.Completed != nil || s.LoopStack != nil || s.Pending != nil {
			return errors.New("a complete state has no other members")
		}
		return nil
	}
	if s.Kind != Running {
		return fmt.Errorf("unknown engine state %q", s.Kind)
	}
	if s.Completed == nil || s.LoopStack == nil || s.Pending == nil {
		return errors.New("a running state wants completed, loopStack and pending")
	}
	if err := s.Completed.check(); err != nil {
		return err
	}
	if err := checkStack(*s.LoopStack); err != nil {
		return err
	}
	return s.checkPending()
}

// check refuses keys that are invalid, unsorted or repeated.
func (c Completed) check() error {
	if c.Kind != "set" {
		return fmt.Errorf("completed is a %q, want a set", c.Kind)
	}
	for i, key := range c.Values {
		if _, _, err := ParseKey(key); err != nil {
			return err
		}
		if i > 0 && c.Values[i-1] >= key {
			return fmt.Errorf("completed is not sorted by bytes at %q", key)
		}
	}
	return nil
}

// checkStack refuses invalid frames and a loop inside itself.
func checkStack(frames []Frame) error {
	seen := map[string]bool{}
	for _, f := range frames {
		switch {
		case !reason.ValidStepID(f.LoopID):
			return fmt.Errorf("loop id %q: want only a-z 0-9 _ -", f.LoopID)
		case seen[f.LoopID]:
			return fmt.Errorf("loop %q occurs twice on the stack", f.LoopID)
		case f.BodyIndex < 0 || f.Iteration < 0:
			return fmt.Errorf("loop %q: negative position", f.LoopID)
		case f.Count != nil && f.Iteration >= *f.Count:
			return fmt.Errorf("loop %q: iteration %d of %d", f.LoopID, f.Iteration, *f.Count)
		case f.Decision != "" && f.Decision != "continue" && f.Decision != "stop":
			return fmt.Errorf("loop %q: decision %q: want continue or stop", f.LoopID, f.Decision)
		}
		seen[f.LoopID] = true
	}
	return nil
}

// checkPending requires that the pending step's path equals the loop stack and that the step
// is not completed.
func (s State) checkPending() error {
	p := s.Pending
	if p.Kind == "none" && p.Step == nil {
		return nil
	}
	if p.Kind != "some" || p.Step == nil {
		return fmt.Errorf("pending is %q with the wrong members", p.Kind)
	}
	if !slices.Equal(p.Step.LoopPath, PathOf(*s.LoopStack)) {
		return errors.New("the pending step's path is not the loop stack")
	}
	if !reason.ValidStepID(p.Step.StepID) {
		return fmt.Errorf("step id %q: want only a-z 0-9 _ -", p.Step.StepID)
	}
	if _, done := slices.BinarySearch(s.Completed.Values, p.Step.Key()); done {
		return fmt.Errorf("step %q is pending and completed", p.Step.Key())
	}
	return nil
}
