package runs

import (
	"hash/maphash"
	"slices"

	"github.com/waybill/waybill/durable/id"
)

// The check of a log stores 64 bits of each name instead of the name. The hash has another seed in
// every process, so that no log can be made to collide on purpose. A collision can only hide a
// broken reference: a name that was added is always found. Its probability is about one in ten
// million million logs of a million events.

// nameSeed is drawn once per process; fingerprints must not be stored.
var nameSeed = maphash.MakeSeed()

// fingerprint returns 64 bits of a name, never 0, which marks an empty slot in the tables.
func fingerprint[T comparable](name T) uint64 { return max(1, maphash.Comparable(nameSeed, name)) }

// Fingerprint returns 64 bits of the name of an object, never 0. It is valid within this process.
func (o ObjectRef) Fingerprint() uint64 { return fingerprint(o) }

// Fingerprints is a set of fingerprints; a million take about ten megabytes. The zero value is an
// empty set. It is not safe for concurrent use.
type Fingerprints struct{ fingerprintSet }

// Add adds a fingerprint and reports whether it is new.
func (s *Fingerprints) Add(f uint64) bool { return s.add(f) }

// Has reports whether the fingerprint was added.
func (s *Fingerprints) Has(f uint64) bool { return s.has(f) }

// fingerprintSet is a hash table with open addressing: 0 is an empty slot, and the number of slots
// is a power of two.
type fingerprintSet struct {
	slots []uint64
	n     int
}

// add adds a fingerprint, which must not be 0, and reports whether it is new. The table grows at a
// load of 7/8, so that find always meets an empty slot.
func (s *fingerprintSet) add(f uint64) bool {
	if 8*(s.n+1) > 7*len(s.slots) {
		old := s.slots
		s.slots = make([]uint64, max(64, 2*len(old)))
		for _, f := range old {
			if f != 0 {
				s.slots[s.find(f)] = f
			}
		}
	}
	at := s.find(f)
	if s.slots[at] == f {
		return false
	}
	s.slots[at] = f
	s.n++
	return true
}

// has reports whether the fingerprint was added.
func (s *fingerprintSet) has(f uint64) bool { return s.n > 0 && s.slots[s.find(f)] == f }

// find returns the slot of a fingerprint, or the empty slot where it belongs.
func (s *fingerprintSet) find(f uint64) int {
	mask := uint64(len(s.slots) - 1)
	at := f & mask
	for s.slots[at] != 0 && s.slots[at] != f {
		at = (at + 1) & mask
	}
	return int(at)
}

// nodeRecord is what the check needs of a node to verify later events.
type nodeRecord struct {
	self, parent uint64 // fingerprints; parent is 0 at a root
	run          int32  // index of the runRecord
	kind         nodeKind
}

// nodeTable maps the fingerprint of a node to its nodeRecord, with open addressing as in
// fingerprintSet.
type nodeTable struct {
	slots []nodeRecord
	n     int
}

// put stores the record of a node and replaces an earlier one, so that a duplicate node_created
// event counts as the newer node.
func (t *nodeTable) put(n nodeRecord) {
	if 8*(t.n+1) > 7*len(t.slots) {
		old := t.slots
		t.slots = make([]nodeRecord, max(16, 2*len(old)))
		for _, n := range old {
			if n.self != 0 {
				*t.at(n.self) = n
			}
		}
	}
	at := t.at(n.self)
	if at.self == 0 {
		t.n++
	}
	*at = n
}

// get returns the record of a node, the zero record if the node was not stored.
func (t *nodeTable) get(node id.Node) nodeRecord {
	if t.n == 0 || node.IsZero() {
		return nodeRecord{}
	}
	return *t.at(fingerprint(node))
}

// at returns the slot of a fingerprint, or the empty slot where it belongs.
func (t *nodeTable) at(self uint64) *nodeRecord {
	mask := uint64(len(t.slots) - 1)
	at := self & mask
	for t.slots[at].self != 0 && t.slots[at].self != self {
		at = (at + 1) & mask
	}
	return &t.slots[at]
}

// fingerprintList collects fingerprints that are sorted later; a million take eight megabytes. A
// hash table would need twice as much memory, and three times as much while it grows.
type fingerprintList struct {
	buckets [256][][]uint64 // by the highest byte, in chunks
}

// chunkLen is the number of fingerprints in a chunk. Chunks are never moved, so adding copies
// nothing.
const chunkLen = 256

// add appends a fingerprint to its bucket.
func (t *fingerprintList) add(f uint64) {
	b := &t.buckets[f>>56]
	if n := len(*b); n == 0 || len((*b)[n-1]) == chunkLen {
		*b = append(*b, make([]uint64, 0, chunkLen))
	}
	last := &(*b)[len(*b)-1]
	*last = append(*last, f)
}

// duplicates returns the fingerprints that were added more than once, each once, in ascending
// order. It sorts one bucket at a time in a buffer of that bucket's size.
func (t *fingerprintList) duplicates() (out []uint64) {
	var all []uint64
	for _, bucket := range t.buckets {
		all = all[:0]
		for _, chunk := range bucket {
			all = append(all, chunk...)
		}
		slices.Sort(all)
		for i := 1; i < len(all); i++ {
			if all[i] == all[i-1] {
				out = append(out, all[i])
			}
		}
	}
	return slices.Compact(out)
}
