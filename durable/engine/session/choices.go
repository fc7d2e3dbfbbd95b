package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/choices"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/run/wait"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections/runs"
)

// Choices returns the lists of the inputs with choicesFrom of the step that is pending at p, by
// context key; nil for a step without such an input, for which nothing is read
// (docs/design.md#typed-answers). With the error ARTIFACT_ERASED all lists are complete but those
// whose artifact was erased, which say so.
func (r *Reader) Choices(ctx context.Context, w compile.Compiled, p Resolved,
	s snapshot.State) (map[string]choices.List, error) {
	pending := s.PendingStep()
	if pending == nil {
		return nil, nil
	}
	type result struct {
		value canon.Value
		why   string
	}
	step, _ := w.Step(pending.StepID)
	known := map[string]result{} // by step
	var out map[string]choices.List
	var erased error
	for _, in := range step.Inputs {
		from := in.ChoicesFrom
		if from == nil {
			continue
		}
		have, read := known[from.Step]
		if !read {
			at, why, err := r.leftAt(ctx, w, p, s, from.Step)
			if err == nil && at != nil {
				have.value, why, err = r.resultAt(ctx, at)
			}
			if fault.Is(err, fault.ArtifactErased) {
				erased, err, why = err, nil, "the artifact was erased"
			}
			if err != nil {
				return nil, err
			}
			have.why = why
			known[from.Step] = have
		}
		if out == nil {
			out = map[string]choices.List{}
		}
		out[in.ContextKey] = choices.Of(have.value, *from)
		if have.why != "" {
			out[in.ContextKey] = choices.None(*from, have.why)
		}
	}
	return out, erased
}

// leftAt returns the nearest node on the path to p at which a step was completed, with the outputs
// that it had when the path left it; nil and why, as a clause, if there is none in this run.
func (r *Reader) leftAt(ctx context.Context, w compile.Compiled, p Resolved, s snapshot.State,
	stepID string) (*runs.Node, string, error) {
	path, whole := pathTo(p)
	key := keyAbove(w, *s.PendingStep(), stepID)
	if !slices.Contains(s.CompletedKeys(), key) {
		return r.leftEarlier(ctx, p, path, whole, stepID)
	}
	// The key stays among the completed ones while its iteration lasts, as far as p.
	var err error
	i, _ := slices.BinarySearchFunc(path, true, func(at *runs.Node, _ bool) int {
		state, readErr := r.State(ctx, at)
		err = cmp.Or(err, readErr)
		if slices.Contains(state.CompletedKeys(), key) {
			return 1
		}
		return -1
	})
	switch {
	case err != nil:
		return nil, "", err
	case i == 0 && !whole:
		if p, err = r.WholePath(ctx, p); err != nil {
			return nil, "", err
		}
		return r.leftAt(ctx, w, p, s, stepID)
	case i == 0:
		return nil, "the run was forked after that step, and its result is in the other run", nil
	}
	return p.Run.Before(path[i]), "", nil
}

// leftEarlier is leftAt for a step that was passed over in the current iteration: an earlier one may
// have completed it.
func (r *Reader) leftEarlier(ctx context.Context, p Resolved, path []*runs.Node, whole bool,
	stepID string) (*runs.Node, string, error) {
	for i := len(path) - 1; i > 0; i-- {
		state, err := r.State(ctx, path[i-1])
		if err != nil {
			return nil, "", err
		}
		if pending := state.PendingStep(); pending != nil && pending.StepID == stepID {
			return p.Run.Before(path[i]), "", nil
		}
	}
	if whole {
		return nil, "the step was passed over", nil
	}
	p, err := r.WholePath(ctx, p)
	if err != nil {
		return nil, "", err
	}
	path, _ = pathTo(p)
	return r.leftEarlier(ctx, p, path, true, stepID)
}

// pathTo returns the nodes on the path to p, oldest first. whole is false if the fold left out the
// beginning of it.
func pathTo(p Resolved) (path []*runs.Node, whole bool) {
	at := p.Node
	for path = []*runs.Node{at}; at.Parent != nil; path = append(path, at) {
		up := p.Run.Node(*at.Parent)
		if up == nil || up.CreatedIndex >= at.CreatedIndex {
			break
		}
		at = up
	}
	slices.Reverse(path)
	return path, at.Parent == nil || !p.Run.Evicted
}

// keyAbove is the key of a step in the iterations around the pending one.
func keyAbove(w compile.Compiled, pending snapshot.PendingStep, stepID string) string {
	place, _ := w.StepPlace(stepID)
	for i, around := range pending.LoopPath {
		if around.LoopID == place.LoopID {
			return snapshot.InstanceKey(pending.LoopPath[:i+1], stepID)
		}
	}
	return snapshot.InstanceKey(nil, stepID)
}

// resultAt returns what the step of a node handed in as JSON: its newest artifact that the engine did
// not make, else what its command printed. why is a clause if there is neither.
func (r *Reader) resultAt(ctx context.Context, at *runs.Node) (v canon.Value, why string, err error) {
	var printed *runs.Output
	for _, o := range slices.Backward(at.Artifacts()) {
		switch {
		case o.Payload.ContentType != "application/json", o.IsDecision(), o.Payload.ArtifactKind == event.DecisionKind,
			o.Payload.ArtifactKind == wait.Kind, o.Payload.ArtifactKind == check.Kind, o.Payload.ArtifactKind == host.Kind:
		case o.Payload.ArtifactKind == command.Kind:
			if printed == nil {
				printed = &o
			}
		case o.Payload.ByteLength > limits.ChoicesReadBytesMax:
			return v, tooLong(o.Payload), nil
		default:
			v, err = r.Artifact(ctx, o.Payload.SHA256)
			return v, "", err
		}
	}
	switch {
	case printed == nil:
		return v, "the step handed in no JSON artifact", nil
	case printed.Payload.ByteLength > limits.ChoicesReadBytesMax:
		return v, tooLong(printed.Payload), nil
	}
	record, err := r.Artifact(ctx, printed.Payload.SHA256)
	if err != nil {
		return v, "", err
	}
	ran, err := command.Decode(record)
	if err != nil || !ran.OK() {
		return v, "its command did not succeed", nil
	}
	v, why = ran.Printed()
	return v, why, nil
}

// tooLong is why an artifact was not read.
func tooLong(is event.OutputPayload) string {
	return fmt.Sprintf("the artifact has %d bytes, at most %d are read", is.ByteLength, limits.ChoicesReadBytesMax)
}
