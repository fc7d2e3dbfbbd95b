package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Sizes of a window. A bundle is scanned through a large one, since each reading
// costs a call; a list is read through a small one, since several are open at once.
const (
	scanBytes = 256 << 10
	listBytes = 64 << 10
)

// window is the part of a bundle that is in memory: a buffer that moves over the
// file. It grows only for one element that does not fit, and shrinks behind it.
type window struct {
	ctx      context.Context
	r        io.ReaderAt
	size     int64
	progress func(done, total int64)

	buf      []byte
	pos, end int   // buf[pos:end] is read and not yet used
	base     int64 // where in the file buf[0] stands
	usual    int   // length of buf but for a large element
}

func newWindow(ctx context.Context, r io.ReaderAt, size int64, usual int) window {
	// A small bundle needs no large buffer.
	usual = int(min(int64(usual), max(size, 512)))
	return window{ctx: ctx, r: r, size: size, buf: make([]byte, usual), usual: usual}
}

// at is where in the file the next byte stands.
func (w *window) at() int64 { return w.base + int64(w.pos) }

// seek goes to a place in the file; what was read is forgotten.
func (w *window) seek(at int64) { w.base, w.pos, w.end = at, 0, 0 }

// more reads on. What is not yet used stays, and moves to the front: whoever holds
// a part of the buffer has lost it. False is the end of the file.
func (w *window) more() (bool, error) {
	if err := w.ctx.Err(); err != nil {
		return false, err
	}
	from := w.base + int64(w.end)
	if from >= w.size {
		return false, nil
	}
	kept := w.buf[w.pos:w.end]
	switch {
	case len(kept) == len(w.buf):
		w.buf = make([]byte, 2*len(w.buf))
	case len(w.buf) > w.usual && 2*len(kept) <= w.usual:
		w.buf = make([]byte, w.usual)
	}
	copy(w.buf, kept)
	w.base, w.pos, w.end = w.at(), 0, len(kept)
	room := w.buf[w.end:]
	if left := w.size - from; left < int64(len(room)) {
		room = room[:left]
	}
	n, err := w.r.ReadAt(room, from)
	w.end += n
	if n < len(room) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // the file became shorter under our hands
		}
		return false, fmt.Errorf("bundle: reading at byte %d: %w", from+int64(n), err)
	}
	if w.progress != nil {
		w.progress(w.base+int64(w.end), w.size)
	}
	return true, nil
}
