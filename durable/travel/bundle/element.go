package bundle

import (
	"bytes"
	"errors"
	"strings"

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
// and depth levels. The members that w lists are then available in s.parts.
func (s *scanner) element(most int64, depth int, w *canon.Watch) element {
	// Elements of all lists and all objects but artifacts are JSON objects.
	if c := s.peek(); c != '{' {
		s.bad("unexpected %q: want an object", c)
	}
	for s.err == nil {
		available := s.buf[s.pos:s.end]
		n, o := s.parts.Value(available, depth, w)
		switch {
		// The usual case: canonical, and whole in the buffer. Nothing is copied.
		case o == canon.Canonical && int64(n) <= most:
			p := element{line: available[:n], at: s.at(), raw: int64(n), same: true}
			s.pos += n
			return p
		// Too large already: do not extend the buffer for it.
		case o == canon.Canonical, o == canon.Short && int64(len(available)) > most:
			s.bad("more than %d bytes", most)
		// The buffer ends inside the object: extend it and examine the object again. At the end of
		// the file, canonicalize reports the error.
		case o == canon.Other, !s.more():
			return s.canonicalize(most, depth, w)
		}
	}
	return element{}
}

// canonicalize reads an element that is not canonical, or reports that it is not JSON.
func (s *scanner) canonicalize(most int64, depth int, w *canon.Watch) element {
	// White space and escapes may make an element longer than its canonical form, within a
	// bound.
	n := s.extent(limits.BundleSpellingMax*most, depth)
	v := s.parse(n)
	p := element{line: v.JCS(), at: s.at(), raw: int64(n)}
	if int64(len(p.line)) > most {
		s.bad("more than %d bytes", most)
	}
	s.pos += n
	// For the positions of the watched members.
	s.parts.Value(p.line, depth, w)
	return p
}

// parse parses the next n bytes, which are a value by their quotes and brackets.
func (s *scanner) parse(n int) canon.Value {
	v, err := canon.Parse(s.buf[s.pos : s.pos+n])
	if err != nil {
		s.refused(err, s.at())
	}
	return v
}

// refused stops with an error of canon about the value at offset at.
func (s *scanner) refused(err error, at int64) {
	var parse *canon.ParseError
	if !errors.As(err, &parse) {
		// Not a parse error: it has no pointer of its own.
		s.fail(fault.BundleInvalidFormat, at, "%v", err)
		return
	}
	s.stop(failAt(fault.BundleInvalidFormat, s.pointer()+parse.Pointer, at, "%s", parse.Reason))
}

// extent returns the length of the string, array or object at the current position, judged by
// quotes and brackets only; the caller parses it. A value longer than most, or nested deeper
// than depth, is refused before all of it is read. The length is 0 after an error.
func (s *scanner) extent(most int64, depth int) int {
	// open counts brackets, quoted is inside a string, n is the length so far.
	open, quoted := 0, false
	for n := 0; s.err == nil; s.has(n + 1) {
		for ; s.pos+n < s.end; n++ {
			switch c := s.buf[s.pos+n]; {
			case quoted && c == '\\':
				n++ // the escaped character cannot end the string
			case c == '"':
				// The end of a string that is the whole value.
				if quoted = !quoted; !quoted && open == 0 {
					return n + 1
				}
			case quoted:
			case c == '{' || c == '[':
				if open++; open > depth {
					s.fail(fault.BundleInvalidFormat, s.at()+int64(n), "nested deeper than %d levels",
						limits.JSONDepthMax)
					return 0
				}
			case c == '}' || c == ']':
				// The end of the outermost bracket, or a closing one that the caller's parser
				// refuses.
				if open--; open <= 0 {
					return n + 1
				}
			}
		}
		// Checked before reading on, so that memory is bounded by most.
		if int64(n) > most {
			s.bad("more than %d bytes", most)
		}
	}
	return 0
}

// text reads a string of at most most bytes, without quotes and with escapes resolved. The
// result is valid until the scanner advances.
func (s *scanner) text(most int) []byte {
	if c := s.peek(); c != '"' {
		s.bad("unexpected %q: want a string", c)
	}
	// An escape takes up to six bytes for one byte of the result.
	n := s.extent(6*int64(most)+2, 0)
	if s.err != nil {
		return nil
	}
	raw := s.buf[s.pos : s.pos+n]
	text := raw[1 : n-1]
	// Most strings have no escapes and are returned as a part of the buffer.
	if _, o := s.parts.Value(raw, 0, nil); o != canon.Canonical || bytes.IndexByte(raw, '\\') >= 0 {
		text = []byte(s.parse(n).Text())
	}
	if len(text) > most {
		s.bad("a string of more than %d bytes", most)
	}
	s.pos += n
	return text
}

// number reads a number in any valid JSON form.
func (s *scanner) number() float64 {
	if c := s.peek(); c != '-' && (c < '0' || c > '9') {
		s.bad("unexpected %q: want a number", c)
	}
	// A number has no closing character, so its length is bounded instead. In an object it ends at
	// one of these.
	n := 1
	for s.has(n+1) && strings.IndexByte(",} \t\r\n", s.buf[s.pos+n]) < 0 {
		if n++; n > numberBytesMax {
			s.bad("a number of more than %d bytes", numberBytesMax)
		}
	}
	if s.err != nil {
		return 0
	}
	v := s.parse(n)
	s.pos += n
	return v.Float()
}

// numberBytesMax bounds the text of a number; real versions are much shorter.
const numberBytesMax = 64
