package views

import (
	"cmp"
	"context"
	"strings"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections/runs"
)

// Graph is the document "graph": the nodes of a run in the order of their
// creation, and the edges between them (docs/design.md#preferred-tip).
type Graph struct {
	RunID     id.Run      `json:"runId"`
	SessionID id.Session  `json:"sessionId"`
	Title     string      `json:"title"`
	Nodes     []GraphNode `json:"nodes"`
	Edges     []GraphEdge `json:"edges"`
	// Health is the health of the run's session, or unknown_version if a
	// snapshot or the workflow was written by another program.
	Health manifest.Health `json:"health"`
	// Partial reports that the session is damaged: these are the nodes of its valid beginning.
	Partial bool `json:"partial,omitzero"`
}

// GraphNode is one node of a run. Tip marks every leaf, PreferredTip the one
// where the run continues.
type GraphNode struct {
	NodeID       id.Node        `json:"nodeId"`
	NodeKind     event.NodeKind `json:"nodeKind"`
	ParentNodeID *id.Node       `json:"parentNodeId,omitzero"`
	// StepInstanceKey is that of the pending step, absent at the end.
	StepInstanceKey string `json:"stepInstanceKey,omitzero"`
	Title           string `json:"title"`
	// Complete marks a node at which the run ended.
	Complete     bool `json:"complete,omitzero"`
	Tip          bool `json:"tip,omitzero"`
	PreferredTip bool `json:"preferredTip,omitzero"`
	// Attempts and OpenGaps are counts at this node alone.
	Attempts    int   `json:"attempts"`
	OpenGaps    int   `json:"openGaps"`
	CreatedAtMs int64 `json:"createdAtMs"`
}

// GraphEdge is an edge between two nodes, with the reason why it was created.
type GraphEdge struct {
	From id.Node        `json:"fromNodeId"`
	To   id.Node        `json:"toNodeId"`
	Kind event.EdgeKind `json:"edgeKind"`
	// Cause is the operation that created the edge.
	Cause event.CauseKind `json:"cause"`
}

// Graph returns a run as its graph. ref is a run id, a unique prefix of one, or
// @last. Errors: RUN_NOT_FOUND, RUN_AMBIGUOUS.
func (o *Views) Graph(ctx context.Context, ref string) (Graph, error) {
	at, err := o.r.Lookup(ctx, ref)
	if err != nil {
		return Graph{}, err
	}
	run := at.Run
	out := Graph{RunID: run.ID, SessionID: at.Session, Title: run.Started.Name(), Nodes: []GraphNode{},
		Edges: []GraphEdge{}}
	obs := &observer{v: o}
	w, err := obs.workflow(ctx, run.Started.WorkflowHash)
	if err != nil {
		return out, err
	}
	out.Title = cmp.Or(out.Title, w.Name(), run.Started.WorkflowID)
	for _, nodeID := range run.Order {
		n := run.Node(nodeID)
		state, err := obs.snapshot(ctx, n.SnapshotRef)
		if err != nil {
			return out, err
		}
		row := GraphNode{NodeID: n.ID, NodeKind: n.Kind, ParentNodeID: n.Parent, Complete: state.IsComplete(),
			PreferredTip: n.ID == run.Tip,
			Attempts:     len(n.Attempts), OpenGaps: len(n.OpenGaps), CreatedAtMs: n.CreatedAtMs, Title: "The end"}
		if p := state.PendingStep(); p != nil {
			row.StepInstanceKey, row.Title = p.Key(), titleAt(w, *p, n)
		} else if !state.IsComplete() {
			row.Title = unreadableStep
		}
		out.Nodes = append(out.Nodes, row)
	}
	out.Health, out.Partial = obs.health(at.Verdict.Health), at.Verdict.Damaged()
	// Tips is O(nodes); it is called once and not for each row.
	tips := map[id.Node]bool{}
	for _, n := range run.Tips() {
		tips[n] = true
	}
	for i := range out.Nodes {
		out.Nodes[i].Tip = tips[out.Nodes[i].NodeID]
	}
	events, _, err := o.Events(ctx, run.ID.String())
	for _, e := range events {
		// The events are read a second time; an edge that was added since the
		// first reading has no node here.
		if p, ok := e.Data.(event.EdgeCreated); ok && run.Node(p.ToNodeID) != nil {
			out.Edges = append(out.Edges, GraphEdge{p.FromNodeID, p.ToNodeID, p.EdgeKind, p.Cause.Kind})
		}
	}
	return out, err
}

// LocateNode resolves a reference to a node of a run: "" for the preferred tip,
// a step id or step instance key, or a node id or unique prefix of one. Of
// several nodes at the same step, the last one on the path to the preferred tip
// is returned. A step name is preferred to a node id with that prefix, because
// names are chosen and ids are random.
//
// Errors: TOKEN_UNKNOWN_NODE, RUN_AMBIGUOUS for a prefix of several ids.
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
