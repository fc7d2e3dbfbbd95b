package projections

import "github.com/waybill/waybill/durable/id"

// touch moves the preferred tip (locks section 2). The policy prefers the leaf
// whose history was touched last. An event at a node touches the history of all
// leaves below it and of no other, and event indices only grow: so the tip is,
// after every touching event, the leaf below that node which was created last.
func (r *Run) touch(nodeID id.Node) {
	n := r.Nodes[nodeID]
	for n != nil && !n.isLeaf() && n.AckedChildren == 0 {
		if n.Above != nil {
			r.missed = true
			return
		}
		n = r.parent(n) // a checkpoint: its parent's history is touched
	}
	if n == nil {
		return
	}
	if n.isLeaf() {
		r.Tip = n.ID
		return
	}
	for i := len(r.Order) - 1; i >= 0; i-- {
		if leaf := r.Nodes[r.Order[i]]; leaf.isLeaf() && r.below(leaf, n) {
			r.Tip = leaf.ID
			return
		}
	}
}

func (r *Run) below(n, ancestor *Node) bool {
	for ; n != nil && n.CreatedIndex >= ancestor.CreatedIndex; n = r.above(n) {
		if n == ancestor {
			return true
		}
	}
	return false
}
