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

// placed is a node of Run.Order with the place there of its nearest ancestor in the fold, -1 for a root.
type placed struct {
	*Node
	above int
}

// placed returns the nodes in order. An ancestor precedes its descendants.
func (r *Run) placed() []placed {
	out, at := make([]placed, len(r.Order)), make(map[id.Node]int, len(r.Order))
	for i, nodeID := range r.Order {
		n := r.Nodes[nodeID]
		out[i], at[nodeID] = placed{n, -1}, i
		if parent := r.above(n); parent != nil {
			out[i].above = at[parent.ID]
		}
	}
	return out
}

// window returns the run with the kept nodes. Above and Cut of these mark where nodes were left
// out.
func (r *Run) window(newest int) (*Run, bool) {
	nodes := r.placed()
	keep, ok := openNodes(nodes)
	// A pending context belongs to a segment that is not folded completely.
	if !ok || len(r.pendingContext) > 0 {
		return nil, false
	}
	path := map[id.Node]bool{} // runs continue at the tip, which may be an old node
	for n, i := r.Nodes[r.Tip], 0; n != nil && i <= limits.RecapAncestorsMax; n, i = r.above(n), i+1 {
		path[n.ID] = true
	}
	for i, n := range nodes {
		keep[i] = keep[i] || i >= len(nodes)-newest || path[n.ID]
	}
	keepRecaps(nodes, keep)
	out := *r
	out.Nodes, out.Order = map[id.Node]*Node{}, []id.Node{}
	out.pendingContext, out.recent = nil, [2]*Node{}
	nearest := make([]*Node, len(nodes)) // each node, or its nearest kept ancestor if it is left out
	for i, n := range nodes {
		var up *Node
		if n.above >= 0 {
			up = nearest[n.above]
		}
		if nearest[i] = up; !keep[i] {
			out.Evicted = true
			continue
		}
		kept := *n.Node
		if n.above >= 0 && (n.Above != nil || !keep[n.above]) {
			if kept.Above = nil; up != nil {
				kept.Above = &up.ID
			}
		}
		nearest[i], out.Nodes[n.ID] = &kept, &kept
		out.Order = append(out.Order, n.ID)
	}
	markCuts(nodes, nearest, keep)
	return &out, true
}

// openNodes reports the nodes that every window keeps: roots, leaves and nodes with open gaps. The
// second result is false if there are more than windowOpenMax.
func openNodes(nodes []placed) (keep []bool, ok bool) {
	keep = make([]bool, len(nodes))
	open := 0
	for i, n := range nodes {
		if keep[i] = n.IsLeaf() || len(n.OpenGaps) > 0 || n.above < 0; keep[i] {
			open++
		}
	}
	return keep, open <= windowOpenMax
}

// keepRecaps adds to keep, for every kept node whose parent is left out, the nearest ancestor with
// a recap, so that RecapOnPath is right at every kept node.
func keepRecaps(nodes []placed, keep []bool) {
	recap := make([]int, len(nodes)) // place of the nearest ancestor with a recap, -1 without one
	for i, n := range nodes {
		if recap[i] = -1; n.above < 0 {
			continue
		}
		recap[i] = recap[n.above]
		if _, ok := nodes[n.above].Recap(); ok {
			recap[i] = n.above
		}
		if keep[i] && !keep[n.above] && recap[i] >= 0 {
			keep[recap[i]] = true // an earlier node, which was visited
		}
	}
}

// markCuts sets Cut for the kept nodes with a descendant that was left out. Nodes are visited from
// the newest to the oldest, so that descendants come first.
func markCuts(nodes []placed, kept []*Node, keep []bool) {
	cut := make([]bool, len(nodes))
	for i, n := range slices.Backward(nodes) {
		if keep[i] && cut[i] {
			kept[i].Cut = true
		}
		if n.above >= 0 && (!keep[i] || kept[i].Cut) {
			cut[n.above] = true
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
