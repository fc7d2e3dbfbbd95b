package bundle

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

// quadsBytes is the amount of base64 decoded at once; it must be a multiple of four.
const quadsBytes = 32 << 10

// base64Reader decodes the base64 string at the scanner's position: RFC 4648 with padding,
// accepting exactly one encoding of each content. Its errors are those of the scanner.
type base64Reader struct {
	s      *scanner
	quads  []byte // one chunk of the string, JSON escapes resolved
	bytes  []byte // decoded form of quads
	left   []byte // part of bytes that Read has not returned yet
	closed bool   // the closing quote was read
	padded bool   // padding was read: nothing may follow
}

// begin starts at the string's opening quote. Buffers of an earlier string are reused.
func (u *base64Reader) begin(s *scanner) {
	if u.quads == nil {
		u.quads, u.bytes = make([]byte, 0, quadsBytes), make([]byte, quadsBytes/4*3)
	}
	*u = base64Reader{s: s, quads: u.quads, bytes: u.bytes}
	s.want('"')
}

// notBase64 is the reason in the faults of this file.
const notBase64 = "not base64 with padding"

// chunk decodes the next part of the string; nil at its end and after an error.
func (u *base64Reader) chunk() []byte {
	u.quads = u.quads[:0]
	// Fill one chunk: escapes and the buffer's end interrupt the copying.
	for len(u.quads) < quadsBytes && !u.closed && u.s.has(1) {
		u.copyChars()
	}
	if len(u.quads) == 0 || u.s.err != nil {
		return nil
	}
	// Strict: the unused bits of the last character must be zero. The decoder ignores line breaks,
	// which would permit a second encoding, so the length is compared.
	n, err := base64.StdEncoding.Strict().Decode(u.bytes, u.quads)
	padding := len(u.quads) - len(bytes.TrimRight(u.quads, "="))
	// Every chunk but the last has quadsBytes characters, so a remainder means bad base64; so does
	// text after padding.
	if err != nil || u.padded || len(u.quads)%4 != 0 || n != len(u.quads)/4*3-padding {
		u.s.bad(notBase64)
		return nil
	}
	u.padded = padding > 0
	return u.bytes[:n]
}

// copyChars appends available characters of the string to quads, up to its end or one escape.
func (u *base64Reader) copyChars() {
	s := u.s
	part := s.buf[s.pos:min(s.end, s.pos+quadsBytes-len(u.quads))]
	n := bytes.IndexAny(part, `"\`)
	if n < 0 {
		n = len(part)
	}
	u.quads = append(u.quads, part[:n]...)
	s.pos += n
	switch {
	case n == len(part):
	case part[n] == '"':
		s.pos++
		u.closed = true
	default:
		u.escape() // an escaped quote or backslash is no base64; escape decides
	}
}

// escape reads one escaped character, \/ or \u00XX. Some programs escape characters of the
// base64 alphabet.
func (u *base64Reader) escape() {
	s := u.s
	if !s.has(len(`\u0000`)) {
		return
	}
	// Two bytes for an escape such as \/, six for \u00XX.
	n := 2
	if s.buf[s.pos+1] == 'u' {
		n = len(`\u0000`)
	}
	v, err := canon.Parse(slices.Concat(quote, s.buf[s.pos:s.pos+n], quote))
	switch text := v.Text(); {
	case err != nil:
		s.refused(err, s.at())
	case len(text) != 1: // base64 is ASCII
		s.bad(notBase64)
	default:
		u.quads = append(u.quads, text[0])
		s.pos += n
	}
}

// artifactSummary is everything that is kept of an artifact's string after reading it.
type artifactSummary struct {
	digest  reference // digest of the decoded bytes
	text    reference // digest of the string as canonical JSON
	chars   int64     // length of the string without quotes
	padding int
}

// summarize reads to the end of the string. It never holds more than one chunk in memory.
func (u *base64Reader) summarize() (got artifactSummary) {
	// Both digests are computed in the same pass: that of the content is the artifact's name,
	// that of the string is stated by integrity.
	size, content, text := int64(0), sha256.New(), sha256.New()
	text.Write(quote)
	for part := u.chunk(); part != nil; part = u.chunk() {
		if size += int64(len(part)); size > limits.ArtifactBytesMax {
			u.s.bad("an artifact of more than %d bytes", limits.ArtifactBytesMax)
		}
		content.Write(part)
		text.Write(u.quads)
		got.chars += int64(len(u.quads))
		// Zero for every chunk but possibly the last.
		got.padding = len(u.quads)/4*3 - len(part)
	}
	text.Write(quote)
	content.Sum(got.digest[:0])
	text.Sum(got.text[:0])
	return got
}

// quote encloses the string in its canonical form, which is hashed.
var quote = []byte{'"'}

// Read implements io.Reader over the decoded bytes, for artifacts that were verified when the
// bundle was opened.
func (u *base64Reader) Read(p []byte) (n int, err error) {
	// A chunk is never empty, except at the end.
	if len(u.left) == 0 {
		u.left = u.chunk()
	}
	if len(u.left) == 0 {
		return 0, cmp.Or(u.s.err, io.EOF)
	}
	n = copy(p, u.left)
	u.left = u.left[n:]
	return n, nil
}
