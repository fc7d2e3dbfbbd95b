// Package steplist plans the list of the steps of a long run. A first reading of the log finds its nodes, in about fifty
// bytes each; a second one makes the rows of the list, and needs only the nodes that later events may change.
//
// It knows neither stores nor what a row shows. Start reading at Nodes.
package steplist

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/compact"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/projections/runs"
)

// Nodes are the nodes of one run in the order of their creation, as the first reading finds them.
type Nodes struct {
	all       compact.List[node]
	snapshots compact.List[[32]byte]
	// index is where those nodes are that the fold has.
	index map[id.Node]int32
	seen  int // nodes of the fold that were added
	// missed reports that an event is about a node that was left out of the fold, which does not count some of them.
	missed bool
}

// node is what is kept of one node. A log of four billion events is not verified in a lifetime of a program.
type node struct {
	// last is the index of the last event about the node; Plan makes it that of the event behind which the node is
	// not needed any more.
	last   uint32
	parent int32 // with the kinds of a node, see parentOf
}

// The kinds of a node that matter, as bits of node.parent.
const (
	isCheckpoint = 1 << 30
	isRefused    = 1 << 29 // another program recorded a refused attempt as this node
	ofParent     = isRefused - 1
)

// parentOf returns the parent, -1 for a root.
func (n node) parentOf() int32 { return n.parent&ofParent - 1 }

// Add adds the events of a segment, which the fold of the run has applied.
func (n *Nodes) Add(run *runs.Run, events []event.Event) {
	if n.index == nil {
		n.index = map[id.Node]int32{}
	}
	for _, nodeID := range run.Order[n.seen:] {
		n.create(run.Node(nodeID))
	}
	n.seen = len(run.Order)
	for _, e := range events {
		if e.Scope.RunID == run.ID || e.Scope.RunID.IsZero() {
			n.concern(run, e)
		}
	}
}

// create adds a node.
func (n *Nodes) create(of *runs.Node) {
	row := node{last: uint32(of.CreatedIndex)}
	if of.Parent != nil {
		if at, ok := n.index[*of.Parent]; ok {
			row.parent = at + 1
		}
	}
	switch of.Kind {
	case event.CheckpointNode:
		row.parent |= isCheckpoint
	case event.BlockedAttemptNode:
		row.parent |= isRefused
	}
	n.index[of.ID] = int32(n.all.Len())
	n.all.Add(row)
	n.snapshots.Add(of.SnapshotRef.Raw())
}

// Missed reports that an event is about a node that the fold did not have any more.
func (n *Nodes) Missed() bool { return n.missed }

// concern notes the nodes that an event is about: its own, and those that it connects or names.
func (n *Nodes) concern(run *runs.Run, e event.Event) {
	n.touch(run, e.Scope.NodeID, e.Index)
	data := e.Data
	if g, foreign := event.Domain.ViewForeign(e); foreign && g.Known != nil && !e.Ignorable {
		data = g.Known
	}
	switch p := data.(type) {
	case event.NodeCreated:
		if p.ParentNodeID != nil {
			n.touch(run, *p.ParentNodeID, e.Index)
		}
	case event.EdgeCreated:
		n.touch(run, p.FromNodeID, e.Index)
		n.touch(run, p.ToNodeID, e.Index)
	case event.ContextSet:
		target := run.Root
		if p.NodeID != nil {
			target = *p.NodeID
		}
		n.touch(run, target, e.Index)
	}
}

// touch notes an event about a node.
func (n *Nodes) touch(run *runs.Run, nodeID id.Node, index int64) {
	if nodeID.IsZero() {
		return
	}
	at, ok := n.index[nodeID]
	if !ok {
		n.missed = n.missed || run.Evicted
		return
	}
	row := n.all.At(int(at))
	row.last = max(row.last, uint32(index))
}

// Forget keeps in memory where only those nodes are that the fold still has.
func (n *Nodes) Forget(run *runs.Run) {
	kept := make(map[id.Node]int32, len(run.Order))
	for _, nodeID := range run.Order {
		kept[nodeID] = n.index[nodeID]
	}
	n.index, n.seen = kept, len(run.Order)
}

// Path begins the plan of the path from the root to a node, which the fold still has.
func (n *Nodes) Path(tip id.Node) *Plan {
	p := &Plan{nodes: n, last: -1}
	for at, ok := n.index[tip]; ok && at >= 0; at = n.all.At(int(at)).parentOf() {
		p.path = append(p.path, at)
	}
	slices.Reverse(p.path)
	p.stops, p.groups = make([]stop, 0, len(p.path)), make([]int32, 0, len(p.path))
	n.index = nil
	return p
}

// PathLen is the number of nodes of the path.
func (p *Plan) PathLen() int { return len(p.path) }

// Snapshot returns the snapshot of a node of the path. It is not known any more after Order.
func (p *Plan) Snapshot(at int) canon.Digest {
	return canon.DigestOf(*p.nodes.snapshots.At(int(p.path[at])))
}
