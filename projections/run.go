package projections

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// Run is the fold of one run: a DAG of nodes and what is on record about each.
type Run struct {
	ID              id.Run                    `json:"runId"`
	Started         event.RunStarted          `json:"started"`
	StartedAtMs     int64                     `json:"startedAtMs"`
	LastIndex       int64                     `json:"lastIndex"` // of the run's last event
	LastAtMs        int64                     `json:"lastAtMs"`
	Root            id.Node                   `json:"root,omitzero"`
	Tip             id.Node                   `json:"tip,omitzero"` // the preferred tip
	Nodes           map[id.Node]*Node         `json:"nodes"`
	Order           []id.Node                 `json:"order"` // as created
	CancelRequested *event.RunCancelRequested `json:"cancelRequested,omitzero"`
	Closed          *event.RunClosed          `json:"closed,omitzero"`
	// Evicted: Nodes and Order are a window; see window.go.
	Evicted bool `json:"evicted,omitzero"`

	early  map[id.Node]canon.Value // context whose node stands later in the segment
	missed bool                    // an event needed a node that was left out
}

func newRun(runID id.Run, e event.Event, p event.RunStarted) *Run {
	return &Run{ID: runID, Started: p, StartedAtMs: e.TimestampMs, LastIndex: e.Index, LastAtMs: e.TimestampMs,
		Nodes: map[id.Node]*Node{}, Order: []id.Node{}}
}

// apply folds an event of this run. Which events touch a node, and so move the
// preferred tip, is the locks' list (section 2).
func (r *Run) apply(e event.Event, g event.Glimpse) {
	r.LastIndex = e.Index
	if e.TimestampMs != 0 {
		r.LastAtMs = e.TimestampMs
	}
	n := r.Nodes[e.Scope.NodeID]
	if _, made := e.Data.(event.NodeCreated); !made && r.needs(e.Scope.NodeID) {
		return
	}
	switch p := e.Data.(type) {
	case event.NodeCreated:
		r.addNode(e, p)
		r.touch(e.Scope.NodeID)
	case event.EdgeCreated:
		r.addEdge(p)
	case event.ContextSet:
		r.setContext(e, p)
	case event.RunCancelRequested:
		r.CancelRequested = &p
	case event.RunClosed:
		r.Closed = &p
	case event.AdvanceRecorded:
		n.addAttempt(e, p)
	case event.PreferencesChanged:
		n.setPreferences(p)
		r.touch(e.Scope.NodeID)
	case event.NodeOutputAppended:
		r.addOutput(n, e, p, g)
		r.touch(e.Scope.NodeID)
	case event.GapRecorded:
		r.addGap(n, e, p, g)
		r.touch(e.Scope.NodeID)
	case event.CapabilityObserved:
		n.observe(p)
		r.touch(e.Scope.NodeID)
	case event.DivergenceRecorded:
		r.touch(e.Scope.NodeID)
	case event.DecisionTraceAppended, event.Unknown:
		// Explains, or is not known: folds into nothing.
	}
}

// Node finds a node, nil when the run has none of that id.
func (r *Run) Node(n id.Node) *Node { return r.Nodes[n] }

// Path lists the nodes from the root to n; of a window, those that it has.
func (r *Run) Path(n id.Node) []id.Node {
	var up []id.Node
	for node := r.Nodes[n]; node != nil; node = r.above(node) {
		up = append(up, node.ID)
	}
	slices.Reverse(up)
	return up
}

// parent is the node that n was created under. One that did not stand there yet,
// or n itself, is none: a path that ran in a circle would never end.
func (r *Run) parent(n *Node) *Node {
	if n.Parent == nil {
		return nil
	}
	if p := r.Nodes[*n.Parent]; p != nil && p.CreatedIndex < n.CreatedIndex {
		return p
	}
	return nil
}

// Tips lists the leaves: nodes that no advance left, checkpoints aside (R17), in
// the order they were created.
func (r *Run) Tips() []id.Node {
	out := []id.Node{}
	for _, nodeID := range r.Order {
		if n := r.Nodes[nodeID]; n.isLeaf() {
			out = append(out, nodeID)
		}
	}
	return out
}
