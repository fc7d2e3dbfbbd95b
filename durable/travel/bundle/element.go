package bundle

import (
	"errors"
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
)

// element is one element of a list, or one object.
type element struct {
	line []byte // as canonical JSON; valid until the scanner advances
	at   int64  // offset in the file
	raw  int64  // length in the file
	same bool   // the bytes in the file are canonical: line is a part of the buffer
}

// element reads the object at the current position, of at most most bytes as canonical JSON
// and depth levels. The members that w lists are then available in s.jcs.
func (s *scanner) element(most int64, depth int, w *watch) (element, error) {
	c, err := s.peek()
	if err != nil {
		return element{}, err
	}
	// Elements of all lists and all objects but artifacts are JSON objects.
	if c != '{' {
		return element{}, s.bad("unexpected %q: want an object", c)
	}
	for {
		n, o := s.jcs.examine(s.buf[s.pos:s.end], depth, w)
		switch {
		// The usual case: canonical, and whole in the buffer. Nothing is copied.
		case o == exact && int64(n) <= most:
			p := element{line: s.buf[s.pos : s.pos+n], at: s.at(), raw: int64(n), same: true}
			s.pos += n
			return p, nil
		// Too large already: do not extend the buffer for it.
		case o == exact, o == short && int64(s.end-s.pos) > most:
			return element{}, s.bad("more than %d bytes", most)
		case o == other:
			return s.canonicalize(most, depth, w)
			// The buffer ends inside the object: extend it and examine the object again.
		}
		if ok, err := s.more(); err != nil {
			return element{}, err
		} else if !ok {
			return s.canonicalize(most, depth, w) // reports the error
		}
	}
}

// canonicalize reads an element that is not canonical, or reports that it is not JSON.
func (s *scanner) canonicalize(most int64, depth int, w *watch) (element, error) {
	// White space and escapes may make an element longer than its canonical form, within a
	// bound.
	n, err := s.extent(limits.BundleSpellingMax*most, depth)
	if err != nil {
		return element{}, err
	}
	p := element{at: s.at(), raw: int64(n)}
	v, err := canon.Parse(s.buf[s.pos : s.pos+n])
	if err != nil {
		return element{}, s.refused(err, s.at())
	}
	// scratch is reused, so the line is valid until the next element only.
	if s.scratch, err = v.AppendJCS(s.scratch[:0]); err != nil {
		return element{}, s.refused(err, s.at())
	}
	if p.line = s.scratch; int64(len(p.line)) > most {
		return element{}, s.bad("more than %d bytes", most)
	}
	s.pos += n
	// The canonical form is examined again for the positions of the watched members.
	was := s.jcs.loose
	s.jcs.loose = true // produced by canon
	if _, o := s.jcs.examine(p.line, depth, w); o != exact {
		return element{}, fmt.Errorf("bundle: canon wrote what is not canonical, at %s", s.pointer())
	}
	s.jcs.loose = was
	return p, nil
}

// refused turns an error of canon about the value at offset at into a fault.
func (s *scanner) refused(err error, at int64) error {
	var parse *canon.ParseError
	if !errors.As(err, &parse) {
		// Not a parse error: it has no pointer of its own.
		return s.fail(fault.BundleInvalidFormat, at, "%v", err)
	}
	return failAt(fault.BundleInvalidFormat, s.pointer()+parse.Pointer, at, "%s", parse.Reason)
}

// extent returns the length of the string, array or object at the current position, judged by
// quotes and brackets only; the caller parses it. A value longer than most, or nested deeper
// than depth, is refused before all of it is read.
func (s *scanner) extent(most int64, depth int) (int, error) {
	// open counts brackets, quoted is inside a string, n is the length so far.
	open, quoted, n := 0, false, 0
	for {
		for ; s.pos+n < s.end; n++ {
			c := s.buf[s.pos+n]
			switch {
			case quoted && c == '\\':
				n++ // the escaped character cannot end the string
			case c == '"':
				// The end of a string that is the whole value.
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
				// The end of the outermost bracket, or a closing one that the caller's parser
				// refuses.
				if open--; open <= 0 {
					return n + 1, nil
				}
			}
		}
		// Checked before reading on, so that memory is bounded by most.
		if int64(n) > most {
			return 0, s.bad("more than %d bytes", most)
		}
		if ok, err := s.more(); err != nil {
			return 0, err
		} else if !ok {
			return 0, s.truncated()
		}
	}
}

// text reads a string of at most most bytes, without quotes and with escapes resolved. The
// result is valid until the scanner advances.
func (s *scanner) text(most int) ([]byte, error) {
	c, err := s.peek()
	if err != nil {
		return nil, err
	}
	if c != '"' {
		return nil, s.bad("unexpected %q: want a string", c)
	}
	// Most strings have no escapes and are returned as a part of the buffer.
	for {
		s.jcs.b = s.buf[s.pos:s.end]
		n, plain, o := s.jcs.quoted(0)
		// A name or short text without escapes.
		if o == exact && plain && n-2 <= most {
			s.pos += n
			return s.jcs.b[1 : n-1], nil
		}
		// s.end-s.pos > most+2 { || Escapes, other forms and texts over the limit: read
		// below.
		if o != short || s.end-s.pos > most+2 {
			break
		}
		if ok, err := s.more(); err != nil {
			return nil, err
		} else if !ok {
			return nil, s.truncated()
		}
	}
	// An escape takes up to six bytes for one byte of the result.
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

// number reads a number in any valid JSON form.
func (s *scanner) number() (float64, error) {
	c, err := s.peek()
	if err != nil {
		return 0, err
	}
	if c != '-' && (c < '0' || c > '9') {
		return 0, s.bad("unexpected %q: want a number", c)
	}
	for n := 1; ; n++ {
		// A number has no closing character, so its length is bounded instead.
		if n > numberBytesMax {
			return 0, s.bad("a number of more than %d bytes", numberBytesMax)
		}
		if s.pos+n == s.end {
			if ok, err := s.more(); err != nil {
				return 0, err
			} else if !ok {
				return 0, s.truncated()
			}
		}
		switch c := s.buf[s.pos+n]; c {
		// A number in an object ends at one of these.
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

// numberBytesMax bounds the text of a number; real versions are much shorter.
const numberBytesMax = 64
