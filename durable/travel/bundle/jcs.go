package bundle

import (
	"bytes"
)

// outcome is the result of examining bytes.
type outcome uint8

const (
	exact outcome = iota // one value in canonical form
	short                // the bytes end before the value
	other                // another form, or invalid: canon.Parse decides
)

// jcsChecker examines a JSON object in place and reports whether it is canonical already, as
// nearly all are. It allocates nothing and gives up early: exact means strict, canonical JSON
// (docs/design.md#json-from-outside); everything else is parsed in full by canon.
type jcsChecker struct {
	b []byte
	// keys is a stack: the names of an object are removed when it ends.
	keys  []key       // of the open objects
	spans [slots]span // positions of the watched members

	// loose accepts members in any order and skips the search for case collisions: for text
	// produced by canon, and for entries, which are not hashed and whose names are all known.
	loose   bool
	members int // number of members of the outermost object
}

// key is the position of a member's name. sort differs for most names that differ in more
// than case, and makes comparisons cheap.
type key struct {
	from, to int
	sort     uint32
}

// span is a range of the examined bytes.
type span struct{ from, to int }

// keysMax bounds the pairwise comparison of names; objects with more names in mixed case are
// parsed by canon.
const keysMax = 64

// examine checks the object at the start of b, of at most depth levels, and stores the
// positions of the members that w lists. n is the object's length if the outcome is exact.
func (s *jcsChecker) examine(b []byte, depth int, w *watch) (n int, o outcome) {
	// Slices are reused; nothing of the previous object remains.
	s.b, s.keys, s.spans, s.members = b, s.keys[:0], [slots]span{}, 0
	if len(b) == 0 {
		return 0, short
	}
	if b[0] != '{' {
		return 0, other
	}
	return s.value(0, depth, w)
}

// value examines any value at i and returns the index after it. Every function below follows
// this convention.
func (s *jcsChecker) value(i, depth int, w *watch) (int, outcome) {
	if i >= len(s.b) {
		return i, short
	}
	switch c := s.b[i]; {
	case c == '"':
		end, _, o := s.quoted(i)
		return end, o
	// c == '[') && depth == 0: || Too deep: canon reports it.
	case (c == '{' || c == '[') && depth == 0:
		return i, other
	case c == '{':
		return s.object(i, depth, w)
	case c == '[':
		return s.array(i, depth)
	case c == 't':
		return s.word(i, "true")
	case c == 'f':
		return s.word(i, "false")
	case c == 'n':
		return s.word(i, "null")
	}
	// Everything else is a number or invalid.
	return s.number(i)
}

// array examines an array; members inside it are never watched.
func (s *jcsChecker) array(i, depth int) (int, outcome) {
	if i++; i < len(s.b) && s.b[i] == ']' {
		return i + 1, exact
	}
	for {
		end, o := s.value(i, depth-1, nil)
		if o != exact {
			return end, o
		}
		if end >= len(s.b) {
			return end, short
		}
		switch s.b[end] {
		case ',':
			i = end + 1
		case ']':
			return end + 1, exact
		default:
			return end, other
		}
	}
}

// object examines an object and stores the positions of its watched members.
func (s *jcsChecker) object(i, depth int, w *watch) (int, outcome) {
	if i++; i < len(s.b) && s.b[i] == '}' {
		s.members = 0
		return i + 1, exact
	}
	// keys is a stack: the names of this object start at first.
	first, upper := len(s.keys), false
	for {
		end, isUpper, o := s.key(i, first)
		if o != exact {
			return end, o
		}
		upper = upper || isUpper
		at := s.keys[len(s.keys)-1]
		// nil outside of the watched paths; find accepts a nil receiver.
		inner := w.find(s.b[at.from:at.to])
		i = end
		if end, o = s.value(i, depth-1, inner); o != exact {
			return end, o
		}
		// Only the position is stored; the value is decoded when it is read.
		if inner != nil && inner.slot != ignored {
			s.spans[inner.slot] = span{i, end}
		}
		if end >= len(s.b) {
			return end, short
		}
		switch s.b[end] {
		case ',':
			i = end + 1
		case '}':
			if upper && !s.loose && s.caseCollision(s.keys[first:]) {
				return end, other
			}
			s.members = len(s.keys) - first // the outermost object is closed last
			s.keys = s.keys[:first]
			return end + 1, exact
		default:
			return end, other
		}
	}
}

// key examines a name and its colon. Names that are not plain ASCII are left to canon:
// canonical JSON orders them by UTF-16, and case folding is not per letter.
func (s *jcsChecker) key(i, first int) (end int, upper bool, o outcome) {
	if i >= len(s.b) {
		return i, false, short
	}
	if s.b[i] != '"' {
		return i, false, other
	}
	end, plain, o := s.quoted(i)
	if o != exact {
		return end, false, o
	}
	k := key{from: i + 1, to: end - 1}
	name := s.b[k.from:k.to]
	// Canonical order and uniqueness of names, by comparing neighbours.
	if !s.loose {
		if !plain {
			return end, false, other
		}
		if len(s.keys) > first {
			last := s.keys[len(s.keys)-1]
			if bytes.Compare(s.b[last.from:last.to], name) >= 0 {
				return end, false, other
			}
		}
		// Only objects with upper case letters in names can have case collisions.
		for _, c := range name {
			upper = upper || c >= 'A' && c <= 'Z'
		}
		// Length, first and last letter, folded to lower case.
		if n := len(name); n > 0 {
			k.sort = uint32(n)<<16 | uint32(name[0]|0x20)<<8 | uint32(name[n-1]|0x20)
		}
	}
	s.keys = append(s.keys, k)
	if end >= len(s.b) {
		return end, false, short
	}
	if s.b[end] != ':' {
		return end, false, other
	}
	return end + 1, upper, exact
}

// caseCollision reports whether two names may be equal but for their case.
func (s *jcsChecker) caseCollision(keys []key) bool {
	// Pairwise comparison is quadratic; leave the object to canon.
	if len(keys) > keysMax {
		return true
	}
	for i, a := range keys {
		for _, b := range keys[:i] {
			if a.sort == b.sort && bytes.EqualFold(s.b[a.from:a.to], s.b[b.from:b.to]) {
				return true
			}
		}
	}
	return false
}
