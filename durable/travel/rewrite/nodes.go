package rewrite

import (
	"hash/maphash"

	"github.com/waybill/waybill/durable/id"
)

// nodeEntry is a node: its old and new id, and the number of operations recorded at it, by
// which their attempt ids are derived.
type nodeEntry struct {
	old, new                    [16]byte
	acks, checkpoints, approval int32
}

// nodesChunk is the number of entries allocated at once. Growing one slice would need twice
// the memory temporarily.
const nodesChunk = 1024

// nodeTable holds all nodes of a log in order of appearance, for the mapping. The index uses
// open addressing and compares the id itself, so that hash collisions are harmless.
type nodeTable struct {
	seed maphash.Seed
	list []*[nodesChunk]nodeEntry
	// n is the number of entries, which fill the chunks in order.
	n     int
	index []int32 // from 1; 0 newID empty
}

// newNodeTable returns an empty table.
func newNodeTable() nodeTable { return nodeTable{seed: maphash.MakeSeed(), index: make([]int32, 64)} }

// at returns entry i.
func (t *nodeTable) at(i int) *nodeEntry { return &t.list[i/nodesChunk][i%nodesChunk] }

// get returns the entry of a node, nil if it is not in the table.
func (t *nodeTable) get(node id.Node) *nodeEntry {
	if i := t.index[t.slot(node.Raw())]; i > 0 {
		return t.at(int(i - 1))
	}
	return nil
}

// add adds a node that is not in the table.
func (t *nodeTable) add(oldID, newID id.Node) *nodeEntry {
	// Rehash before the index is full; at least one position must stay free for slot to end.
	if 8*(t.n+1) > 7*len(t.index) {
		t.index = make([]int32, 2*len(t.index))
		for i := range t.n {
			t.index[t.slot(t.at(i).old)] = int32(i + 1)
		}
	}
	if t.n%nodesChunk == 0 {
		t.list = append(t.list, new([nodesChunk]nodeEntry))
	}
	t.index[t.slot(oldID.Raw())] = int32(t.n + 1)
	t.n++
	p := t.at(t.n - 1)
	p.old, p.new = oldID.Raw(), newID.Raw()
	return p
}

// slot returns the position of a node in the index, or the free one where it belongs.
func (t *nodeTable) slot(raw [16]byte) int {
	mask := len(t.index) - 1
	at := int(maphash.Bytes(t.seed, raw[:])) & mask
	for t.index[at] != 0 && t.at(int(t.index[at]-1)).old != raw {
		at = (at + 1) & mask
	}
	return at
}
