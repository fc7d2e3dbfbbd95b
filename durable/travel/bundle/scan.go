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

// scanner walks strict JSON front to back. Containers are walked member by member,
// so that a session of any size fits; elements, which are bounded, are taken whole.
type scanner struct {
	window
	spell   spelling
	path    []turn
	ref     reference // the one that is in path
	name    []byte    // of the member that was read last
	nameAt  int64
	scratch []byte // an element that had to be spelled anew
}

// turn is one step on the way to a value. It becomes text only when something is
// wrong there.
type turn struct {
	name string // of a member
	ref  bool   // a member whose name is the scanner's ref
	item int64  // of an array otherwise
}

func newScanner(ctx context.Context, r io.ReaderAt, size int64, usual int) *scanner {
	return &scanner{window: newWindow(ctx, r, size, usual)}
}

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

// failAt is every fault of a bundle: what is wrong, and where. Programs find the
// pointer (RFC 6901) and the byte offset among the details.
func failAt(code fault.Code, pointer string, at int64, format string, args ...any) *fault.Fault {
	where := pointer
	if where == "" {
		where = "the document"
	}
	f := fault.New(code, "bundle: %s, at %s, byte %d", fmt.Sprintf(format, args...), where, at)
	return f.With("pointer", pointer).With("offset", at)
}

// fail is a fault at the current path.
func (s *scanner) fail(code fault.Code, at int64, format string, args ...any) error {
	return failAt(code, s.pointer(), at, format, args...)
}

// bad is what is no bundle at all, where the scanner stands.
func (s *scanner) bad(format string, args ...any) error {
	return s.fail(fault.BundleInvalidFormat, s.at(), format, args...)
}

func (s *scanner) tooEarly() error {
	return s.fail(fault.BundleInvalidFormat, s.size, "the file ends too early")
}

// peek is the next byte that is no white space.
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
			return 0, s.tooEarly()
		}
	}
}

// want takes the byte c.
func (s *scanner) want(c byte) error {
	have, err := s.peek()
	if err != nil {
		return err
	}
	if have != c {
		return s.bad("unexpected %q where %q should stand", have, c)
	}
	s.pos++
	return nil
}

// opens enters a container; empty says that it is closed again at once.
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

// again is behind an item of a container: whether another follows.
func (s *scanner) again(shut byte) (bool, error) {
	c, err := s.peek()
	if err != nil {
		return false, err
	}
	if c != ',' && c != shut {
		return false, s.bad("unexpected %q where , or %c should stand", c, shut)
	}
	s.pos++
	return c == ',', nil
}

// nameBytesMax is longer than any name that a container of a bundle has.
const nameBytesMax = 128

// object walks an object. The name is valid until the next one is read.
func (s *scanner) object(read func(name []byte) error) error {
	if empty, err := s.opens('{', '}'); empty || err != nil {
		return err
	}
	for {
		if _, err := s.peek(); err != nil {
			return err
		}
		s.nameAt = s.at()
		name, err := s.text(nameBytesMax)
		if err != nil {
			return err
		}
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
		if more, err := s.again('}'); !more {
			return err
		}
	}
}

// member is one that an object of the format has.
type member struct {
	name     string
	optional bool
}

// members walks an object whose names are all known: each once, and no other.
func (s *scanner) members(known []member, read func(name string) error) error {
	if _, err := s.peek(); err != nil {
		return err
	}
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
			s.path = append(s.path, turn{name: m.name})
			err := read(m.name)
			s.path = s.path[:len(s.path)-1]
			return err
		}
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

// refs walks an object whose names are digests. That none is there twice is seen
// by whoever keeps them.
func (s *scanner) refs(read func() error) error {
	return s.object(func(name []byte) error {
		ref, ok := parseReference(name)
		if !ok {
			return s.fail(fault.BundleInvalidFormat, s.nameAt, "the name %q is no digest", name)
		}
		s.ref = ref
		s.path = append(s.path, turn{ref: true})
		err := read()
		s.path = s.path[:len(s.path)-1]
		return err
	})
}

// array walks an array.
func (s *scanner) array(read func(i int64) error) error {
	if empty, err := s.opens('[', ']'); empty || err != nil {
		return err
	}
	s.path = append(s.path, turn{})
	for i := int64(0); ; i++ {
		s.path[len(s.path)-1].item = i
		if _, err := s.peek(); err != nil {
			return err
		}
		if err := read(i); err != nil {
			return err
		}
		if more, err := s.again(']'); !more {
			s.path = s.path[:len(s.path)-1]
			return err
		}
	}
}

// ends makes sure that nothing stands behind the document.
func (s *scanner) ends() error {
	for {
		for ; s.pos < s.end; s.pos++ {
			switch c := s.buf[s.pos]; c {
			case ' ', '\t', '\r', '\n':
			default:
				return s.bad("unexpected %q behind the document", c)
			}
		}
		if ok, err := s.more(); !ok {
			return err
		}
	}
}
