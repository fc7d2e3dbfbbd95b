package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Sizes of a window. A bundle is scanned with a large buffer to save calls; lists are read
// with a small one, since several may be open at once.
const (
	scanBytes = 256 << 10
	listBytes = 64 << 10
)

// window is the part of a bundle in memory: a buffer that moves over the file. It grows for
// an element that does not fit, and shrinks after it.
type window struct {
	// ctx is checked before every read, so that opening a large bundle can be interrupted.
	ctx  context.Context
	r    io.ReaderAt
	size int64
	// progress is called after every read; may be nil.
	progress func(done, total int64)
	// err is the first error. Nothing is read after it, and the methods of a scanner return zero
	// values, so that only their caller's caller has to look at it.
	err error

	// The buffer. Invariant: 0 <= pos <= end <= len(buf).
	buf      []byte
	pos, end int   // buf[pos:end] is read and not yet consumed
	base     int64 // offset of buf[0] in the file
	usual    int   // length of buf except for a large element
}

// newWindow returns a window at offset 0.
func newWindow(ctx context.Context, r io.ReaderAt, size int64, usual int) window {
	// A small bundle needs no large buffer.
	usual = int(min(int64(usual), max(size, 512)))
	return window{ctx: ctx, r: r, size: size, buf: make([]byte, usual), usual: usual}
}

// at returns the offset of the next byte.
func (w *window) at() int64 { return w.base + int64(w.pos) }

// seek moves to an offset and discards the buffer.
func (w *window) seek(at int64) { w.base, w.pos, w.end = at, 0, 0 }

// stop stores the first error.
func (w *window) stop(err error) {
	if w.err == nil {
		w.err = err
	}
}

// more reads further bytes. Unconsumed bytes move to the front of the buffer, so slices of it
// become invalid. It returns false at the end of the file and after an error.
func (w *window) more() bool {
	w.stop(w.ctx.Err())
	from := w.base + int64(w.end)
	if w.err != nil || from >= w.size {
		return false
	}
	kept := w.buf[w.pos:w.end]
	switch {
	// Nothing consumed: the element is larger than the buffer.
	case len(kept) == len(w.buf):
		w.buf = make([]byte, 2*len(w.buf))
	// The large element was consumed: return to the usual size.
	case len(w.buf) > w.usual && 2*len(kept) <= w.usual:
		w.buf = make([]byte, w.usual)
	}
	copy(w.buf, kept)
	w.base, w.pos, w.end = w.at(), 0, len(kept)
	free := w.buf[w.end:]
	// Reading beyond size would include bytes that were appended meanwhile.
	if left := w.size - from; left < int64(len(free)) {
		free = free[:left]
	}
	n, err := w.r.ReadAt(free, from)
	w.end += n
	if n < len(free) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // the file was truncated meanwhile
		}
		w.stop(fmt.Errorf("bundle: reading at byte %d: %w", from+int64(n), err))
		return false
	}
	if w.progress != nil {
		w.progress(w.base+int64(w.end), w.size)
	}
	return true
}
