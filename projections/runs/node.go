package runs

import (
	"maps"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// Node is the fold of the events of one node. Preferences and Context are the effective ones:
// inherited from the parent when the node was created, then changed by the events of this node.
// Later changes on other branches never apply.
type Node struct {
	ID            id.Node           `json:"nodeId"`
	Kind          event.NodeKind    `json:"kind"`
	Parent        *id.Node          `json:"parent,omitzero"`
	SnapshotRef   canon.Digest      `json:"snapshotRef"`
	CreatedIndex  int64             `json:"createdIndex"`
	CreatedAtMs   int64             `json:"createdAtMs"`
	Depth         int64             `json:"depth"`         // acknowledged steps from the root
	AckedChildren int64             `json:"ackedChildren"` // outgoing edges of kind acked_step
	Attempts      []Attempt         `json:"attempts"`
	Preferences   event.Preferences `json:"preferences"`
	Sources       PreferenceSources `json:"preferenceSources"` // of Preferences
	Context       canon.Value       `json:"context"`
	Outputs       []Output          `json:"outputs"` // current ones, oldest first
	OpenGaps      []Gap             `json:"openGaps"`
	// Capabilities are the latest strong observations, by capability; weak ones never satisfy a
	// requirement (docs/design.md#capabilities). Inherited like preferences.
	Capabilities map[string]string `json:"capabilities,omitzero"`
	// Checkpoints are the checkpoint nodes created from this node, oldest first
	// (docs/design.md#edges-and-tips).
	Checkpoints []id.Node `json:"checkpoints,omitzero"`
	// Approvals counts all approvals and other decisions recorded at this node, superseded ones too
	// (docs/design.md#decisions).
	Approvals int64 `json:"approvals,omitzero"`
	// LastAtMs is the time of the last attempt, approval or other decision at this node, 0 before the
	// first one at a node that people decide about (docs/design.md#decisions).
	LastAtMs int64 `json:"lastAtMs,omitzero"`
	// Given are the context keys that refused attempts at this node set since the last accepted one,
	// in order of bytes.
	Given []string `json:"given,omitzero"`
	// Left are the outputs with which an accepted attempt left the node and that were replaced later.
	// They are current on that branch.
	Left []Output `json:"left,omitzero"`
	// Guarded are the chats whose turns ended at this node, in the order of their first record.
	Guarded []GuardedChat `json:"guarded,omitzero"`
	// Above is the nearest ancestor in a window, set if the parent was left out of it. Cut reports
	// that a node below this one was left out.
	Above *id.Node `json:"above,omitzero"`
	Cut   bool     `json:"cut,omitzero"`
}

// Attempt is one recorded attempt at a node.
type Attempt struct {
	ID      id.Attempt           `json:"attemptId"`
	Index   int64                `json:"index"` // event index of the record
	Outcome event.AdvanceOutcome `json:"outcome"`
	Request canon.Digest         `json:"request,omitzero"` // digest of the request, to recognize a repeated call
	// Warnings are those recorded with the outcome, for the answer to a repeated call.
	Warnings []event.DecisionWarning `json:"warnings,omitzero"`
	// Account is the account that made the attempt, where the log records it (docs/design.md#decisions).
	Account string `json:"account,omitzero"`

	atMs int64 // not saved: only views use it, which read whole logs
}

// AtMs is the time of the attempt in ms since 1970; 0 if the log does not have it, or was not read whole.
func (a Attempt) AtMs() int64 { return a.atMs }

// accepted reports that the attempt led to another node.
func (a Attempt) accepted() bool { return a.Outcome.Kind == event.Advanced }

// addNode creates a node with the preferences, context, depth and capabilities of its parent.
func (r *Run) addNode(e event.Event, p event.NodeCreated) {
	if r.find(e.Scope.NodeID) != nil {
		return // a duplicate is reported by the verification
	}
	if p.ParentNodeID != nil {
		// Below a cut the node may have been left out of the window: this event could be its
		// duplicate.
		if parent := r.find(*p.ParentNodeID); r.requires(*p.ParentNodeID) || parent != nil && parent.Cut {
			r.missed = r.Evicted
			return
		}
	}
	n := &Node{
		ID: e.Scope.NodeID, Kind: p.NodeKind, Parent: p.ParentNodeID, SnapshotRef: p.SnapshotRef,
		CreatedIndex: e.Index, CreatedAtMs: e.TimestampMs,
		Preferences: event.DefaultPreferences(), Sources: defaultSources(), Context: canon.OfMembers(),
		Attempts: []Attempt{}, Outputs: []Output{}, OpenGaps: []Gap{},
	}
	if parent := r.parent(n); parent != nil {
		n.Preferences, n.Context, n.Depth = parent.Preferences, parent.Context, parent.Depth
		n.Sources = parent.Sources
		n.Capabilities = maps.Clone(parent.Capabilities)
		if p.NodeKind == event.CheckpointNode {
			parent.Checkpoints = append(parent.Checkpoints, n.ID)
		}
	}
	r.applyPendingContext(n)
	if r.Root.IsZero() {
		r.Root = n.ID
	}
	r.Nodes[n.ID] = n
	r.Order = append(r.Order, n.ID)
}

// addEdge updates the depth of the target and the preferred tip.
func (r *Run) addEdge(p event.EdgeCreated) {
	if r.requires(p.FromNodeID) || r.requires(p.ToNodeID) {
		return
	}
	from, to := r.find(p.FromNodeID), r.find(p.ToNodeID)
	if from != nil && to != nil && p.EdgeKind == event.AckedStepEdge {
		from.AckedChildren++
		if to.Depth = from.Depth + 1; to.Kind == event.BlockedAttemptNode {
			to.Depth-- // a refused attempt acknowledges no step
		}
	}
	r.updateTip(from)
	r.updateTip(to)
}

// addAttempt appends an attempt. n is nil for a node that the log does not create; only damaged and
// foreign logs have such events, and all methods that fold an event skip them.
func (n *Node) addAttempt(e event.Event, p event.AdvanceRecorded) {
	if n == nil {
		return
	}
	a := Attempt{ID: p.AttemptID, Index: e.Index, Outcome: p.Outcome, Request: p.RequestDigest, Warnings: p.Warnings,
		Account: p.Account, atMs: e.TimestampMs}
	if n.Approvals > 0 {
		n.LastAtMs = max(n.LastAtMs, e.TimestampMs)
	}
	if n.Attempts = append(n.Attempts, a); a.accepted() {
		n.Given = nil // what was given is given to that branch
	}
}

// Attempt returns the recorded attempt with an id, false if there is none.
func (n *Node) Attempt(a id.Attempt) (Attempt, bool) {
	for _, have := range n.Attempts {
		if have.ID == a {
			return have, true
		}
	}
	return Attempt{}, false
}

// NextAttempt returns the id of the next attempt at the node: a function of the node and the number
// of recorded attempts (docs/design.md#ids, docs/design.md#answers).
func (n *Node) NextAttempt() id.Attempt {
	return id.NextAttempt(n.ID, id.OpAck, len(n.Attempts))
}

// setCapability stores a strong observation of a capability; weak ones are ignored.
func (n *Node) setCapability(p event.CapabilityObserved) {
	if n == nil || p.Provenance.EnforcementGrade != "strong" {
		return
	}
	if n.Capabilities == nil {
		n.Capabilities = map[string]string{}
	}
	n.Capabilities[p.Capability] = p.Status
}

// IsLeaf reports whether no acknowledged step leaves the node. Checkpoint nodes are never leaves or
// tips (docs/design.md#edges-and-tips).
func (n *Node) IsLeaf() bool { return n.AckedChildren == 0 && n.Kind != event.CheckpointNode }
