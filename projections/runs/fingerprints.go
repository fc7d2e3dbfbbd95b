package runs

import (
	"hash/maphash"
	"slices"
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
type Fingerprints struct{ all table[setMember] }

// setMember is a fingerprint that is its own entry.
type setMember uint64

func (m setMember) key() uint64 { return uint64(m) }

// Add adds a fingerprint, which must not be 0, and reports whether it is new.
func (s *Fingerprints) Add(f uint64) bool { return s.all.put(setMember(f)) }

// Has reports whether the fingerprint was added.
func (s *Fingerprints) Has(f uint64) bool { return s.all.get(f) != 0 }

// nodeRecord is what the check needs of a node to verify later events.
type nodeRecord struct {
	self, parent uint64 // fingerprints; parent is 0 at a root
	run          int32  // index of the runRecord
	kind         nodeKind
}

func (n nodeRecord) key() uint64 { return n.self }

// table is a hash table with open addressing, by the fingerprints of its entries: 0 is the key of an
// empty slot, and the number of slots is a power of two.
type table[E interface{ key() uint64 }] struct {
	slots []E
	n     int
}

// put stores an entry, in place of an earlier one with its key, and reports whether the key is new.
// The table grows at a load of 7/8, so that slot always meets an empty one.
func (t *table[E]) put(e E) (added bool) {
	if 8*(t.n+1) > 7*len(t.slots) {
		old := t.slots
		t.slots = make([]E, max(16, 2*len(old)))
		for _, moved := range old {
			if moved.key() != 0 {
				*t.slot(moved.key()) = moved
			}
		}
	}
	at := t.slot(e.key())
	if added = (*at).key() == 0; added {
		t.n++
	}
	*at = e
	return added
}

// get returns the entry with a key, the zero entry if there is none.
func (t *table[E]) get(key uint64) (e E) {
	if t.n > 0 {
		e = *t.slot(key)
	}
	return e
}

// slot returns the slot of a key, or the empty slot where it belongs.
func (t *table[E]) slot(key uint64) *E {
	mask := uint64(len(t.slots) - 1)
	at := key & mask
	for have := t.slots[at].key(); have != 0 && have != key; have = t.slots[at].key() {
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
