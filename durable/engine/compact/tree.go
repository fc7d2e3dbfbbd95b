package compact

import (
	"iter"
	"slices"
)

// Tree is numbered records by their parents, in eight bytes a record.
type Tree struct {
	Roots []int // records without a parent
	// first is the first child of each record and next the sibling behind it, none for none.
	first, next []int32
}

// none is the parent of a root, and the end of a list of children.
const none = -1

// NewTree returns the tree of n records. parent returns the number of the parent of a record, -1 for a root, and another
// negative number for one whose parent is no record, which is in no list.
func NewTree(n int, parent func(int) int) Tree {
	t := Tree{first: make([]int32, n), next: make([]int32, n)}
	for i := range n {
		t.first[i], t.next[i] = none, none
	}
	for i := n - 1; i >= 0; i-- { // backwards, so that the children are in order
		switch p := parent(i); {
		case p == none:
			t.Roots = append(t.Roots, i)
		case p >= 0:
			t.next[i], t.first[p] = t.first[p], int32(i)
		}
	}
	slices.Reverse(t.Roots)
	return t
}

// Children yields the children of a record in their order.
func (t Tree) Children(record int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := t.first[record]; i >= 0 && yield(int(i)); i = t.next[i] {
		}
	}
}
