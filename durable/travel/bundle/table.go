package bundle

import (
	"bytes"
	"hash/maphash"
	"slices"

	"github.com/waybill/waybill/durable/log/manifest"
)

// mark is a flag of a row.
type mark uint32

const (
	embedded  mark = 1 << iota // the value is in the bundle
	listed                     // integrity has an entry for it
	needed                     // the log refers to it
	byRecord                   // first referred to by a manifest record, not an event
	same                       // the value is canonical in the file
	tombstone                  // the value is the tombstone of erased bytes
	padOne                     // the base64 ends with =
	padTwo                     // the base64 ends with ==
)

// row describes one object. A bundle may have hundreds of thousands, so offsets are 32 bits:
// a bundle is smaller than 4 GiB (limits.BundleBytesMax).
type row struct {
	// ref is the name of the object, by which the table is hashed and sorted.
	ref   reference
	at    uint32 // offset of the value; if only needed, of the event or record that names it
	raw   uint32 // length in the file; if only needed, the index of the event or record
	bytes uint32 // length of the value's canonical JSON, computed or stated by integrity
	marks mark
}

// is reports whether any of the marks is set.
func (r *row) is(m mark) bool { return r.marks&m != 0 }

// table indexes the objects of a kind by reference. Rows are in blocks that are never moved:
// growing one slice would need twice the memory temporarily.
type table struct {
	section
	blocks [][]row
	n      uint32
	index  []uint32 // hash table: row number plus one, 0 is free
	seed   maphash.Seed
	sums   []reference // artifacts only, by row: digest of the value's JCS
	order  []uint32    // embedded rows sorted by reference, after sortEmbedded
}

// blockRows is the number of rows in a block; at most one block is partly unused.
const blockRows = 1024

// newTable returns an empty table of a kind.
func newTable(kind manifest.ObjectKind) *table {
	// The random seed prevents a hostile bundle from choosing references that collide.
	return &table{section: sections[sectionOf(kind)], seed: maphash.MakeSeed()}
}

// row returns the row with number i.
func (t *table) row(i uint32) *row { return &t.blocks[i/blockRows][i%blockRows] }

// get returns the row of ref and its number, creating it if necessary.
func (t *table) get(ref reference) (*row, uint32) {
	// Linear probing needs free positions: at most three quarters are used.
	if 4*uint64(t.n) >= 3*uint64(len(t.index)) {
		t.rehash()
	}
	free := t.slot(ref)
	if have := t.index[free]; have != 0 {
		return t.row(have - 1), have - 1
	}
	// The last block is full.
	if t.n%blockRows == 0 {
		t.blocks = append(t.blocks, make([]row, blockRows))
	}
	t.n++
	t.index[free] = t.n
	// Snapshots and workflows have the digest of their value as their name.
	if t.kind == manifest.Artifact {
		t.sums = append(t.sums, reference{})
	}
	r := t.row(t.n - 1)
	r.ref = ref
	return r, t.n - 1
}

// slot returns the position of ref in the index, or the free one where it belongs.
func (t *table) slot(ref reference) uint64 {
	mask := uint64(len(t.index) - 1)
	for i := maphash.Bytes(t.seed, ref[:]) & mask; ; i = (i + 1) & mask {
		if have := t.index[i]; have == 0 || t.row(have-1).ref == ref {
			return i
		}
	}
}

// rehash doubles the index.
func (t *table) rehash() {
	t.index = make([]uint32, max(64, 2*len(t.index)))
	for i := range t.n {
		t.index[t.slot(t.row(i).ref)] = i + 1
	}
}

// sortEmbedded sorts the embedded objects and frees the index; afterwards the table is
// read-only.
func (t *table) sortEmbedded() {
	// Not needed after all digests have been compared.
	t.index, t.sums = nil, nil
	t.order = make([]uint32, 0, t.n)
	for i := range t.n {
		if t.row(i).is(embedded) {
			t.order = append(t.order, i)
		}
	}
	slices.SortFunc(t.order, func(a, b uint32) int { return bytes.Compare(t.row(a).ref[:], t.row(b).ref[:]) })
}

// find returns the row of an embedded object, after sortEmbedded.
func (t *table) find(ref reference) (*row, bool) {
	at, ok := slices.BinarySearchFunc(t.order, ref, func(i uint32, want reference) int {
		return bytes.Compare(t.row(i).ref[:], want[:])
	})
	if !ok {
		return nil, false
	}
	return t.row(t.order[at]), true
}
