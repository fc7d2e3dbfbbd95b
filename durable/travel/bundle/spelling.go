package bundle

import (
	"bytes"
)

// outcome is what looking at bytes comes to.
type outcome uint8

const (
	exact outcome = iota // one value in its one spelling
	short                // the bytes end before the value does
	other                // another spelling, or no JSON: canon.Parse decides
)

// spelling looks at an object where it lies and tells whether it is JCS already,
// as nearly every one is. It allocates nothing and gives up early: what it finds
// exact is strict JSON (R5) and spells itself, what it leaves is read in full.
type spelling struct {
	b     []byte
	keys  []key       // of the objects that are open
	spans [slots]span // where the watched members stand

	// loose takes names in any order and does not look for twins: for text that canon
	// wrote, and where nothing is hashed and all names are known.
	loose   bool
	members int // of the outermost object
}

// key is a member's name in the text. sort keeps most names apart that are not the
// same but for their case.
type key struct {
	from, to int
	sort     uint32
}

type span struct{ from, to int }

// keysMax is how many names of one object are compared each with each; objects with
// more names in mixed case are canon's.
const keysMax = 64

// look examines the object at the start of b, which may nest depth levels, and
// notes where the members stand that w names. n is the object's length.
func (s *spelling) look(b []byte, depth int, w *watch) (n int, o outcome) {
	s.b, s.keys, s.spans, s.members = b, s.keys[:0], [slots]span{}, 0
	if len(b) == 0 {
		return 0, short
	}
	if b[0] != '{' {
		return 0, other
	}
	return s.value(0, depth, w)
}

func (s *spelling) value(i, depth int, w *watch) (int, outcome) {
	if i >= len(s.b) {
		return i, short
	}
	switch c := s.b[i]; {
	case c == '"':
		end, _, o := s.quoted(i)
		return end, o
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
	return s.number(i)
}

func (s *spelling) array(i, depth int) (int, outcome) {
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

func (s *spelling) object(i, depth int, w *watch) (int, outcome) {
	if i++; i < len(s.b) && s.b[i] == '}' {
		s.members = 0
		return i + 1, exact
	}
	first, upper := len(s.keys), false
	for {
		end, isUpper, o := s.key(i, first)
		if o != exact {
			return end, o
		}
		upper = upper || isUpper
		at := s.keys[len(s.keys)-1]
		inner := w.find(s.b[at.from:at.to])
		i = end
		if end, o = s.value(i, depth-1, inner); o != exact {
			return end, o
		}
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
			if upper && !s.loose && s.twins(s.keys[first:]) {
				return end, other
			}
			s.members = len(s.keys) - first // the outermost object is the last to be closed
			s.keys = s.keys[:first]
			return end + 1, exact
		default:
			return end, other
		}
	}
}

// key reads a name and its colon. Names that are not plain ASCII are canon's: JCS
// orders them by UTF-16, and they have twins beyond one letter each.
func (s *spelling) key(i, first int) (end int, upper bool, o outcome) {
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
		for _, c := range name {
			upper = upper || c >= 'A' && c <= 'Z'
		}
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

// twins reports names that may differ only in case.
func (s *spelling) twins(keys []key) bool {
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
