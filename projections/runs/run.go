package runs

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// Run is the fold of one run: a directed acyclic graph of nodes with the state of each.
type Run struct {
	ID          id.Run           `json:"runId"`
	Started     event.RunStarted `json:"started"`
	StartedAtMs int64            `json:"startedAtMs"`
	// LastIndex and LastAtMs are those of the run's last activity: its last event that is not ignorable and no pause.
	LastIndex int64   `json:"lastIndex"`
	LastAtMs  int64   `json:"lastAtMs"`
	Root      id.Node `json:"root,omitzero"`
	Tip       id.Node `json:"tip,omitzero"` // the preferred tip
	// Nodes and Order hold the same nodes; Root and Tip are zero until the first node is created.
	Nodes           map[id.Node]*Node         `json:"nodes"`
	Order           []id.Node                 `json:"order"` // in the order of their creation
	CancelRequested *event.RunCancelRequested `json:"cancelRequested,omitzero"`
	Closed          *event.RunClosed          `json:"closed,omitzero"`
	// Pause is the one that was not resumed, nil without one; Pauses is how many there were.
	Pause  *Pause `json:"pause,omitzero"`
	Pauses int64  `json:"pauses,omitzero"`
	// Accepted is the number of accepted attempts, on every branch.
	Accepted int64 `json:"accepted,omitzero"`
	// Evicted reports that Nodes and Order are a window (see window.go) and nodes were left out.
	Evicted bool `json:"evicted,omitzero"`

	pendingContext map[id.Node]canon.Value // context deltas that precede their node in the segment
	missed         bool                    // an event needed a node that was left out
	recent         [2]*Node                // found last in the segment that is being folded
}

// newRun returns a run without nodes; events that follow add them.
func newRun(runID id.Run, e event.Event, p event.RunStarted) *Run {
	return &Run{ID: runID, Started: p, StartedAtMs: e.TimestampMs, LastIndex: e.Index, LastAtMs: e.TimestampMs,
		Nodes: map[id.Node]*Node{}, Order: []id.Node{}}
}

// apply folds an event of this run. The kinds that call updateTip are those that count as activity
// at a node; the others leave the preferred tip as it is (docs/design.md#preferred-tip).
func (r *Run) apply(e event.Event, g event.ForeignView) {
	if !e.Ignorable && !isPause(e.Data) { // no activity: a version that does not know the kind has the same order of runs
		r.LastIndex = e.Index
		if e.TimestampMs != 0 {
			r.LastAtMs = e.TimestampMs
		}
	}
	r.Pause = r.Pause.After(e)
	// n is nil for events of the run as a whole, and for nodes that the log never created.
	n := r.find(e.Scope.NodeID)
	if p, ok := e.Data.(event.GuardNoted); ok {
		n.addGuarded(e, p) // a node that was left out of a window is not read again for it
		return
	}
	if _, ok := e.Data.(event.RunEventRecorded); ok {
		return // it is for clients of the protocol
	}
	// In a window the node may have been left out: requires then marks the fold as incomplete.
	if _, made := e.Data.(event.NodeCreated); !made && (r.missed || n == nil && r.requires(e.Scope.NodeID)) {
		return
	}
	switch p := e.Data.(type) {
	case event.NodeCreated:
		r.addNode(e, p)
		r.updateTip(r.find(e.Scope.NodeID))
	case event.EdgeCreated:
		r.addEdge(p)
	case event.ContextSet:
		r.setContext(e, p)
	case event.RunCancelRequested:
		r.CancelRequested = &p
	case event.RunClosed:
		r.Closed = &p
	// An attempt alone is no activity: its edge, gap or output moves the tip.
	case event.AdvanceRecorded:
		n.addAttempt(e, p)
		if p.Outcome.Kind == event.Advanced {
			r.Accepted++
		}
	case event.RunPaused:
		r.Pauses++
	case event.PreferencesChanged:
		r.setPreferences(n, p)
		r.updateTip(n)
	case event.NodeOutputAppended:
		r.addOutput(n, e, p, g)
		r.updateTip(n)
	case event.GapRecorded:
		r.addGap(n, e, p, g)
		r.updateTip(n)
	case event.CapabilityObserved:
		n.setCapability(p)
		r.updateTip(n)
	case event.DivergenceRecorded:
		r.updateTip(n)
	case event.DecisionTraceAppended, event.Unknown:
		// Decision traces explain a decision and unknown events are not interpreted: no state.
	}
}

// find is Node for the fold of a segment, whose events refer to two nodes many times.
func (r *Run) find(n id.Node) *Node {
	for _, found := range r.recent {
		if found != nil && found.ID == n {
			return found
		}
	}
	found := r.Nodes[n]
	if found != nil {
		r.recent = [2]*Node{found, r.recent[0]}
	}
	return found
}

// Node returns a node, nil if the run (or its window) has none of that id.
func (r *Run) Node(n id.Node) *Node { return r.Nodes[n] }

// Path lists the nodes from the root to n. In a window, nodes that were left out are missing.
func (r *Run) Path(n id.Node) []id.Node {
	var up []id.Node
	for node := r.Nodes[n]; node != nil; node = r.above(node) {
		up = append(up, node.ID)
	}
	slices.Reverse(up)
	return up
}

// parent returns the node that n was created under, nil for a root. A parent that was not created
// before n is ignored: a forged log could otherwise contain a cycle, and paths would never end.
func (r *Run) parent(n *Node) *Node {
	if n.Parent == nil {
		return nil
	}
	if p := r.find(*n.Parent); p != nil && p.CreatedIndex < n.CreatedIndex {
		return p
	}
	return nil
}

// Tips lists the leaves, in the order of their creation: nodes without an outgoing acknowledged
// step, except checkpoints (docs/design.md#edges-and-tips).
func (r *Run) Tips() []id.Node {
	return slices.DeleteFunc(append([]id.Node{}, r.Order...), func(n id.Node) bool { return !r.Nodes[n].IsLeaf() })
}
