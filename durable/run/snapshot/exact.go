package snapshot

import "github.com/waybill/waybill/durable/canon"

// ReadExact implements canon.ExactReader: a long run has as many snapshots as steps. A state inside a loop, without a pending
// step or at the end is read by its type.
func (f *file) ReadExact(x *canon.Exact) bool {
	from := x.Pos()
	return f.readOutsideLoops(x) || x.Members(from, f, 0)
}

// readOutsideLoops reads the state of a run whose pending step is in no loop.
func (f *file) readOutsideLoops(x *canon.Exact) (ok bool) {
	s := &f.EnginePayload.EngineState
	if !x.Literal(`{"enginePayload":{"engineState":{"completed":{"kind":"set","values":[`) {
		return false
	}
	s.Completed = &Completed{"set", make([]string, 0, 4)}
	for more := !x.Literal("]"); more; {
		key, ok := x.Text()
		if !ok {
			return false
		}
		s.Completed.Values = append(s.Completed.Values, key)
		if more = x.Literal(","); !more && !x.Literal("]") {
			return false
		}
	}
	if !x.Literal(`},"kind":"running","loopStack":[],"pending":{"kind":"some","step":{"loopPath":[],"stepId":`) {
		return false
	}
	step := &PendingStep{LoopPath: []PathElement{}}
	if step.StepID, ok = x.Text(); !ok || !x.Literal(`}}},"v":1},"kind":"execution_snapshot","v":1}`) {
		return false
	}
	s.Kind, s.LoopStack, s.Pending = Running, &[]Frame{}, &Pending{"some", step}
	f.EnginePayload.V, f.Kind, f.V = 1, fileKind, 1
	return true
}
