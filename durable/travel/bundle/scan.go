package bundle

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

// scanner reads strict JSON front to back. Containers are read member by member, so that
// memory does not grow with the session; elements, which are bounded, are read whole.
type scanner struct {
	window
	jcs jcsChecker
	// path leads from the document to the value being read.
	path    []pathStep
	ref     reference // the digest of the path's last reference
	name    []byte    // name of the member read last
	nameAt  int64
	scratch []byte // canonical form of an element that was not canonical
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
	where := pointer
	if where == "" {
		where = "the document"
	}
	f := fault.New(code, "bundle: %s, at %s, byte %d", fmt.Sprintf(format, args...), where, at)
	return f.With("pointer", pointer).With("offset", at)
}

// fail returns a fault at the current path.
func (s *scanner) fail(code fault.Code, at int64, format string, args ...any) error {
	return failAt(code, s.pointer(), at, format, args...)
}

// bad returns BUNDLE_INVALID_FORMAT at the current position.
func (s *scanner) bad(format string, args ...any) error {
	return s.fail(fault.BundleInvalidFormat, s.at(), format, args...)
}

// truncated is the fault for a file that ends inside a value.
func (s *scanner) truncated() error {
	return s.fail(fault.BundleInvalidFormat, s.size, "the file ends too early")
}

// peek returns the next byte that is not white space, without consuming it.
func (s *scanner) peek() (byte, error) {
	for {
		for ; s.pos < s.end; s.pos++ {
			switch c := s.buf[s.pos]; c {
			case ' ', '\t', '\r', '\n':
			default:
				return c, nil
			}
		}
		if ok, err := s.more(); err != nil {
			return 0, err
		} else if !ok {
			return 0, s.truncated()
		}
	}
}

// want consumes the byte c.
func (s *scanner) want(c byte) error {
	have, err := s.peek()
	if err != nil {
		return err
	}
	if have != c {
		return s.bad("unexpected %q: want %q", have, c)
	}
	s.pos++
	return nil
}

// opens enters a container; empty reports that it ended immediately.
func (s *scanner) opens(c, shut byte) (empty bool, err error) {
	if err := s.want(c); err != nil {
		return false, err
	}
	have, err := s.peek()
	if err == nil && have == shut {
		s.pos++
		return true, nil
	}
	return false, err
}

// another consumes the separator after an item and reports whether another item follows.
func (s *scanner) another(shut byte) (bool, error) {
	c, err := s.peek()
	if err != nil {
		return false, err
	}
	if c != ',' && c != shut {
		return false, s.bad("unexpected %q: want , or %c", c, shut)
	}
	s.pos++
	return c == ',', nil
}

// nameBytesMax is more than the length of any member name in a bundle.
const nameBytesMax = 128

// object reads an object and calls read at each member's value. The name is valid until the
// next one is read.
func (s *scanner) object(read func(name []byte) error) error {
	if empty, err := s.opens('{', '}'); empty || err != nil {
		return err
	}
	for {
		if _, err := s.peek(); err != nil {
			return err
		}
		// The offset of the name is reported for duplicate and unknown members.
		s.nameAt = s.at()
		name, err := s.text(nameBytesMax)
		if err != nil {
			return err
		}
		// Copied: the buffer may move while the value is peeked at.
		s.name = append(s.name[:0], name...)
		if err := s.want(':'); err != nil {
			return err
		}
		if _, err := s.peek(); err != nil {
			return err
		}
		if err := read(s.name); err != nil {
			return err
		}
		if more, err := s.another('}'); !more {
			return err
		}
	}
}

// member describes a member that an object of the format has.
type member struct {
	name     string
	optional bool
}

// members reads an object with a closed set of members; repeated, unknown and missing members
// are faults.
func (s *scanner) members(known []member, read func(name string) error) error {
	if _, err := s.peek(); err != nil {
		return err
	}
	// seen is a bit set over known; at is reported for a missing member.
	at, seen := s.at(), 0
	err := s.object(func(name []byte) error {
		for i, m := range known {
			if string(name) != m.name {
				continue
			}
			if seen&(1<<i) != 0 {
				return s.fail(fault.BundleInvalidFormat, s.nameAt, "duplicate member %q", name)
			}
			seen |= 1 << i
			s.path = append(s.path, pathStep{name: m.name})
			err := read(m.name)
			s.path = s.path[:len(s.path)-1]
			return err
		}
		// The format is closed: a new member needs a new bundleSchemaVersion.
		return s.fail(fault.BundleInvalidFormat, s.nameAt, "unknown member %q", name)
	})
	if err != nil {
		return err
	}
	for i, m := range known {
		if seen&(1<<i) == 0 && !m.optional {
			return s.fail(fault.BundleInvalidFormat, at, "missing member %q", m.name)
		}
	}
	return nil
}

// refs reads an object whose names are digests. Duplicate names are detected by the caller,
// which stores them.
func (s *scanner) refs(read func() error) error {
	return s.object(func(name []byte) error {
		ref, ok := parseReference(name)
		if !ok {
			return s.fail(fault.BundleInvalidFormat, s.nameAt, "the name %q is not a digest", name)
		}
		s.ref = ref
		// The digest is formatted only if a fault needs it.
		s.path = append(s.path, pathStep{ref: true})
		err := read()
		s.path = s.path[:len(s.path)-1]
		return err
	})
}

// array reads an array and calls read at each item.
func (s *scanner) array(read func(i int64) error) error {
	if empty, err := s.opens('[', ']'); empty || err != nil {
		return err
	}
	s.path = append(s.path, pathStep{})
	for i := int64(0); ; i++ {
		// One step for the whole array, with the current index.
		s.path[len(s.path)-1].item = i
		if _, err := s.peek(); err != nil {
			return err
		}
		if err := read(i); err != nil {
			return err
		}
		if more, err := s.another(']'); !more {
			s.path = s.path[:len(s.path)-1]
			return err
		}
	}
}

// ends checks that only white space follows the document.
func (s *scanner) ends() error {
	for {
		for ; s.pos < s.end; s.pos++ {
			switch c := s.buf[s.pos]; c {
			case ' ', '\t', '\r', '\n':
			default:
				return s.bad("unexpected %q after the document", c)
			}
		}
		if ok, err := s.more(); !ok {
			return err
		}
	}
}
