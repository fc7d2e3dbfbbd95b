package bundle

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

// quadsBytes is how much base64 is decoded at once: a multiple of four.
const quadsBytes = 32 << 10

// unpacker reads the bytes of an artifact from the base64 string that stands next
// in a scanner: RFC 4648 with padding, and only the one spelling of each content.
type unpacker struct {
	s      *scanner
	quads  []byte // one chunk of the string, without JSON's escapes
	bytes  []byte // what it decodes to
	left   []byte // of bytes, what was not yet read
	closed bool   // the string is read
	padded bool   // nothing may follow
	err    error
}

// begin is at the string's quote.
func (u *unpacker) begin(s *scanner) error {
	if u.quads == nil {
		u.quads, u.bytes = make([]byte, 0, quadsBytes), make([]byte, quadsBytes/4*3)
	}
	*u = unpacker{s: s, quads: u.quads, bytes: u.bytes}
	return s.want('"')
}

var errBase64 = errors.New("not base64 with padding")

// chunk decodes the next part of the string; io.EOF is its end.
func (u *unpacker) chunk() ([]byte, error) {
	if u.closed {
		return nil, io.EOF
	}
	u.quads = u.quads[:0]
	for len(u.quads) < quadsBytes && !u.closed {
		if err := u.take(); err != nil {
			return nil, err
		}
	}
	if len(u.quads) == 0 {
		return nil, io.EOF
	}
	if len(u.quads)%4 != 0 || u.padded {
		return nil, u.s.bad("%v", errBase64)
	}
	n, err := base64.StdEncoding.Strict().Decode(u.bytes, u.quads)
	pad := 0
	for pad < 2 && u.quads[len(u.quads)-1-pad] == '=' {
		pad++
	}
	// The decoder passes over line ends; they would be a second spelling.
	if err != nil || n != len(u.quads)/4*3-pad {
		return nil, u.s.bad("%v", errBase64)
	}
	u.padded = pad > 0
	return u.bytes[:n], nil
}

// take moves characters of the string to quads, up to its end or an escape.
func (u *unpacker) take() error {
	s := u.s
	if s.pos == s.end {
		if ok, err := s.more(); err != nil {
			return err
		} else if !ok {
			return s.tooEarly()
		}
	}
	room := min(s.end-s.pos, quadsBytes-len(u.quads))
	for i, c := range s.buf[s.pos : s.pos+room] {
		if c != '"' && c != '\\' {
			continue
		}
		u.quads = append(u.quads, s.buf[s.pos:s.pos+i]...)
		s.pos += i
		if c == '"' {
			s.pos++
			u.closed = true
			return nil
		}
		return u.escape()
	}
	u.quads = append(u.quads, s.buf[s.pos:s.pos+room]...)
	s.pos += room
	return nil
}

// escape reads one character that is written as \/ or \u00XX, which is how some
// programs write what base64 is made of.
func (u *unpacker) escape() error {
	s := u.s
	for s.end-s.pos < len(`\u0000`) {
		if ok, err := s.more(); err != nil {
			return err
		} else if !ok {
			return s.tooEarly()
		}
	}
	n := 2
	if s.buf[s.pos+1] == 'u' {
		n = len(`\u0000`)
	}
	v, err := canon.Parse(append(append([]byte{'"'}, s.buf[s.pos:s.pos+n]...), '"'))
	if err != nil {
		return s.refused(err, s.at())
	}
	if len(v.Text()) != 1 {
		return s.bad("%v", errBase64)
	}
	u.quads = append(u.quads, v.Text()[0])
	s.pos += n
	return nil
}

// unpacked is what is to be known of an artifact without keeping it.
type unpacked struct {
	digest  reference // of the bytes
	text    reference // of the string as JCS
	chars   int64     // of the string
	padding int
}

// all reads to the end of the string.
func (u *unpacker) all() (unpacked, error) {
	var got unpacked
	size, bytes, text := int64(0), sha256.New(), sha256.New()
	text.Write(quote)
	for {
		part, err := u.chunk()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return got, err
		}
		if size += int64(len(part)); size > limits.ArtifactBytesMax {
			return got, u.s.bad("an artifact of more than %d bytes", limits.ArtifactBytesMax)
		}
		bytes.Write(part)
		text.Write(u.quads)
		got.chars += int64(len(u.quads))
		got.padding = len(u.quads)/4*3 - len(part)
	}
	text.Write(quote)
	bytes.Sum(got.digest[:0])
	text.Sum(got.text[:0])
	return got, nil
}

var quote = []byte{'"'}

// Read is for those who want the bytes of an artifact that was checked before.
func (u *unpacker) Read(p []byte) (n int, err error) {
	for len(u.left) == 0 && u.err == nil {
		u.left, u.err = u.chunk()
	}
	if len(u.left) == 0 {
		return 0, u.err
	}
	n = copy(p, u.left)
	u.left = u.left[n:]
	return n, nil
}
