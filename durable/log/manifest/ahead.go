package manifest

import (
	"bytes"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/waybill/waybill/durable/canon"
)

// Reading ahead. While the caller visits one segment, the next ones are read and
// decoded on other goroutines. What the manifest says of them is taken as a hint only:
// a segment that was loaded counts when the reading in order asks for that very name,
// and then as if it had been loaded at that moment. So no verdict depends on it.

const (
	// aheadFrom is how many bytes of segments are read in order first: for a small log
	// goroutines would cost more than they bring.
	aheadFrom = 256 << 10
	// aheadMax bounds the segments on their way: small ones would take no bytes to
	// speak of.
	aheadMax = 256
	// windowMin is how far the manifest is looked through at first: a few hundred groups.
	windowMin = 256 << 10
	// windowMax bounds how far the manifest is looked through for the next segment.
	windowMax = 2 << 20
	// partBytes is from how many bytes on the lines of one segment are shared out.
	partBytes = 256 << 10
)

// loaded is a segment file as it was read.
type loaded struct {
	span
	size  int64 // as the manifest says
	there bool
	err   error // the world's
	seg   Segment
	wrong error // why the bytes are no segment
	sum   canon.Digest
	bytes int64 // that were summed up
	done  chan struct{}

	unlike bool // longer than the manifest says: it is read again in its turn
}

// load reads and decodes a segment, with so many goroutines.
func load(in Input, name string, first, last int64, parts int) *loaded {
	in.Hash = nil
	l := &loaded{span: span{first, last}}
	l.size = math.MaxInt64
	l.load(in, name, parts)
	return l
}

func (l *loaded) load(in Input, name string, parts int) {
	if in.Hash != nil {
		l.sum, l.bytes, l.there, l.err = in.Hash(name)
		return
	}
	var data []byte
	if data, l.there, l.err = in.Open(name); l.err != nil || !l.there {
		return
	}
	// What waits must not be more than was reckoned with, whatever a manifest says.
	if l.unlike = int64(len(data)) > l.size; l.unlike {
		return
	}
	if l.seg, l.wrong = decodeParts(in.Log, l.first, l.last, data, parts); l.wrong == nil {
		l.sum = canon.Sum(data)
	}
}

// ahead is the segments on their way, in the order of the manifest. Only the reader's
// own goroutine touches it.
type ahead struct {
	in      Input
	queue   []*loaded
	bytes   int64 // of the queue
	next    int64 // the first event behind the queue
	scanned int64 // up to where the manifest was looked through
	window  int
	filled  int // how long the queue was when it was last added to
	jobs    chan *loaded
	workers sync.WaitGroup
}

// take gives a segment that was loaded, nil when that one was not. What stands before
// it in the queue was not asked for, and is forgotten.
func (a *ahead) take(s span) *loaded {
	if a == nil || len(a.queue) == 0 || a.queue[0].span != s &&
		!slices.ContainsFunc(a.queue, func(l *loaded) bool { return l.span == s }) {
		return nil
	}
	for {
		l := a.queue[0]
		a.queue[0] = nil
		a.queue = a.queue[1:]
		a.bytes -= l.size
		<-l.done
		if l.span == s {
			if l.unlike {
				return nil
			}
			return l
		}
	}
}

// stop waits for what is on its way: nothing is opened once a reading has ended.
func (a *ahead) stop() {
	if a != nil {
		close(a.jobs)
		a.workers.Wait()
	}
}

// lookAhead sends for segments that the manifest names next.
func (r *reader) lookAhead() error {
	if r.ahead == nil {
		if r.in.Ahead <= 0 || r.read < aheadFrom {
			return nil
		}
		in := r.in
		if !r.digests {
			in.Hash = nil
		}
		r.ahead = &ahead{in: in, window: windowMin, jobs: make(chan *loaded, aheadMax), next: r.v.Head.Next,
			scanned: r.v.Head.Bytes}
		for range runtime.GOMAXPROCS(0) {
			r.ahead.workers.Go(r.ahead.work)
		}
	}
	a := r.ahead
	// Half of what was sent for may come before more is: looking through the manifest
	// moves what is buffered of it.
	if 2*len(a.queue) > a.filled {
		return nil
	}
	if a.scanned < r.v.Head.Bytes {
		a.scanned, a.next = r.v.Head.Bytes, r.v.Head.Next // the queue has run dry
	}
	for a.room(0) {
		have, err := r.peek(a.window)
		if err != nil {
			return err
		}
		a.scan(have[min(int64(len(have)), a.scanned-r.v.Head.Bytes):])
		if a.filled = len(a.queue); a.filled > 0 || len(have) < a.window || a.window >= windowMax {
			return nil
		}
		a.window *= 2 // a group of many pins
	}
	return nil
}

// room reports whether one more segment of size bytes may be on its way.
func (a *ahead) room(size int64) bool {
	return len(a.queue) == 0 || len(a.queue) < aheadMax && a.bytes+size <= a.in.Ahead
}

var relPath = []byte(`"segmentRelPath":"` + SegmentDir + `/`)

// scan sends for the segments that are named in lines, the manifest from a.scanned on.
func (a *ahead) scan(lines []byte) {
	for at := 0; ; {
		i := bytes.Index(lines[at:], relPath)
		if i < 0 {
			return // the line may stand at the edge of the window: it is seen the next time
		}
		i += at
		rest := lines[i+len(relPath):]
		end := bytes.IndexByte(rest, '"')
		if end < 0 {
			return
		}
		first, last, ok := ParseSegmentName(string(rest[:min(end, 64)]))
		size := sizeIn(lines[bytes.LastIndexByte(lines[:i], '\n')+1 : i])
		if ok && first == a.next {
			if !a.room(size) {
				return
			}
			l := &loaded{span: span{first, last}, size: size, done: make(chan struct{})}
			a.queue, a.bytes, a.next = append(a.queue, l), a.bytes+size, last+1
			a.jobs <- l
		}
		at = i + len(relPath)
		a.scanned += int64(at)
		lines, at = lines[at:], 0
	}
}

// sizeIn reads how long the segment is from the beginning of its line; what says
// nothing counts as much.
func sizeIn(line []byte) int64 {
	rest, ok := bytes.CutPrefix(line, []byte(`{"bytes":`))
	digits, _, _ := bytes.Cut(rest, []byte{','})
	n, err := strconv.ParseInt(string(digits[:min(len(digits), 20)]), 10, 64)
	if !ok || err != nil || n < 0 {
		return 1 << 20
	}
	return n
}

func (a *ahead) work() {
	for l := range a.jobs {
		l.load(a.in, l.name(), runtime.GOMAXPROCS(0))
		close(l.done)
	}
}
