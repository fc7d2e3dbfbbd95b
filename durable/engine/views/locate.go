package views

import (
	"context"
	"strings"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/projections/runs"
)

// LocateNode resolves a reference to a node of a run: "" for the preferred tip, a step id or step instance key, or a node id or
// unique prefix of one. Of several nodes at the same step, the last one on the path to the preferred tip is returned. A step name
// is preferred to a node id with that prefix, because names are chosen and ids are random. Errors: TOKEN_UNKNOWN_NODE,
// RUN_AMBIGUOUS for a prefix of several ids.
func (o *Views) LocateNode(ctx context.Context, runRef, nodeRef string) (engine.Position, error) {
	at, err := o.r.Lookup(ctx, runRef)
	if err != nil {
		return engine.Position{}, err
	}
	here := engine.Position{Session: at.Session, Run: at.Run.ID, Node: at.Run.Tip}
	if nodeRef == "" {
		return here, nil
	}
	step, err := o.locateStep(ctx, at.Run, here, nodeRef)
	if !fault.Is(err, fault.TokenUnknownNode) {
		return step, err
	}
	var found []id.Node
	var names []string
	nodeRef = id.Typed(nodeRef)
	for _, n := range at.Run.Order {
		if strings.HasPrefix(n.String(), "node_"+strings.TrimPrefix(nodeRef, "node_")) && nodeRef != "node_" {
			found, names = append(found, n), append(names, n.String())
		}
	}
	switch len(found) {
	case 0:
		if f := fault.WrongKind(fault.TokenUnknownNode, nodeRef, id.Noun(nodeRef), "a node"); f != nil {
			f.Suggestion = fault.Of(err).Suggestion
			return step, f
		}
		return step, err
	case 1:
		here.Node = found[0]
		return here, nil
	}
	return here, session.Ambiguous("nodes of run "+at.Run.ID.String(), nodeRef, names)
}

// locateStep searches the path from the tip to the root for a node at which the
// step is pending.
func (o *Views) locateStep(ctx context.Context, r *runs.Run, here engine.Position, ref string) (engine.Position,
	error) {
	path, obs := r.Path(r.Tip), &observer{v: o}
	for i := len(path) - 1; i >= 0; i-- {
		state, err := obs.snapshot(ctx, r.Node(path[i]).SnapshotRef)
		if err != nil {
			return here, err
		}
		if p := state.PendingStep(); p != nil && (p.Key() == ref || p.StepID == ref) {
			here.Node = path[i]
			return here, nil
		}
	}
	return here, fault.New(fault.TokenUnknownNode,
		"run %s has no node that begins with %q, and no step of that name on its path", r.ID, ref).
		Suggest("See its nodes with %s.", fault.Command{"runs", "graph", r.ID.String()})
}
