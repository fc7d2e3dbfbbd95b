package runs

import (
	"math"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// Branches assigns the events of one run to its branches, and to each attempt its number and how long the step took. A
// branch is not stored (docs/design.md#preferred-tip): the first acknowledged step from a node continues the branch of the
// node, and each further one begins a branch. Branches are numbered from 1 in the order of their first record. What is
// recorded at a node after it was left belongs to the branch that the attempt began.
//
// Events have to be marked in the order of the log, each once, from the first one on.
type Branches struct {
	nodes map[id.Node]branchNode // without those in done
	// done has the current branch of each node that was left and whose successor exists: of a long run, nearly all nodes.
	done map[id.Node]int32
	last int32 // number of the latest branch
	// arriving is the branch of the latest accepted attempt, for what its segment records before the node.
	arriving int32
}

// branchNode is what Branches keeps of a node.
type branchNode struct {
	createdAtMs int64
	// branch is the node's own, current that of what is recorded at it now.
	branch, current int32
	// next is the branch to which the latest accepted attempt leads; 0 after its node was created.
	next     int32
	attempts int16 // since the node was last left, at most attemptsCounted
	left     bool
}

// attemptsCounted bounds the number of attempts at a node that are counted.
const attemptsCounted = math.MaxInt16

// NewBranches returns the branches of a run without events.
func NewBranches() *Branches {
	return &Branches{nodes: map[id.Node]branchNode{}, done: map[id.Node]int32{}}
}

// node returns what is known of a node.
func (b *Branches) node(at id.Node) (branchNode, bool) {
	if n, ok := b.nodes[at]; ok {
		return n, true
	}
	current, ok := b.done[at]
	return branchNode{current: current, left: true}, ok
}

// keep replaces what is known of a node. Of one that was left, nothing but its current branch is needed.
func (b *Branches) keep(at id.Node, n branchNode) {
	if n.left && n.next == 0 && n.attempts == 0 {
		delete(b.nodes, at)
		b.done[at] = n.current
		return
	}
	delete(b.done, at)
	b.nodes[at] = n
}

// Mark fills the branch, the attempt and the duration of the entry of an event.
func (b *Branches) Mark(m *TimelineEntry, e event.Event) {
	if e.Foreign() {
		e, _ = readForeign(e)
	}
	at := e.Scope.NodeID
	switch p := e.Data.(type) {
	case event.NodeCreated:
		m.Branch = b.create(e, p)
		return
	case event.AdvanceRecorded:
		b.attempt(m, e, p)
		return
	case event.EdgeCreated:
		at = p.ToNodeID
	case event.ContextSet:
		if at = (id.Node{}); p.NodeID != nil {
			at = *p.NodeID
		}
	}
	if n, ok := b.node(at); ok {
		m.Branch = int(n.current)
	} else if !at.IsZero() {
		m.Branch = int(b.arriving)
	}
}

// create returns the branch of a new node.
func (b *Branches) create(e event.Event, p event.NodeCreated) int {
	n := branchNode{createdAtMs: e.TimestampMs}
	switch parent, ok := b.parentOf(p); {
	case !ok:
		n.branch = b.begin()
	case p.NodeKind == event.CheckpointNode:
		n.branch = parent.current
	case parent.next != 0:
		n.branch = parent.next
		parent.next = 0
		b.keep(*p.ParentNodeID, parent)
	default: // of another program, whose attempts may be recorded elsewhere
		if n.branch = parent.branch; parent.left {
			n.branch = b.begin()
		}
		parent.left = true
		b.keep(*p.ParentNodeID, parent)
	}
	n.current = n.branch
	b.keep(e.Scope.NodeID, n)
	return int(n.branch)
}

// parentOf returns the parent of a new node, false for a root.
func (b *Branches) parentOf(p event.NodeCreated) (branchNode, bool) {
	if p.ParentNodeID == nil {
		return branchNode{}, false
	}
	return b.node(*p.ParentNodeID)
}

// begin returns a new branch.
func (b *Branches) begin() int32 {
	b.last++
	return b.last
}

// attempt fills the entry of an attempt. The first one after the node was left begins a branch, accepted or not.
func (b *Branches) attempt(m *TimelineEntry, e event.Event, p event.AdvanceRecorded) {
	n, ok := b.node(e.Scope.NodeID)
	if !ok {
		return
	}
	if n.attempts < attemptsCounted {
		n.attempts++
	}
	if n.left && n.attempts == 1 {
		n.current = b.begin()
	}
	m.Branch, m.Attempt = int(n.current), int(n.attempts)
	if p.Outcome.Kind == event.Advanced {
		if took := e.TimestampMs - n.createdAtMs; !n.left && n.createdAtMs > 0 && took > 0 {
			m.TookMs = took
		}
		n.left, n.next, n.attempts = true, n.current, 0
		b.arriving = n.current
	}
	if m.Foreign { // it may be refused: another program records that as an attempt that leads to a node of its own
		m.Attempt, m.TookMs = 0, 0
	}
	b.keep(e.Scope.NodeID, n)
}
