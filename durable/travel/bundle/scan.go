package bundle

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

// scanner reads strict JSON front to back. Containers are read member by member, so that
// memory does not grow with the session; elements, which are bounded, are read whole, by canon.
type scanner struct {
	window
	parts parts
	// path leads from the document to the value being read.
	path   []pathStep
	ref    reference // the digest of the path's last reference
	name   []byte    // name of the member read last
	nameAt int64
}

// pathStep is one step of the path to a value. It is formatted only for a fault.
type pathStep struct {
	name string // name of a member
	ref  bool   // a member whose name is the scanner's ref
	item int64  // otherwise, index in an array
}

// newScanner returns a scanner at offset 0 with a buffer of usual bytes.
func newScanner(ctx context.Context, r io.ReaderAt, size int64, usual int) *scanner {
	return &scanner{window: newWindow(ctx, r, size, usual)}
}

// pointer formats the current path as a JSON pointer (RFC 6901).
func (s *scanner) pointer() string {
	var b strings.Builder
	for _, t := range s.path {
		b.WriteByte('/')
		switch {
		case t.ref:
			b.WriteString(canon.DigestOf(s.ref).String())
		case t.name != "":
			b.WriteString(canon.EscapePointer(t.name))
		default:
			b.WriteString(strconv.FormatInt(t.item, 10))
		}
	}
	return b.String()
}

// failAt constructs the fault of every bundle error: the defect and its position. The details
// contain the pointer (RFC 6901) and the byte offset.
func failAt(code fault.Code, pointer string, at int64, format string, args ...any) *fault.Fault {
	// The empty pointer is the whole document, which a reader would not recognize.
	where := cmp.Or(pointer, "the document")
	f := fault.New(code, "bundle: %s, at %s, byte %d", fmt.Sprintf(format, args...), where, at)
	return f.With("pointer", pointer).With("offset", at)
}

// fail stops with a fault at the current path.
func (s *scanner) fail(code fault.Code, at int64, format string, args ...any) {
	if s.err == nil {
		s.err = failAt(code, s.pointer(), at, format, args...)
	}
}

// bad stops with BUNDLE_INVALID_FORMAT at the current position.
//
//go:noinline
func (s *scanner) bad(format string, args ...any) {
	s.fail(fault.BundleInvalidFormat, s.at(), format, args...)
}

// has reads until n bytes are available. It stops with a fault if the file ends before.
func (s *scanner) has(n int) bool {
	for s.end-s.pos < n {
		if !s.more() {
			s.fail(fault.BundleInvalidFormat, s.size, "the file ends too early")
			return false
		}
	}
	return s.err == nil
}

// space skips white space and reports whether anything follows.
func (s *scanner) space() bool {
	for s.err == nil {
		for ; s.pos < s.end; s.pos++ {
			switch s.buf[s.pos] {
			case ' ', '\t', '\r', '\n':
			default:
				return true
			}
		}
		if !s.more() {
			return false
		}
	}
	return false
}

// peek returns the next byte that is not white space, without consuming it; 0 after an error.
func (s *scanner) peek() byte {
	if s.space() || s.has(1) {
		return s.buf[s.pos]
	}
	return 0
}

// want consumes the byte c.
func (s *scanner) want(c byte) {
	if have := s.peek(); have != c {
		s.bad("unexpected %q: want %q", have, c)
		return
	}
	s.pos++
}

// container reads a container and calls read before each of its items.
func (s *scanner) container(open, shut byte, read func(i int64)) {
	s.want(open)
	c := s.peek()
	for i := int64(0); c != shut && s.err == nil; i++ {
		read(i)
		if c = s.peek(); c == ',' {
			s.pos++
		} else if c != shut {
			s.bad("unexpected %q: want , or %c", c, shut)
		}
	}
	if s.err == nil {
		s.pos++
	}
}

// within calls read with one more step on the path.
func (s *scanner) within(step pathStep, read func()) {
	s.path = append(s.path, step)
	read()
	s.path = s.path[:len(s.path)-1]
}

// nameBytesMax is more than the length of any member name in a bundle.
const nameBytesMax = 128

// object reads an object and calls read at each member's value. The name is valid until the
// next one is read.
func (s *scanner) object(read func(name []byte)) {
	s.container('{', '}', func(int64) {
		s.peek()
		// The offset of the name is reported for duplicate and unknown members.
		s.nameAt = s.at()
		// Copied: the buffer may move while the value is peeked at.
		s.name = append(s.name[:0], s.text(nameBytesMax)...)
		s.want(':')
		if s.peek(); s.err == nil {
			read(s.name)
		}
	})
}

// member describes a member that an object of the format has.
type member struct {
	name     string
	optional bool
}

// members reads an object with a closed set of members; repeated, unknown and missing members
// are faults.
func (s *scanner) members(known []member, read func(name string)) {
	s.peek()
	// seen is a bit set over known; at is reported for a missing member.
	at, seen := s.at(), 0
	s.object(func(name []byte) {
		i := slices.IndexFunc(known, func(m member) bool { return m.name == string(name) })
		switch {
		// The format is closed: a new member needs a new bundleSchemaVersion.
		case i < 0:
			s.fail(fault.BundleInvalidFormat, s.nameAt, "unknown member %q", name)
		case seen&(1<<i) != 0:
			s.fail(fault.BundleInvalidFormat, s.nameAt, "duplicate member %q", name)
		default:
			seen |= 1 << i
			s.within(pathStep{name: known[i].name}, func() { read(known[i].name) })
		}
	})
	for i, m := range known {
		if seen&(1<<i) == 0 && !m.optional {
			s.fail(fault.BundleInvalidFormat, at, "missing member %q", m.name)
		}
	}
}

// refs reads an object whose names are digests. Duplicate names are detected by the caller,
// which stores them.
func (s *scanner) refs(read func()) {
	s.object(func(name []byte) {
		ref, ok := parseReference(name)
		if !ok {
			s.fail(fault.BundleInvalidFormat, s.nameAt, "the name %q is not a digest", name)
			return
		}
		s.ref = ref
		// The digest is formatted only if a fault needs it.
		s.within(pathStep{ref: true}, read)
	})
}

// array reads an array and calls read at each item.
func (s *scanner) array(read func(i int64)) {
	depth := len(s.path)
	s.container('[', ']', func(i int64) {
		s.path = append(s.path[:depth], pathStep{item: i})
		if s.peek(); s.err == nil {
			read(i)
		}
	})
	s.path = s.path[:depth]
}

// ends checks that only white space follows the document.
func (s *scanner) ends() {
	if s.space() {
		s.bad("unexpected %q after the document", s.buf[s.pos])
	}
}
