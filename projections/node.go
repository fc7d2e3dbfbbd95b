package projections

import (
	"maps"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// Node is what is on record about one node. Preferences and Context are
// effective ones: what the parent had when the node was created, with what was
// recorded here since. So a branch never sees what another was given later.
type Node struct {
	ID            id.Node           `json:"nodeId"`
	Kind          event.NodeKind    `json:"kind"`
	Parent        *id.Node          `json:"parent,omitzero"`
	SnapshotRef   canon.Digest      `json:"snapshotRef"`
	CreatedIndex  int64             `json:"createdIndex"`
	CreatedAtMs   int64             `json:"createdAtMs"`
	Depth         int64             `json:"depth"`         // acknowledged steps from the root
	AckedChildren int64             `json:"ackedChildren"` // edges of kind acked_step that leave
	Attempts      []Attempt         `json:"attempts"`
	Preferences   event.Preferences `json:"preferences"`
	Context       canon.Value       `json:"context"`
	Outputs       []Output          `json:"outputs"` // current ones, oldest first
	OpenGaps      []Gap             `json:"openGaps"`
	// Capabilities are the latest strong observations, by capability: weak ones never
	// satisfy a requirement (R21). Inherited like preferences.
	Capabilities map[string]string `json:"capabilities,omitzero"`
	// Checkpoints are the checkpoint nodes made from this one, oldest first (R17).
	Checkpoints []id.Node `json:"checkpoints,omitzero"`
	// Approvals counts the approvals ever recorded here, current or not (R20).
	Approvals int64 `json:"approvals,omitzero"`
	// Above is the nearest ancestor that a window has, where the parent was left out;
	// Cut says that a node below this one was.
	Above *id.Node `json:"above,omitzero"`
	Cut   bool     `json:"cut,omitzero"`
}

// Attempt is one recorded attempt at a node.
type Attempt struct {
	ID      id.Attempt           `json:"attemptId"`
	Index   int64                `json:"index"`
	Outcome event.AdvanceOutcome `json:"outcome"`
	Request canon.Digest         `json:"request,omitzero"`
}

func (r *Run) addNode(e event.Event, p event.NodeCreated) {
	if r.Nodes[e.Scope.NodeID] != nil {
		return // a second one is a finding of verification, not a new position
	}
	if p.ParentNodeID != nil {
		// A node below a cut may be one that was left out, told of a second time.
		if parent := r.Nodes[*p.ParentNodeID]; r.needs(*p.ParentNodeID) || parent != nil && parent.Cut {
			r.missed = r.Evicted
			return
		}
	}
	n := &Node{
		ID: e.Scope.NodeID, Kind: p.NodeKind, Parent: p.ParentNodeID, SnapshotRef: p.SnapshotRef,
		CreatedIndex: e.Index, CreatedAtMs: e.TimestampMs,
		Preferences: event.DefaultPreferences(), Context: canon.OfMembers(),
		Attempts: []Attempt{}, Outputs: []Output{}, OpenGaps: []Gap{},
	}
	if parent := r.parent(n); parent != nil {
		n.Preferences, n.Context, n.Depth = parent.Preferences, parent.Context, parent.Depth
		n.Capabilities = maps.Clone(parent.Capabilities)
		if p.NodeKind == event.CheckpointNode {
			parent.Checkpoints = append(parent.Checkpoints, n.ID)
		}
	}
	r.takeEarlyContext(n)
	if r.Root.IsZero() {
		r.Root = n.ID
	}
	r.Nodes[n.ID] = n
	r.Order = append(r.Order, n.ID)
}

func (r *Run) addEdge(p event.EdgeCreated) {
	if r.needs(p.FromNodeID) || r.needs(p.ToNodeID) {
		return
	}
	from, to := r.Nodes[p.FromNodeID], r.Nodes[p.ToNodeID]
	if from != nil && to != nil && p.EdgeKind == event.AckedStepEdge {
		from.AckedChildren++
		if to.Depth = from.Depth + 1; to.Kind == event.BlockedAttemptNode {
			to.Depth-- // the step was refused: nothing was acknowledged
		}
	}
	r.touch(p.FromNodeID)
	r.touch(p.ToNodeID)
}

func (n *Node) addAttempt(e event.Event, p event.AdvanceRecorded) {
	if n != nil {
		n.Attempts = append(n.Attempts, Attempt{p.AttemptID, e.Index, p.Outcome, p.RequestDigest})
	}
}

// Attempt finds a recorded attempt of the node.
func (n *Node) Attempt(a id.Attempt) (Attempt, bool) {
	for _, have := range n.Attempts {
		if have.ID == a {
			return have, true
		}
	}
	return Attempt{}, false
}

// NextAttempt is the attempt that callers are handed now (R3, R15).
func (n *Node) NextAttempt() id.Attempt {
	return id.NextAttempt(n.ID, id.OpAck, len(n.Attempts))
}

func (n *Node) observe(p event.CapabilityObserved) {
	if n == nil || p.Provenance.EnforcementGrade != "strong" {
		return
	}
	if n.Capabilities == nil {
		n.Capabilities = map[string]string{}
	}
	n.Capabilities[p.Capability] = p.Status
}

func (n *Node) setPreferences(p event.PreferencesChanged) {
	if n != nil {
		n.Preferences = p.Effective
	}
}

// isLeaf: checkpoints do not count for leaf and tip (R17).
func (n *Node) isLeaf() bool { return n.AckedChildren == 0 && n.Kind != event.CheckpointNode }
