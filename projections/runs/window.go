package runs

import (
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
)

// A windowed session holds the newest nodes of each run and every node that is still open, so that
// continuing a run costs the same however long it is (docs/design.md#head-cache). Its state equals
// the state of a full fold for the nodes that it holds. If an event or a question needs a node that
// was left out, Missed or Covers reports it, and the caller folds the log from its beginning; a
// window never reports that a node does not exist.

const (
	// WindowNodes is the number of a run's newest nodes in a window: rewinds and retries refer to
	// recent nodes, and a recovery text includes limits.RecapAncestorsMax ancestors.
	WindowNodes = 64
	// windowOpenMax bounds the open nodes of a run, which are kept at any age. With more of them a
	// full fold costs little more than a window.
	windowOpenMax = 256
)

// Partial reports that nodes of a run were left out: a node that is not found may be in the log.
func (s *Session) Partial() bool {
	for _, r := range s.Runs {
		if r.Evicted {
			return true
		}
	}
	return false
}

// Missed reports that an event needed a node that was left out. The state is wrong from that event
// on and must not be used.
func (s *Session) Missed() bool {
	for _, r := range s.Runs {
		if r.missed {
			return true
		}
	}
	return false
}

// Covers reports whether the fold holds everything that an answer about a node may read: the node,
// limits.RecapAncestorsMax ancestors and all descendants. It is true for every node of a full fold,
// also for ids that the run does not have.
func (s *Session) Covers(run id.Run, node id.Node) bool {
	r := s.Runs[run]
	if r == nil || !r.Evicted {
		return true // runs are never left out
	}
	n := r.Nodes[node]
	if r.missed || n == nil || n.Cut {
		return false
	}
	if n.Kind == event.CheckpointNode && n.Parent != nil && !s.Covers(run, *n.Parent) {
		return false // work continues at the node of a checkpoint (docs/design.md#edges-and-tips)
	}
	for range limits.RecapAncestorsMax {
		if n.Above != nil {
			return false
		}
		if n = r.parent(n); n == nil {
			break
		}
	}
	return true
}

// Window returns a session with the newest nodes of each run and the open ones; ok is false if a
// run has more than windowOpenMax open nodes. The window shares its nodes with s: only one of them
// may be continued. A session that is small enough is returned with all nodes.
func (s *Session) Window(newest int) (w *Session, ok bool) {
	out := *s
	out.Runs = make(map[id.Run]*Run, len(s.Runs))
	for runID, r := range s.Runs {
		if out.Runs[runID], ok = r.window(newest); !ok {
			return nil, false
		}
	}
	return &out, true
}

// window returns the run with the kept nodes. Above and Cut of these mark where nodes were left
// out.
func (r *Run) window(newest int) (*Run, bool) {
	keep, ok := r.openNodes()
	// A pending context belongs to a segment that is not folded completely.
	if !ok || len(r.pendingContext) > 0 {
		return nil, false
	}
	for _, n := range r.Order[max(0, len(r.Order)-newest):] {
		keep[n] = true
	}
	for n, i := r.Nodes[r.Tip], 0; n != nil && i <= limits.RecapAncestorsMax; n, i = r.above(n), i+1 {
		keep[n.ID] = true // runs continue at the tip, which may be an old node
	}
	r.keepRecaps(keep)
	out := *r
	out.Evicted = r.Evicted || len(keep) < len(r.Nodes)
	out.Nodes = make(map[id.Node]*Node, len(keep))
	out.Order = make([]id.Node, 0, len(keep))
	out.pendingContext, out.recent = nil, [2]*Node{}
	nearest := map[id.Node]*id.Node{} // each node, or its nearest kept ancestor if it is left out
	for _, nodeID := range r.Order {
		n, parent := r.Nodes[nodeID], r.above(r.Nodes[nodeID])
		var up *id.Node
		if parent != nil {
			up = nearest[parent.ID]
		}
		if !keep[nodeID] {
			nearest[nodeID] = up
			continue
		}
		kept := *n
		nearest[nodeID] = &kept.ID
		if parent != nil && (n.Above != nil || !keep[parent.ID]) {
			kept.Above = up
		}
		out.Nodes[nodeID] = &kept
		out.Order = append(out.Order, nodeID)
	}
	r.markCuts(out.Nodes)
	return &out, true
}

// openNodes returns the nodes that every window keeps: roots, leaves and nodes with open gaps. The
// second result is false if there are more than windowOpenMax.
func (r *Run) openNodes() (map[id.Node]bool, bool) {
	keep := map[id.Node]bool{}
	for _, nodeID := range r.Order {
		if n := r.Nodes[nodeID]; n.IsLeaf() || len(n.OpenGaps) > 0 || r.above(n) == nil {
			keep[nodeID] = true
		}
	}
	return keep, len(keep) <= windowOpenMax
}

// keepRecaps adds to keep, for every kept node whose parent is left out, the nearest ancestor with
// a recap, so that RecapOnPath is right at every kept node.
func (r *Run) keepRecaps(keep map[id.Node]bool) {
	recap := make(map[id.Node]*Node, len(r.Order)) // nearest ancestor with a recap, by node
	for _, nodeID := range r.Order {
		parent := r.above(r.Nodes[nodeID])
		if parent == nil {
			continue
		}
		at := recap[parent.ID]
		if _, ok := parent.Recap(); ok {
			at = parent
		}
		recap[nodeID] = at
		if keep[nodeID] && !keep[parent.ID] && at != nil {
			keep[at.ID] = true // an earlier node, which was visited
		}
	}
}

// markCuts sets Cut for the kept nodes with a descendant that was left out. Nodes are visited from
// the newest to the oldest, so that descendants come first.
func (r *Run) markCuts(kept map[id.Node]*Node) {
	cut := map[id.Node]bool{}
	for _, nodeID := range slices.Backward(r.Order) {
		n := kept[nodeID]
		if n != nil && cut[nodeID] {
			n.Cut = true
		}
		if parent := r.above(r.Nodes[nodeID]); parent != nil && (n == nil || n.Cut) {
			cut[parent.ID] = true
		}
	}
}

// above returns the nearest ancestor in the fold: the parent unless it was left out, nil for a
// root.
func (r *Run) above(n *Node) *Node {
	if n.Above != nil {
		return r.Nodes[*n.Above]
	}
	return r.parent(n)
}

// requires is called with a node that an event refers to. If that node was left out it sets missed.
// It returns missed: the event cannot be folded.
func (r *Run) requires(n id.Node) bool {
	if r.Evicted && !n.IsZero() && r.find(n) == nil {
		r.missed = true
	}
	return r.missed
}
