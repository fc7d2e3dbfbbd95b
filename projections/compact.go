package projections

import (
	"hash/maphash"
	"slices"

	"github.com/waybill/waybill/durable/id"
)

// What the check of a log remembers of it: 64 bits of each name, by a hash that is
// another in every process, so that no log can be made to deceive it. A name that was
// never met is always told. Two names that look alike, once in ten million million
// logs of a million events, hide a broken reference; none is ever reported for it.

var nameSeed = maphash.MakeSeed()

// fingerprint is 64 bits of a name, never 0.
func fingerprint[T comparable](name T) uint64 { return max(1, maphash.Comparable(nameSeed, name)) }

// Fingerprint is 64 bits of the name of an object, never 0; it holds within a process.
func (o ObjectRef) Fingerprint() uint64 { return fingerprint(o) }

// Fingerprints is a set of such, of which a million take ten megabytes. The zero one is
// empty.
type Fingerprints struct{ names }

// Add reports whether the fingerprint is new.
func (s *Fingerprints) Add(f uint64) bool { return s.add(f) }

// Has reports whether the fingerprint was added.
func (s *Fingerprints) Has(f uint64) bool { return s.has(f) }

// names is a set of fingerprints, by open addressing: 0 is an empty slot.
type names struct {
	slots []uint64
	n     int
}

// add reports whether the fingerprint is new.
func (s *names) add(f uint64) bool {
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

func (s *names) has(f uint64) bool { return s.n > 0 && s.slots[s.find(f)] == f }

// find is the slot of a fingerprint, or the empty one where it would stand.
func (s *names) find(f uint64) int {
	mask := uint64(len(s.slots) - 1)
	at := f & mask
	for s.slots[at] != 0 && s.slots[at] != f {
		at = (at + 1) & mask
	}
	return int(at)
}

// nodeNote is what later events may be held against of a node.
type nodeNote struct {
	self, parent uint64 // fingerprints; parent is 0 at a root
	run          int32
	kind         nodeKind
}

// nodeNotes is nodeNote by the fingerprint of the node, as names is a set.
type nodeNotes struct {
	slots []nodeNote
	n     int
}

func (t *nodeNotes) put(n nodeNote) {
	if 8*(t.n+1) > 7*len(t.slots) {
		old := t.slots
		t.slots = make([]nodeNote, max(16, 2*len(old)))
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

// get is the note of a node, the zero one where there is none.
func (t *nodeNotes) get(node id.Node) nodeNote {
	if t.n == 0 || node.IsZero() {
		return nodeNote{}
	}
	return *t.at(fingerprint(node))
}

func (t *nodeNotes) at(self uint64) *nodeNote {
	mask := uint64(len(t.slots) - 1)
	at := self & mask
	for t.slots[at].self != 0 && t.slots[at].self != self {
		at = (at + 1) & mask
	}
	return &t.slots[at]
}

// tally keeps fingerprints to be sorted later, a million of them in eight megabytes: a
// table that is looked up in would take twice as much, and thrice while it grows.
type tally struct {
	buckets [256][][]uint64
}

const tallyChunk = 256

func (t *tally) add(f uint64) {
	b := &t.buckets[f>>56]
	if n := len(*b); n == 0 || len((*b)[n-1]) == tallyChunk {
		*b = append(*b, make([]uint64, 0, tallyChunk))
	}
	last := &(*b)[len(*b)-1]
	*last = append(*last, f)
}

// twice are the fingerprints that were added more than once.
func (t *tally) twice() (out []uint64) {
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
