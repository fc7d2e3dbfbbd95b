package bundle

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

// quadsBytes is the amount of base64 decoded at once; it must be a multiple of four.
const quadsBytes = 32 << 10

// base64Reader decodes the base64 string at the scanner's position: RFC 4648 with padding,
// accepting exactly one encoding of each content.
type base64Reader struct {
	s      *scanner
	quads  []byte // one chunk of the string, JSON escapes resolved
	bytes  []byte // decoded form of quads
	left   []byte // part of bytes that Read has not returned yet
	closed bool   // the closing quote was read
	padded bool   // padding was read: nothing may follow
	err    error  // sticky error of Read
}

// begin starts at the string's opening quote. Buffers of an earlier string are reused.
func (u *base64Reader) begin(s *scanner) error {
	if u.quads == nil {
		u.quads, u.bytes = make([]byte, 0, quadsBytes), make([]byte, quadsBytes/4*3)
	}
	*u = base64Reader{s: s, quads: u.quads, bytes: u.bytes}
	return s.want('"')
}

// errBase64 is the reason in the faults of this file.
var errBase64 = errors.New("not base64 with padding")

// chunk decodes the next part of the string; io.EOF at its end.
func (u *base64Reader) chunk() ([]byte, error) {
	if u.closed {
		return nil, io.EOF
	}
	u.quads = u.quads[:0]
	// Fill one chunk: escapes and the buffer's end interrupt the copying.
	for len(u.quads) < quadsBytes && !u.closed {
		if err := u.copyChars(); err != nil {
			return nil, err
		}
	}
	if len(u.quads) == 0 {
		return nil, io.EOF
	}
	// u.padded { || Every chunk but the last has quadsBytes characters, so a remainder means
	// bad base64; so does text after padding.
	if len(u.quads)%4 != 0 || u.padded {
		return nil, u.s.bad("%v", errBase64)
	}
	// Strict: the unused bits of the last character must be zero.
	n, err := base64.StdEncoding.Strict().Decode(u.bytes, u.quads)
	pad := 0
	for pad < 2 && u.quads[len(u.quads)-1-pad] == '=' {
		pad++
	}
	// The decoder ignores line breaks; accepting them would permit a second encoding.
	if err != nil || n != len(u.quads)/4*3-pad {
		return nil, u.s.bad("%v", errBase64)
	}
	u.padded = pad > 0
	return u.bytes[:n], nil
}

// copyChars appends characters of the string to quads, up to its end or one escape.
func (u *base64Reader) copyChars() error {
	s := u.s
	if s.pos == s.end {
		if ok, err := s.more(); err != nil {
			return err
		} else if !ok {
			return s.truncated()
		}
	}
	n := min(s.end-s.pos, quadsBytes-len(u.quads))
	for i, c := range s.buf[s.pos : s.pos+n] {
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
		// An escaped quote or backslash is no base64; escape decides.
		return u.escape()
	}
	u.quads = append(u.quads, s.buf[s.pos:s.pos+n]...)
	s.pos += n
	return nil
}

// escape reads one escaped character, \/ or \u00XX. Some programs escape characters of the
// base64 alphabet.
func (u *base64Reader) escape() error {
	s := u.s
	for s.end-s.pos < len(`\u0000`) {
		if ok, err := s.more(); err != nil {
			return err
		} else if !ok {
			return s.truncated()
		}
	}
	// Two bytes for an escape such as \/, six for \u00XX.
	n := 2
	if s.buf[s.pos+1] == 'u' {
		n = len(`\u0000`)
	}
	v, err := canon.Parse(append(append([]byte{'"'}, s.buf[s.pos:s.pos+n]...), '"'))
	if err != nil {
		return s.refused(err, s.at())
	}
	// One byte: base64 is ASCII.
	if len(v.Text()) != 1 {
		return s.bad("%v", errBase64)
	}
	u.quads = append(u.quads, v.Text()[0])
	s.pos += n
	return nil
}

// artifactSummary is everything that is kept of an artifact's string after reading it.
type artifactSummary struct {
	digest  reference // digest of the decoded bytes
	text    reference // digest of the string as canonical JSON
	chars   int64     // length of the string without quotes
	padding int
}

// summarize reads to the end of the string. It never holds more than one chunk in memory.
func (u *base64Reader) summarize() (artifactSummary, error) {
	var got artifactSummary
	// Both digests are computed in the same pass: that of the content is the artifact's name,
	// that of the string is stated by integrity.
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
		// Zero for every chunk but possibly the last.
		got.padding = len(u.quads)/4*3 - len(part)
	}
	text.Write(quote)
	bytes.Sum(got.digest[:0])
	text.Sum(got.text[:0])
	return got, nil
}

// quote encloses the string in its canonical form, which is hashed.
var quote = []byte{'"'}

// Read implements io.Reader over the decoded bytes, for artifacts that were verified when the
// bundle was opened.
func (u *base64Reader) Read(p []byte) (n int, err error) {
	// A chunk is never empty, except at the end.
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
