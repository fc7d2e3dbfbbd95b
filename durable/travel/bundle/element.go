package bundle

import (
	"errors"
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
)

// piece is one element of a bundle.
type piece struct {
	line []byte // in its one spelling; valid until the scanner moves on
	at   int64  // where it starts in the file
	raw  int64  // how many bytes it takes there
	same bool   // those bytes are line
}

// element takes the object that stands next, of up to most bytes of JCS and depth
// levels. What w names is then found in s.spell.
func (s *scanner) element(most int64, depth int, w *watch) (piece, error) {
	c, err := s.peek()
	if err != nil {
		return piece{}, err
	}
	if c != '{' {
		return piece{}, s.bad("unexpected %q where an object should stand", c)
	}
	for {
		n, o := s.spell.look(s.buf[s.pos:s.end], depth, w)
		switch {
		case o == exact && int64(n) <= most:
			p := piece{line: s.buf[s.pos : s.pos+n], at: s.at(), raw: int64(n), same: true}
			s.pos += n
			return p, nil
		case o == exact, o == short && int64(s.end-s.pos) > most:
			return piece{}, s.bad("more than %d bytes", most)
		case o == other:
			return s.respell(most, depth, w)
		}
		if ok, err := s.more(); err != nil {
			return piece{}, err
		} else if !ok {
			return s.respell(most, depth, w) // says what is wrong
		}
	}
}

// respell reads an element that is not in its one spelling, or is no JSON.
func (s *scanner) respell(most int64, depth int, w *watch) (piece, error) {
	n, err := s.extent(limits.BundleSpellingMax*most, depth)
	if err != nil {
		return piece{}, err
	}
	p := piece{at: s.at(), raw: int64(n)}
	v, err := canon.Parse(s.buf[s.pos : s.pos+n])
	if err != nil {
		return piece{}, s.refused(err, s.at())
	}
	if s.scratch, err = v.AppendJCS(s.scratch[:0]); err != nil {
		return piece{}, s.refused(err, s.at())
	}
	if p.line = s.scratch; int64(len(p.line)) > most {
		return piece{}, s.bad("more than %d bytes", most)
	}
	s.pos += n
	was := s.spell.loose
	s.spell.loose = true // canon wrote it
	if _, o := s.spell.look(p.line, depth, w); o != exact {
		return piece{}, fmt.Errorf("bundle: canon wrote what is not canonical, at %s", s.pointer())
	}
	s.spell.loose = was
	return p, nil
}

// refused turns what canon said about the value at a byte into a fault.
func (s *scanner) refused(err error, at int64) error {
	var parse *canon.ParseError
	if !errors.As(err, &parse) {
		return s.fail(fault.BundleInvalidFormat, at, "%v", err)
	}
	return failAt(fault.BundleInvalidFormat, s.pointer()+parse.Pointer, at, "%s", parse.Reason)
}

// extent is the length of the string, array or object that stands next, as far as
// quotes and brackets tell; whoever reads it sees whether they pair. It must not be
// longer than most, nor nest deeper than depth levels.
func (s *scanner) extent(most int64, depth int) (int, error) {
	open, quoted, n := 0, false, 0
	for {
		for ; s.pos+n < s.end; n++ {
			c := s.buf[s.pos+n]
			switch {
			case quoted && c == '\\':
				n++ // what it escapes ends no string
			case c == '"':
				if quoted = !quoted; !quoted && open == 0 {
					return n + 1, nil
				}
			case quoted:
			case c == '{' || c == '[':
				if open++; open > depth {
					return 0, s.fail(fault.BundleInvalidFormat, s.at()+int64(n), "nested deeper than %d levels",
						limits.JSONDepthMax)
				}
			case c == '}' || c == ']':
				if open--; open <= 0 {
					return n + 1, nil
				}
			}
		}
		if int64(n) > most {
			return 0, s.bad("more than %d bytes", most)
		}
		if ok, err := s.more(); err != nil {
			return 0, err
		} else if !ok {
			return 0, s.tooEarly()
		}
	}
}

// text reads a string of up to most bytes, without quotes and escapes. It is valid
// until the scanner moves on.
func (s *scanner) text(most int) ([]byte, error) {
	c, err := s.peek()
	if err != nil {
		return nil, err
	}
	if c != '"' {
		return nil, s.bad("unexpected %q where a string should stand", c)
	}
	for {
		s.spell.b = s.buf[s.pos:s.end]
		n, plain, o := s.spell.quoted(0)
		if o == exact && plain && n-2 <= most {
			s.pos += n
			return s.spell.b[1 : n-1], nil
		}
		if o != short || s.end-s.pos > most+2 {
			break
		}
		if ok, err := s.more(); err != nil {
			return nil, err
		} else if !ok {
			return nil, s.tooEarly()
		}
	}
	// An escape takes up to six bytes for one.
	n, err := s.extent(6*int64(most)+2, 0)
	if err != nil {
		return nil, err
	}
	v, err := canon.Parse(s.buf[s.pos : s.pos+n])
	if err != nil {
		return nil, s.refused(err, s.at())
	}
	if len(v.Text()) > most {
		return nil, s.bad("a string of more than %d bytes", most)
	}
	s.pos += n
	return []byte(v.Text()), nil
}

// number reads a number.
func (s *scanner) number() (float64, error) {
	c, err := s.peek()
	if err != nil {
		return 0, err
	}
	if c != '-' && (c < '0' || c > '9') {
		return 0, s.bad("unexpected %q where a number should stand", c)
	}
	for n := 1; ; n++ {
		if n > numberBytesMax {
			return 0, s.bad("a number of more than %d bytes", numberBytesMax)
		}
		if s.pos+n == s.end {
			if ok, err := s.more(); err != nil {
				return 0, err
			} else if !ok {
				return 0, s.tooEarly()
			}
		}
		switch c := s.buf[s.pos+n]; c {
		case ',', '}', ' ', '\t', '\r', '\n':
			v, err := canon.Parse(s.buf[s.pos : s.pos+n])
			if err != nil {
				return 0, s.refused(err, s.at())
			}
			s.pos += n
			return v.Float(), nil
		}
	}
}

// numberBytesMax is longer than any spelling of a version that somebody means.
const numberBytesMax = 64
