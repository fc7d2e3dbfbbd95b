package snapshot

import (
	"fmt"
	"math"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/problem"
)

// DecodeForeignState reads a snapshot by another program as a whole State, from which a fork can
// begin (docs/design.md#foreign-stores). A state after a refused attempt is that of the step that
// is still pending. The result may contain keys that its workflow does not have, and lacks what
// only Waybill stores; interpreter.Adopt completes it. A member, kind or number that is not known is
// ErrUnknownShape, whose text names it.
func DecodeForeignState(data []byte) (State, error) {
	if len(data) > limits.SnapshotBytesMax {
		return State{}, fmt.Errorf("%w: %d bytes", ErrUnknownShape, len(data))
	}
	doc, err := canon.Parse(data)
	if err != nil {
		return State{}, fmt.Errorf("%w: %w", ErrUnknownShape, err)
	}
	var f foreignFile
	root := problem.SourceValue{Value: doc}
	s := f.state(f.payload(root))
	if f.err == nil {
		f.err = s.Check()
	}
	if f.err != nil {
		return State{}, fmt.Errorf("%w: %w", ErrUnknownShape, f.err)
	}
	return s, nil
}

// foreignFile decodes one snapshot and keeps the first error.
type foreignFile struct{ err error }

// only refuses members other than the named ones.
func (f *foreignFile) only(at problem.SourceValue, what string, names ...string) {
	v := at.Value
	if v.Kind() != canon.Object {
		f.fail("%s is missing", what)
		return
	}
	for i := range v.Len() {
		if name := v.Key(i); !slices.Contains(names, name) {
			f.fail("%s has the member %.64q, which is not known", what, name)
		}
	}
}

// fail keeps an error, unless there is one.
func (f *foreignFile) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

// index returns a whole number of 0 or more.
func (f *foreignFile) index(at problem.SourceValue, name string) int64 {
	n := at.Member(name).Value
	if v := n.Float(); n.Kind() != canon.Number || v < 0 || v != math.Trunc(v) || v > math.MaxInt32 {
		f.fail("%s of a loop is no count", name)
		return 0
	}
	return int64(n.Float())
}

// payload returns the engine state of a file.
func (f *foreignFile) payload(root problem.SourceValue) problem.SourceValue {
	f.only(root, "the file", "enginePayload", "kind", "v")
	payload := root.Member("enginePayload")
	f.only(payload, "enginePayload", "engineState", "v")
	if textIn(root, "kind") != fileKind || root.Member("v").Value.Float() != 1 || payload.Member("v").Value.Float() != 1 {
		f.fail("no engine state of version 1")
	}
	return payload.Member("engineState")
}

// state reads the engine state.
func (f *foreignFile) state(at problem.SourceValue) State {
	switch kind := textIn(at, "kind"); kind {
	case string(Complete):
		f.only(at, "engineState", "kind")
		return Done()
	case string(Running), blockedKind:
	default:
		f.fail("the engine state %.64q is not known", kind)
		return State{}
	}
	f.only(at, "engineState", "blocked", "completed", "kind", "loopStack", "pending")
	f.only(at.Member("completed"), "completed", "kind", "values")
	var keys []string
	for _, key := range at.Member("completed").Member("values").Items() {
		keys = append(keys, key.Value.Text())
	}
	var frames []Frame
	for _, frame := range at.Member("loopStack").Items() {
		f.only(frame, "a loop", "bodyIndex", "iteration", "loopId")
		frames = append(frames, Frame{BodyIndex: f.index(frame, "bodyIndex"), Iteration: f.index(frame, "iteration"),
			LoopID: textIn(frame, "loopId")})
	}
	pending := at.Member("pending")
	f.only(pending, "pending", "kind", "step")
	step := foreignStep(pending.Member("step"))
	if step == nil {
		f.fail("no step is pending in the state %q", textIn(at, "kind"))
		return State{}
	}
	f.only(pending.Member("step"), "the pending step", "loopPath", "stepId")
	if !slices.Equal(step.LoopPath, PathOf(frames)) {
		f.fail("the pending step's path is not the loop stack")
	}
	return At(step.StepID, frames, keys)
}
