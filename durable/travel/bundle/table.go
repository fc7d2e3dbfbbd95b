package bundle

import (
	"bytes"
	"hash/maphash"
	"slices"

	"github.com/waybill/waybill/durable/log/manifest"
)

// mark is a fact about a row.
type mark uint32

const (
	embedded  mark = 1 << iota // the value is there
	listed                     // integrity has an entry for it
	needed                     // the log names it
	byRecord                   // it was named by a manifest record, not an event
	same                       // the value lies in its one spelling
	tombstone                  // the value says that the bytes were erased
	padOne                     // the base64 ends with =
	padTwo                     // or with ==
)

// row is what is known of one object. There may be hundreds of thousands, so it is
// small: a bundle has less than 4 GiB (limits.BundleBytesMax).
type row struct {
	ref   reference
	at    uint32 // where the value stands; where it is only needed, the event or record that names it
	raw   uint32 // bytes from there on; where it is only needed, the index of the event or record
	bytes uint32 // of the value's JCS, by the value or else by integrity
	marks mark
}

func (r *row) is(m mark) bool { return r.marks&m != 0 }

// table holds the objects of a kind by reference. Rows lie in blocks that never
// move: growing a slice would hold twice of them for a while.
type table struct {
	kind   manifest.ObjectKind
	blocks [][]row
	n      uint32
	index  []uint32 // hash table: row number plus one, 0 is free
	seed   maphash.Seed
	sums   []reference // artifacts only, by row: digest of the value's JCS
	order  []uint32    // what is embedded, by reference; once all is read
}

// blockRows is how many rows a block holds: what is wasted at the end is little
// beside the window.
const blockRows = 1024

func newTable(kind manifest.ObjectKind) *table {
	// The seed keeps those who choose references from choosing collisions.
	return &table{kind: kind, seed: maphash.MakeSeed()}
}

func (t *table) row(i uint32) *row { return &t.blocks[i/blockRows][i%blockRows] }

// get is the row of ref, made where there is none, and its number.
func (t *table) get(ref reference) (*row, uint32) {
	if 4*uint64(t.n) >= 3*uint64(len(t.index)) {
		t.rehash()
	}
	free := t.slot(ref)
	if have := t.index[free]; have != 0 {
		return t.row(have - 1), have - 1
	}
	if t.n%blockRows == 0 {
		t.blocks = append(t.blocks, make([]row, blockRows))
	}
	t.n++
	t.index[free] = t.n
	if t.kind == manifest.Artifact {
		t.sums = append(t.sums, reference{})
	}
	r := t.row(t.n - 1)
	r.ref = ref
	return r, t.n - 1
}

// slot is where in the index ref is, or would be.
func (t *table) slot(ref reference) uint64 {
	mask := uint64(len(t.index) - 1)
	for i := maphash.Bytes(t.seed, ref[:]) & mask; ; i = (i + 1) & mask {
		if have := t.index[i]; have == 0 || t.row(have-1).ref == ref {
			return i
		}
	}
}

func (t *table) rehash() {
	t.index = make([]uint32, max(64, 2*len(t.index)))
	for i := range t.n {
		t.index[t.slot(t.row(i).ref)] = i + 1
	}
}

// settle sorts what is embedded; from then on the table is only read.
func (t *table) settle() {
	t.index, t.sums = nil, nil
	t.order = make([]uint32, 0, t.n)
	for i := range t.n {
		if t.row(i).is(embedded) {
			t.order = append(t.order, i)
		}
	}
	slices.SortFunc(t.order, func(a, b uint32) int { return bytes.Compare(t.row(a).ref[:], t.row(b).ref[:]) })
}

// find is the row of a value that is embedded, of a settled table.
func (t *table) find(ref reference) (*row, bool) {
	at, ok := slices.BinarySearchFunc(t.order, ref, func(i uint32, want reference) int {
		return bytes.Compare(t.row(i).ref[:], want[:])
	})
	if !ok {
		return nil, false
	}
	return t.row(t.order[at]), true
}
