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

// capture records digest, length, head and tail of an output of any length. Its memory does not
// grow with the output.
type capture struct {
	sum   hash.Hash
	bytes int64
	head  []byte
	tail  ring      // of the bytes after head
	tee   io.Writer // receives all output; nil after it failed
}

// newCapture returns an empty capture. tee may be nil.
func newCapture(tee io.Writer) *capture {
	return &capture{sum: sha256.New(), tail: ring{max: command.OutputTailBytesMax}, tee: tee}
}

// Write records one part of the output. It never fails, so that io.Copy reads until all writers have
// closed the pipe, or the reading is ended by a deadline.
//
// Digest and length include every byte; head and tail have the first and last ones.
func (c *capture) Write(p []byte) (int, error) {
	c.sum.Write(p)
	c.bytes += int64(len(p))
	if c.tee != nil {
		if _, err := c.tee.Write(p); err != nil {
			c.tee = nil // the reader of the output is gone; the command and its record continue
		}
	}
	space := min(command.OutputHeadBytesMax-len(c.head), len(p))
	c.head = append(c.head, p[:space]...)
	c.tail.add(p[space:])
	return len(p), nil
}

// outcome returns the captured output. Head and tail are valid UTF-8 and contain no part of a
// character that the cut divided.
func (c *capture) outcome() ports.CommandOutcome {
	head, tail := c.head, c.tail.bytes()
	if len(tail) > 0 {
		// The cut may divide a character. Where the tail follows directly it gets the whole
		// character; otherwise the part is omitted.
		cut := len(head) - partialRune(head)
		if int64(len(head)+len(tail)) == c.bytes && len(tail)+len(head)-cut <= command.OutputTailBytesMax {
			tail = append(head[cut:len(head):len(head)], tail...)
		}
		head = head[:cut]
		for len(tail) > 0 && !utf8.RuneStart(tail[0]) && len(head)+len(tail) < int(c.bytes) && isContinuation(tail) {
			tail = tail[1:]
		}
	}
	return ports.CommandOutcome{OutputBytes: c.bytes, OutputDigest: canon.DigestOf([sha256.Size]byte(c.sum.Sum(nil))),
		OutputHead: toText(head), OutputTail: toText(tail)}
}

// partialRune is the length of an incomplete character at the end of b, 0 without one.
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

// isContinuation reports that b starts with at most three continuation bytes. More of them are not
// UTF-8 and are kept unchanged.
func isContinuation(b []byte) bool {
	n := 0
	for n < len(b) && n < utf8.UTFMax && !utf8.RuneStart(b[n]) {
		n++
	}
	return n < utf8.UTFMax
}

// toText replaces bytes that are not UTF-8, so that JSON can contain the text.
func toText(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// ring keeps the last max bytes that were added.
type ring struct {
	max  int
	buf  []byte
	next int // index of the oldest byte once buf is full
}

// add appends p and overwrites the oldest bytes.
func (r *ring) add(p []byte) {
	if len(p) > r.max {
		p = p[len(p)-r.max:]
	}
	if space := min(r.max-len(r.buf), len(p)); space > 0 {
		r.buf = append(r.buf, p[:space]...)
		p = p[space:]
	}
	for len(p) > 0 {
		n := copy(r.buf[r.next:], p)
		p = p[n:]
		r.next = (r.next + n) % r.max
	}
}

// bytes returns a copy of the content in order.
func (r *ring) bytes() []byte {
	out := make([]byte, 0, len(r.buf))
	return append(append(out, r.buf[r.next:]...), r.buf[:r.next]...)
}
