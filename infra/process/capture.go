package process

import (
	"crypto/sha256"
	"hash"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/ports"
)

// capture keeps of an output of any length its digest, its length, its head and
// its tail: the memory that it takes does not grow with the output.
type capture struct {
	sum   hash.Hash
	bytes int64
	head  []byte
	tail  ring // of what follows head
	tee   io.Writer
}

func newCapture(tee io.Writer) *capture {
	return &capture{sum: sha256.New(), tail: ring{max: command.OutputTailBytesMax}, tee: tee}
}

// readBufferBytes is the size of a Linux pipe by default: one read empties it.
const readBufferBytes = 64 << 10

// readAll takes everything until the writers are gone or the reading is ended.
func (c *capture) readAll(from io.Reader) {
	buf := make([]byte, readBufferBytes)
	for {
		n, err := from.Read(buf)
		c.add(buf[:n])
		if err != nil {
			return
		}
	}
}

func (c *capture) add(p []byte) {
	if len(p) == 0 {
		return
	}
	c.sum.Write(p)
	c.bytes += int64(len(p))
	if c.tee != nil {
		if _, err := c.tee.Write(p); err != nil {
			c.tee = nil // whoever watched is gone; the command and its record go on
		}
	}
	room := min(command.OutputHeadBytesMax-len(c.head), len(p))
	c.head = append(c.head, p[:room]...)
	c.tail.add(p[room:])
}

func (c *capture) outcome() ports.CommandOutcome {
	head, tail := c.head, c.tail.bytes()
	if len(tail) > 0 {
		// The cut may go through a character. Where the tail follows directly it gets
		// the whole of it, else the piece is left out.
		cut := len(head) - partialRune(head)
		if int64(len(head)+len(tail)) == c.bytes && len(tail)+len(head)-cut <= command.OutputTailBytesMax {
			tail = append(head[cut:len(head):len(head)], tail...)
		}
		head = head[:cut]
		for len(tail) > 0 && !utf8.RuneStart(tail[0]) && len(head)+len(tail) < int(c.bytes) && continues(tail) {
			tail = tail[1:]
		}
	}
	return ports.CommandOutcome{OutputBytes: c.bytes, OutputDigest: canon.DigestOf([sha256.Size]byte(c.sum.Sum(nil))),
		OutputHead: valid(head), OutputTail: valid(tail)}
}

// partialRune counts the bytes of a character that b ends in the middle of.
func partialRune(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if last := b[len(b)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return n
			}
			return 0
		}
	}
	return 0
}

// continues: at most three bytes continue a character; more of them are no UTF-8
// in the first place and are kept as what they are.
func continues(b []byte) bool {
	n := 0
	for n < len(b) && n < utf8.UTFMax && !utf8.RuneStart(b[n]) {
		n++
	}
	return n < utf8.UTFMax
}

// valid is b as text that JSON can hold.
func valid(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// ring keeps the last max bytes of what is added.
type ring struct {
	max  int
	buf  []byte
	next int // where the oldest byte stands, once buf is full
}

func (r *ring) add(p []byte) {
	if len(p) > r.max {
		p = p[len(p)-r.max:]
	}
	if room := min(r.max-len(r.buf), len(p)); room > 0 {
		r.buf = append(r.buf, p[:room]...)
		p = p[room:]
	}
	for len(p) > 0 {
		n := copy(r.buf[r.next:], p)
		p = p[n:]
		r.next = (r.next + n) % r.max
	}
}

func (r *ring) bytes() []byte {
	out := make([]byte, 0, len(r.buf))
	return append(append(out, r.buf[r.next:]...), r.buf[:r.next]...)
}
