package runs

import "slices"

// updateTip moves the preferred tip after an event at a node (docs/design.md#preferred-tip). The
// preferred tip is the leaf whose history has the latest event. An event at a node belongs to the
// history of all leaves below it and of no other leaf, and event indices only grow: after every
// such event the tip is the leaf below that node that was created last.
func (r *Run) updateTip(n *Node) {
	for n != nil && !n.IsLeaf() && n.AckedChildren == 0 {
		// The parent was left out of the window: the leaf cannot be determined.
		if n.Above != nil {
			r.missed = true
			return
		}
		n = r.parent(n) // of a checkpoint: the event counts for the parent's history
	}
	if n == nil {
		return
	}
	if n.IsLeaf() {
		r.Tip = n.ID
		return
	}
	for _, nodeID := range slices.Backward(r.Order) {
		if leaf := r.Nodes[nodeID]; leaf.IsLeaf() && r.isBelow(leaf, n) {
			r.Tip = nodeID
			return
		}
	}
}

// isBelow reports whether n is ancestor or one of its descendants. Ancestors are created before
// their descendants, which ends the loop early.
func (r *Run) isBelow(n, ancestor *Node) bool {
	for ; n != nil && n.CreatedIndex >= ancestor.CreatedIndex; n = r.above(n) {
		if n == ancestor {
			return true
		}
	}
	return false
}
