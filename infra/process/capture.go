package process

import (
	"crypto/sha256"
	"hash"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/ports"
)

// capture records digest, length, heads and tails of an output of any length. Its memory does not
// grow with the output. Stdout and stderr arrive through writers of their own, which are used by one
// goroutine each.
type capture struct {
	mu    sync.Mutex
	sum   hash.Hash // of both, in order of arrival
	both  stream
	out   stream
	err   stream
	whole []byte    // of stdout, up to max bytes
	max   int       // 0: none is kept
	tee   io.Writer // receives all output; nil after it failed
}

// newCapture returns an empty capture. tee may be nil.
func newCapture(tee io.Writer) *capture { return &capture{sum: sha256.New(), tee: tee} }

// stdout and stderr return the writers of the two streams. They never fail, so that io.Copy reads
// until all writers have closed the pipe, or the reading is ended by a deadline.
func (c *capture) stdout() io.Writer { return part{c, &c.out} }

func (c *capture) stderr() io.Writer { return part{c, &c.err} }

// part is the writer of one stream of a capture.
type part struct {
	c  *capture
	to *stream
}

// Write records one part of the output.
func (w part) Write(p []byte) (int, error) {
	c := w.c
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum.Write(p)
	c.both.add(p)
	w.to.add(p)
	if w.to == &c.out {
		c.whole = append(c.whole, p[:min(len(p), c.max-len(c.whole))]...)
	}
	if c.tee != nil {
		if _, err := c.tee.Write(p); err != nil {
			c.tee = nil // the reader of the output is gone; the command and its record continue
		}
	}
	return len(p), nil
}

// outcome returns the captured output.
func (c *capture) outcome() ports.CommandOutcome {
	c.mu.Lock() // a process outside the group may write on
	defer c.mu.Unlock()
	both := c.both.text()
	out := ports.CommandOutcome{OutputBytes: both.Bytes, OutputDigest: canon.DigestOf([sha256.Size]byte(c.sum.Sum(nil))),
		OutputHead: both.Head, OutputTail: both.Tail, Stdout: c.out.text(), Stderr: c.err.text()}
	if c.out.bytes == int64(len(c.whole)) {
		out.Whole = c.whole
	}
	return out
}

// stream keeps the first and the last bytes of what is added.
type stream struct {
	bytes int64
	head  []byte
	tail  ring // of the bytes after head
}

// add counts p and keeps what belongs to head and tail.
func (s *stream) add(p []byte) {
	s.bytes += int64(len(p))
	space := min(limits.StreamHeadBytesMax-len(s.head), len(p))
	s.head = append(s.head, p[:space]...)
	s.tail.add(p[space:])
}

// text returns head and tail as valid UTF-8, without a part of a character that the cut divided.
func (s *stream) text() command.Stream {
	head, tail := s.head, s.tail.bytes()
	if len(tail) > 0 {
		// The cut may divide a character. Where the tail follows directly it gets the whole
		// character; otherwise the part is omitted.
		cut := len(head) - partialRune(head)
		if int64(len(head)+len(tail)) == s.bytes && len(tail)+len(head)-cut <= limits.StreamTailBytesMax {
			tail = append(head[cut:len(head):len(head)], tail...)
		}
		head = head[:cut]
		for len(tail) > 0 && !utf8.RuneStart(tail[0]) && int64(len(head)+len(tail)) < s.bytes && isContinuation(tail) {
			tail = tail[1:]
		}
	}
	return command.Stream{Bytes: s.bytes, Head: toText(head), Tail: toText(tail),
		Omitted: s.bytes - int64(len(head)+len(tail))}
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

// toText replaces each byte that is not UTF-8, so that JSON can contain the text. It is never shorter
// than b, since a reader concludes from that what was cut (command.Stream.LeftOut).
func toText(b []byte) string { return string([]rune(string(b))) }

// ring keeps the last limits.StreamTailBytesMax bytes that were added.
type ring struct {
	buf  []byte
	next int // index of the oldest byte once buf is full
}

// add appends p and overwrites the oldest bytes.
func (r *ring) add(p []byte) {
	const size = limits.StreamTailBytesMax
	if len(p) > size {
		p = p[len(p)-size:]
	}
	if space := min(size-len(r.buf), len(p)); space > 0 {
		r.buf = append(r.buf, p[:space]...)
		p = p[space:]
	}
	for len(p) > 0 {
		n := copy(r.buf[r.next:], p)
		p = p[n:]
		r.next = (r.next + n) % size
	}
}

// bytes returns a copy of the content in order.
func (r *ring) bytes() []byte {
	out := make([]byte, 0, len(r.buf))
	return append(append(out, r.buf[r.next:]...), r.buf[:r.next]...)
}
