package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/prompt"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections/runs"
)

// results are artifacts of nodes, newest first, as a performer learns about them. The zero value
// is not usable: see newResults.
type results struct {
	list []prompt.Result
	more int // further ones, which are counted only

	bytes int64 // what may still be read
}

// newResults returns an empty list that reads at most limits.ResultsReadBytesMax bytes.
func newResults() results { return results{bytes: limits.ResultsReadBytesMax} }

// resultsBefore collects the current artifacts of the last limits.RecapAncestorsMax nodes before a
// node (docs/design.md#results-of-earlier-steps).
func (n *Answers) resultsBefore(ctx context.Context, w compile.Compiled, p session.Resolved) (results, error) {
	out := newResults()
	for range limits.RecapAncestorsMax {
		if p.Node = parentOf(p); p.Node == nil {
			break
		}
		if len(p.Node.Artifacts()) == 0 {
			continue // no snapshot is read for nothing
		}
		s, err := n.State(ctx, p.Node)
		if err != nil {
			return out, err
		}
		label, _ := stepLabel(w, s, p.Node.Context)
		if err := n.addResults(ctx, &out, p, label); err != nil {
			return out, err
		}
	}
	return out, nil
}

// addResults adds the current artifacts of a node, up to limits.ResultsShownMax in all.
func (n *Answers) addResults(ctx context.Context, out *results, p session.Resolved, label string) error {
	counted, err := n.countedOutputs(ctx, p)
	if err != nil {
		return err
	}
	for _, o := range slices.Backward(p.Node.Artifacts()) {
		// Checks of a step that was left passed; those of the pending one are beside the recap.
		if o.Payload.ArtifactKind == check.Kind {
			continue
		}
		// The approval beside a decision has its own line; a step that was sent back says so itself.
		if o.Decision != nil && (o.Decision.Decision == event.Approved || label == "") {
			continue
		}
		if len(out.list) == limits.ResultsShownMax {
			out.more++
			continue
		}
		r, err := n.describe(ctx, o.Payload, &out.bytes)
		if err != nil {
			return err
		}
		r.Step, r.Imported = label, !slices.ContainsFunc(counted, func(c runs.Output) bool { return c.Index == o.Index })
		out.list = append(out.list, r)
	}
	return nil
}

// describe reads and describes an artifact if the budget of bytes lasts for it. What a person
// erased does not keep a run from continuing. A damaged artifact is STORE_CORRUPT: no answer is
// given over changed bytes.
func (n *Answers) describe(ctx context.Context, is event.OutputPayload, budget *int64) (prompt.Result, error) {
	if is.ByteLength > *budget {
		return prompt.Unread(is, fmt.Sprintf("not quoted for its size (%d bytes are read for an answer)",
			limits.ResultsReadBytesMax)), nil
	}
	*budget -= is.ByteLength
	if is.ArtifactKind == event.FullNotesKind {
		return prompt.Describe(is, nil), nil
	}
	if r, ok := n.described.get(is); ok {
		return r, nil
	}
	data, err := n.Object(ctx, manifest.Artifact, is.SHA256)
	if fault.Is(err, fault.ArtifactErased) {
		return prompt.Unread(is, "erased"), nil
	}
	if err != nil {
		return prompt.Result{}, err
	}
	r := prompt.Describe(is, data)
	n.described.put(is, r)
	return r, nil
}

// described keeps the descriptions of artifacts that answers repeat: the next step has most of
// them before it as well. A caller that rehydrates may be another one, and gets what the store
// holds now: what was erased meanwhile is not (see forget).
type described struct {
	mu   sync.Mutex
	know map[event.OutputPayload]prompt.Result
}

// describedMax bounds the descriptions that are kept: those of a few runs.
const describedMax = 8 * limits.ResultsShownMax

// get returns the description of an artifact, if it is kept.
func (d *described) get(is event.OutputPayload) (prompt.Result, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, ok := d.know[is]
	return r, ok
}

// put keeps a description. A full cache is emptied.
func (d *described) put(is event.OutputPayload, r prompt.Result) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.know == nil || len(d.know) >= describedMax {
		d.know = map[event.OutputPayload]prompt.Result{}
	}
	d.know[is] = r
}

// forget drops all descriptions.
func (d *described) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.know = nil
}
