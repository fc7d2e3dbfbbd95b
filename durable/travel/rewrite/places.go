package rewrite

import (
	"hash/maphash"

	"github.com/waybill/waybill/durable/id"
)

// place is a node: its old id and its new one, and what is recorded there of each
// operation.
type place struct {
	was, is                     [16]byte
	acks, checkpoints, approval int32
}

// placesChunk is how many places are set aside at once: a list that grows as a whole
// would be there twice while it does.
const placesChunk = 1024

// places are the nodes of a log, as it names them first. All of them are kept, since
// the mapping lists them. The index holds places of the list, by open addressing, and
// what it finds is held against the id itself: two ids that hash alike stay two.
type places struct {
	seed  maphash.Seed
	list  []*[placesChunk]place
	n     int
	index []int32 // from 1; 0 is empty
}

func newPlaces() places { return places{seed: maphash.MakeSeed(), index: make([]int32, 64)} }

// at is the i-th place.
func (t *places) at(i int) *place { return &t.list[i/placesChunk][i%placesChunk] }

// get is the place of a node; nil where there is none.
func (t *places) get(node id.Node) *place {
	if i := t.index[t.slot(node.Raw())]; i > 0 {
		return t.at(int(i - 1))
	}
	return nil
}

// add puts a node that has no place yet.
func (t *places) add(was, is id.Node) *place {
	if 8*(t.n+1) > 7*len(t.index) {
		t.index = make([]int32, 2*len(t.index))
		for i := range t.n {
			t.index[t.slot(t.at(i).was)] = int32(i + 1)
		}
	}
	if t.n%placesChunk == 0 {
		t.list = append(t.list, new([placesChunk]place))
	}
	t.index[t.slot(was.Raw())] = int32(t.n + 1)
	t.n++
	p := t.at(t.n - 1)
	p.was, p.is = was.Raw(), is.Raw()
	return p
}

// slot is where a node stands in the index, or would stand.
func (t *places) slot(raw [16]byte) int {
	mask := len(t.index) - 1
	at := int(maphash.Bytes(t.seed, raw[:])) & mask
	for t.index[at] != 0 && t.at(int(t.index[at]-1)).was != raw {
		at = (at + 1) & mask
	}
	return at
}
