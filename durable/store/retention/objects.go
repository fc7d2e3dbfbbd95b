package retention

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Objects lists the stored objects of a store, of which there may be a million: each takes about fifty bytes. All are
// added first; the order then is by digest.
type Objects struct {
	kinds []manifest.ObjectKind
	list  []packed
	// starts are the indices of the first objects whose digests begin with each pair of bytes, and the end.
	starts []int32
}

// packed is an Object without references to memory.
type packed struct {
	raw    [sha256.Size]byte
	bytes  int64
	kind   uint8 // in kinds
	erased bool
	named  bool // see ObjectFilter
}

// Add adds an object. It must not be called after the first Find.
func (s *Objects) Add(o Object) {
	kind := slices.Index(s.kinds, o.Kind)
	if kind < 0 {
		kind, s.kinds = len(s.kinds), append(s.kinds, o.Kind)
	}
	s.list = append(s.list, packed{raw: o.Ref.Raw(), bytes: o.Bytes, kind: uint8(kind), erased: o.Erased})
}

// Len is the number of objects.
func (s *Objects) Len() int { return len(s.list) }

// Kind and Bytes describe the object at an index.
func (s *Objects) Kind(i int) manifest.ObjectKind { return s.kinds[s.list[i].kind] }

// Bytes is the size of the file of the object at an index.
func (s *Objects) Bytes(i int) int64 { return s.list[i].bytes }

// At returns the object at an index.
func (s *Objects) At(i int) Object {
	o := s.list[i]
	return Object{Kind: s.kinds[o.kind], Ref: canon.DigestOf(o.raw), Bytes: o.bytes, Erased: o.erased}
}

// Find returns the indices of the objects with a digest: those of several kinds follow each other.
func (s *Objects) Find(raw [sha256.Size]byte) (first, end int) {
	if s.starts == nil {
		s.sort()
	}
	pair := int(raw[0])<<8 | int(raw[1])
	for first = int(s.starts[pair]); first < int(s.starts[pair+1]); first++ {
		if s.list[first].raw == raw {
			break
		}
	}
	for end = first; end < int(s.starts[pair+1]) && s.list[end].raw == raw; end++ {
	}
	return first, end
}

// sort orders the objects by digest and kind.
func (s *Objects) sort() {
	slices.SortFunc(s.list, func(a, b packed) int {
		if order := bytes.Compare(a.raw[:], b.raw[:]); order != 0 {
			return order
		}
		return int(a.kind) - int(b.kind)
	})
	s.starts = make([]int32, 1<<16+1)
	at := 0
	for pair := range s.starts {
		for at < len(s.list) && int(s.list[at].raw[0])<<8|int(s.list[at].raw[1]) < pair {
			at++
		}
		s.starts[pair] = int32(at)
	}
}
