package projections

import (
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
)

// A windowed session knows the newest nodes of its runs and everything that is
// still open, and nothing else (R11): it is what a run is gone on with, at the same
// cost however long the run has gone. What it knows is exactly what a full fold
// knows. Where an event or a question needs a node that was left out, it says so,
// and the log is folded from its beginning; it never says that a node is absent.

const (
	// WindowNodes is how many of a run's newest nodes a window keeps: rewinds and
	// retries are of the last few, and a recovery text looks back at eight.
	WindowNodes = 64
	// windowOpenMax bounds the nodes that are kept however old they are. With more
	// of them a full fold is not much dearer than a window.
	windowOpenMax = 256
)

// Partial reports that nodes were left out of a run: what is not there may be in
// the log.
func (s *Session) Partial() bool {
	for _, r := range s.Runs {
		if r.Evicted {
			return true
		}
	}
	return false
}

// Missed reports that an event needed a node that was left out: the fold is of no
// use any more.
func (s *Session) Missed() bool {
	for _, r := range s.Runs {
		if r.missed {
			return true
		}
	}
	return false
}

// Knows reports whether the fold holds all that an answer about a node may look
// at: the node, the ancestors before it, and everything below it. A full fold knows
// every node it has, and also that there is none.
func (s *Session) Knows(run id.Run, node id.Node) bool {
	r := s.Runs[run]
	if r == nil || !r.Evicted {
		return true // runs are never left out
	}
	if r.missed {
		return false
	}
	n := r.Nodes[node]
	if n == nil || n.Cut {
		return false
	}
	if n.Kind == event.CheckpointNode && n.Parent != nil && !s.Knows(run, *n.Parent) {
		return false // work goes on at the node that it stands beside (R17)
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

// Window is the session with the newest nodes of each run only, and those that are
// still open; ok is false when too many are. It shares what it has with s, of which
// only one may go on. A session that is small enough is its own window.
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

func (r *Run) window(newest int) (*Run, bool) {
	keep, ok := r.openNodes()
	if !ok || len(r.early) > 0 {
		return nil, false
	}
	for _, n := range r.Order[max(0, len(r.Order)-newest):] {
		keep[n] = true
	}
	for n, i := r.Nodes[r.Tip], 0; n != nil && i <= limits.RecapAncestorsMax; n, i = r.above(n), i+1 {
		keep[n.ID] = true // the tip is where runs are gone on with, be it old
	}
	r.keepRecaps(keep)
	out := *r
	out.Evicted = r.Evicted || len(keep) < len(r.Nodes)
	out.Nodes = make(map[id.Node]*Node, len(keep))
	out.Order = make([]id.Node, 0, len(keep))
	out.early = nil
	nearest := map[id.Node]*id.Node{} // kept ancestor of those that are left out
	for _, nodeID := range r.Order {
		n, parent := r.Nodes[nodeID], r.above(r.Nodes[nodeID])
		var up *id.Node
		if parent != nil && keep[parent.ID] {
			up = &parent.ID
		} else if parent != nil {
			up = nearest[parent.ID]
		}
		if !keep[nodeID] {
			nearest[nodeID] = up
			continue
		}
		kept := *n
		if parent != nil && (n.Above != nil || !keep[parent.ID]) {
			kept.Above = up
		}
		out.Nodes[nodeID] = &kept
		out.Order = append(out.Order, nodeID)
	}
	r.markCuts(out.Nodes)
	return &out, true
}

// openNodes are the nodes that no window leaves out: where paths begin, where runs
// can go on, and what has something missing.
func (r *Run) openNodes() (map[id.Node]bool, bool) {
	keep := map[id.Node]bool{}
	for _, nodeID := range r.Order {
		if n := r.Nodes[nodeID]; n.isLeaf() || len(n.OpenGaps) > 0 || r.above(n) == nil {
			keep[nodeID] = true
		}
	}
	return keep, len(keep) <= windowOpenMax
}

// keepRecaps adds, for every kept node whose parent is not, the node with the
// nearest recap above it: so the current recap is known at every kept node.
func (r *Run) keepRecaps(keep map[id.Node]bool) {
	recap := make(map[id.Node]*Node, len(r.Order)) // the nearest one above a node
	var add []id.Node
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
			add = append(add, at.ID)
		}
	}
	for _, n := range add {
		keep[n] = true
	}
}

// markCuts marks the kept nodes below which one was left out.
func (r *Run) markCuts(kept map[id.Node]*Node) {
	cut := map[id.Node]bool{}
	for i := len(r.Order) - 1; i >= 0; i-- {
		nodeID := r.Order[i]
		n := kept[nodeID]
		if n != nil && cut[nodeID] {
			n.Cut = true
		}
		if parent := r.above(r.Nodes[nodeID]); parent != nil && (n == nil || n.Cut) {
			cut[parent.ID] = true
		}
	}
}

// above is the nearest ancestor that the fold has: the parent, where that was not
// left out.
func (r *Run) above(n *Node) *Node {
	if n.Above != nil {
		return r.Nodes[*n.Above]
	}
	return r.parent(n)
}

// needs reports, and remembers, that a node which may have been left out is wanted.
func (r *Run) needs(n id.Node) bool {
	if r.Evicted && !n.IsZero() && r.Nodes[n] == nil {
		r.missed = true
	}
	return r.missed
}
