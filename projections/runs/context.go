package runs

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// A context delta names the first node that it applies to: the node that the attempt leads to when
// it advances, the attempted node when it blocks. The context at a node is the fold along its path,
// and branches stay separate (docs/design.md#context). In the segment of an advance the delta
// precedes the creation of its node.

// setContext merges a delta into the context of its node, or stores it until the node is created
// later in the segment.
func (r *Run) setContext(e event.Event, p event.ContextSet) {
	target := r.Root
	if p.NodeID != nil {
		target = *p.NodeID
	}
	if n := r.find(target); n != nil {
		n.Context = event.MergeContext(n.Context, p.Context)
		if p.Source == event.ContextAgentDelta {
			n.Given = event.GivenKeys(n.Given, p.Context) // the delta of a refused attempt
		}
		return
	}
	if r.pendingContext == nil {
		r.pendingContext = map[id.Node]canon.Value{}
	}
	r.pendingContext[target] = p.Context
}

// endSegment ends the fold of a segment. It checks that every pending delta found its node. In a windowed run a delta without a
// node belongs to a node that was left out, and the fold is incomplete.
func (r *Run) endSegment() {
	r.missed = r.missed || r.Evicted && len(r.pendingContext) > 0
	r.recent = [2]*Node{}
}

// applyPendingContext merges a delta that precedes its node in the segment into the context
// inherited from the parent. Pending deltas never outlive a segment, so saved states hold none.
func (r *Run) applyPendingContext(n *Node) {
	if delta, ok := r.pendingContext[n.ID]; ok {
		n.Context = event.MergeContext(n.Context, delta)
		delete(r.pendingContext, n.ID)
	}
}
