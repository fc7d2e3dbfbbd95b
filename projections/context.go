package projections

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// A context delta names the node from which on it counts: the one that an
// attempt leads to when it advances, the attempted one when it blocks. So the
// context at a node is the fold along its path and branches keep apart (R19).
// In an advance segment the delta stands before its node's creation.

func (r *Run) setContext(e event.Event, p event.ContextSet) {
	target := r.Root
	if p.NodeID != nil {
		target = *p.NodeID
	}
	if n := r.Nodes[target]; n != nil {
		n.Context = event.MergeContext(n.Context, p.Context)
		return
	}
	if r.early == nil {
		r.early = map[id.Node]canon.Value{}
	}
	r.early[target] = p.Context
}

// endSegment: context that waits for a node in vain was for one that was left out.
func (r *Run) endSegment() {
	r.missed = r.missed || r.Evicted && len(r.early) > 0
}

// takeEarlyContext lays a delta that arrived just before its node over what the
// parent had. It never outlives a segment, so no saved state holds one.
func (r *Run) takeEarlyContext(n *Node) {
	if delta, ok := r.early[n.ID]; ok {
		n.Context = event.MergeContext(n.Context, delta)
		delete(r.early, n.ID)
	}
}
