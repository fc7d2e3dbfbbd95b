package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/prompt"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections/runs"
)

// results are artifacts of nodes, newest first, as a performer is told about them. The zero value
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
		if len(out.list) == limits.ResultsShownMax {
			out.more++
			continue
		}
		r := prompt.Result{Step: label, Payload: o.Payload, Imported: !slices.ContainsFunc(counted,
			func(c runs.Output) bool { return c.Index == o.Index })}
		if r.Content, r.Absent, err = n.contentOf(ctx, o.Payload, &out.bytes); err != nil {
			return err
		}
		out.list = append(out.list, r)
	}
	return nil
}

// contentOf reads an artifact if the budget of bytes lasts for it; absent says why it was not read.
// What a person erased does not keep a run from continuing. A damaged artifact is STORE_CORRUPT:
// no answer is given over changed bytes.
func (n *Answers) contentOf(ctx context.Context, is event.OutputPayload, budget *int64) (data []byte, absent string,
	err error) {
	if is.ByteLength > *budget {
		return nil, fmt.Sprintf("not quoted for its size (%d bytes are read for an answer)", limits.ResultsReadBytesMax),
			nil
	}
	*budget -= is.ByteLength
	data, err = n.Object(ctx, manifest.Artifact, is.SHA256)
	if fault.Is(err, fault.ArtifactErased) {
		return nil, "erased", nil
	}
	return data, "", err
}
