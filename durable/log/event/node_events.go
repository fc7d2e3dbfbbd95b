package event

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
)

// NodeKind is the closed set of kinds of nodes (docs/design.md#snapshots).
type NodeKind string

// The node kinds. Nodes of blocked attempts are read from foreign logs, and never written
// (docs/design.md#blocked-attempts).
const (
	StepNode           NodeKind = "step"
	CheckpointNode     NodeKind = "checkpoint"
	BlockedAttemptNode NodeKind = "blocked_attempt"
)

// NodeCreated links a node to the snapshot from which it is rehydrated. The group that commits the
// event pins the snapshot.
type NodeCreated struct {
	NodeKind     NodeKind     `json:"nodeKind"`
	ParentNodeID *id.Node     `json:"parentNodeId"` // null at a run's root only
	SnapshotRef  canon.Digest `json:"snapshotRef"`
	WorkflowHash canon.Digest `json:"workflowHash"` // the run's
}

// Kind is "node_created".
func (NodeCreated) Kind() string { return "node_created" }

// DedupeKey allows one event per node.
func (NodeCreated) DedupeKey(owner string, s Scope) string {
	return "node_created:" + owner + ":" + s.RunID.String() + ":" + s.NodeID.String()
}

// Pin returns the snapshot that the group of the event has to pin.
func (n NodeCreated) Pin() canon.Digest { return n.SnapshotRef }

// Check returns an error for unknown kinds and a node that is its own parent.
func (n NodeCreated) Check(s Scope) error {
	return cmp.Or(oneOf("nodeKind", n.NodeKind, StepNode, CheckpointNode, BlockedAttemptNode),
		errorIf(n.ParentNodeID != nil && *n.ParentNodeID == s.NodeID, "a node is its own parent"))
}

// EdgeKind is the closed set of relations between nodes (docs/design.md#edges-and-tips).
type EdgeKind string

// The edge kinds.
const (
	AckedStepEdge  EdgeKind = "acked_step"
	CheckpointEdge EdgeKind = "checkpoint"
)

// CauseKind is the closed set of causes of an edge (docs/design.md#edges-and-tips).
type CauseKind string

// The cause kinds.
const (
	IdempotentReplay  CauseKind = "idempotent_replay"
	IntentionalFork   CauseKind = "intentional_fork" // an advance from the tip
	NonTipAdvance     CauseKind = "non_tip_advance"  // an advance from a node that has an acked child
	CheckpointCreated CauseKind = "checkpoint_created"
)

// edgeCauses lists the causes of each kind of edge, with the kind's name in an error.
var edgeCauses = map[EdgeKind]struct {
	edge   string
	causes []CauseKind
}{
	AckedStepEdge:  {"an acked_step", []CauseKind{IdempotentReplay, IntentionalFork, NonTipAdvance}},
	CheckpointEdge: {"a checkpoint", []CauseKind{CheckpointCreated}},
}

// Cause refers to the event that was recorded together with an edge.
type Cause struct {
	EventID id.Event  `json:"eventId"`
	Kind    CauseKind `json:"kind"`
}

// EdgeCreated records that one node followed another.
type EdgeCreated struct {
	Cause      Cause    `json:"cause"`
	EdgeKind   EdgeKind `json:"edgeKind"`
	FromNodeID id.Node  `json:"fromNodeId"`
	ToNodeID   id.Node  `json:"toNodeId"`
}

// Kind is "edge_created".
func (EdgeCreated) Kind() string { return "edge_created" }

// DedupeKey allows one edge of a kind between two nodes.
func (e EdgeCreated) DedupeKey(owner string, s Scope) string {
	return "edge_created:" + owner + ":" + s.RunID.String() + ":" +
		e.FromNodeID.String() + "->" + e.ToNodeID.String() + ":" + string(e.EdgeKind)
}

// Check returns an error for an edge from a node to itself, and a cause that does not belong to the
// edge's kind.
func (e EdgeCreated) Check(Scope) error {
	allowed, known := edgeCauses[e.EdgeKind]
	switch {
	case e.FromNodeID == e.ToNodeID:
		return errors.New("an edge from a node to itself")
	case !known:
		return fmt.Errorf("unknown edgeKind %q", e.EdgeKind)
	case !slices.Contains(allowed.causes, e.Cause.Kind):
		return fmt.Errorf("cause %q on %s edge", e.Cause.Kind, allowed.edge)
	}
	return nil
}
