package manifest

import (
	"bytes"
	"runtime"
	"slices"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
)

// Prefetching. While the caller visits one segment, the next ones are read and decoded on other
// goroutines. The manifest lines ahead of the head are unverified and serve as hints only: a
// prefetched segment is used when the reader in order requests that name, and then as if it had
// been read at that moment. So no verdict depends on prefetching.

const (
	// prefetchAfterBytes is the number of segment bytes that are read before prefetching starts:
	// for a small log, starting goroutines costs more than it saves.
	prefetchAfterBytes = 256 << 10
	// prefetchSegmentsMax bounds the number of segments in the queue, since small ones hardly
	// count by size.
	prefetchSegmentsMax = 256
	// windowMin is how many bytes of the manifest are searched at first: a few hundred groups.
	windowMin = 256 << 10
	// windowMax bounds how many bytes of the manifest are searched for the next segment.
	windowMax = 2 << 20
	// partBytes is the size from which the lines of one segment are decoded in parallel.
	partBytes = 256 << 10
	// batchBytes is the size of the segments that a worker loads together: waiting for each small one costs more
	// than reading it.
	batchBytes = 64 << 10
)

// segmentLoad is a segment file that was read, or is being read until done is closed, which it shares with its batch.
type segmentLoad struct {
	attestation       // of the bytes in the file
	size        int64 // as stated by the manifest, unverified
	raw         bool  // the bytes are hashed, and decoded only for Input.TrustedEvents
	exists      bool  // the file exists
	err         error // of reading the file; ends the whole reading
	seg         Segment
	decodeErr   error // why the bytes are not a segment
	done        chan struct{}

	oversized bool // longer than size: not decoded, and read again when its turn comes
}

// load hashes the segment where in.Hash is set, else it reads and decodes it. A raw one is read and hashed.
func (l *segmentLoad) load(in Input, parts int) {
	if in.Hash != nil && !l.raw {
		l.sum, l.bytes, l.exists, l.err = in.Hash(l.name())
		return
	}
	var data []byte
	open := in.Open
	if l.raw && in.OpenTrusted != nil {
		open = in.OpenTrusted
	}
	if data, l.exists, l.err = open(l.name()); l.err != nil || !l.exists {
		return
	}
	// The queue is bounded by the stated sizes: a file that is longer must not be kept in it.
	if l.oversized = int64(len(data)) > l.size; l.oversized {
		return
	}
	l.decode(in, data, parts)
	if in.TrustedEvents {
		if l.seg.Bytes = nil; in.Release != nil { // the events do not need them
			in.Release(data)
		}
	}
}

// decode hashes the bytes of a segment and decodes its events. Those of a raw one are decoded only for in.TrustedEvents.
func (l *segmentLoad) decode(in Input, data []byte, parts int) {
	if !l.raw {
		if l.seg, l.decodeErr = decodeParts(in.Log, l.first, l.last, data, parts, decoding{line: in.Log.Table.DecodeLine}); l.decodeErr == nil {
			// The span stays: the reader compares it while workers load.
			is := attest(l.seg)
			l.sum, l.bytes = is.sum, is.bytes
		}
		return
	}
	l.seg, l.bytes = Segment{First: l.first, Last: l.last, Bytes: data}, int64(len(data))
	hash := func() { l.sum = canon.Sum(data) }
	if !in.TrustedEvents {
		hash()
		return
	}
	var hashing sync.WaitGroup
	if parts > 1 && len(data) >= partBytes {
		hashing.Go(hash)
	} else {
		hash()
	}
	l.seg, l.decodeErr = decodeParts(in.Log, l.first, l.last, data, parts, decoding{in.Log.Table.DecodeTrusted, true})
	hashing.Wait()
}

// prefetcher is the queue of prefetched segments, in the order of the manifest. Only the
// goroutine of the reader accesses it; the workers share the jobs channel and the loaded
// segments.
type prefetcher struct {
	in         Input
	queue      []*segmentLoad
	bytes      int64               // sum of the stated sizes of the queue
	next       int64               // the first event behind the queue
	scanned    int64               // the manifest offset up to which segments were searched
	window     int                 // how many bytes of the manifest to search
	lastFilled int                 // the length of the queue after segments were last added
	jobs       chan []*segmentLoad // batches, of which none is empty
	workers    sync.WaitGroup
}

// take waits for the segment s and removes it from the queue. It returns nil where s was not
// prefetched or is longer than stated. Segments before s in the queue were not requested, and are
// dropped. A nil prefetcher has no segments.
func (p *prefetcher) take(s span) *segmentLoad {
	if p == nil || len(p.queue) == 0 || p.queue[0].span != s &&
		!slices.ContainsFunc(p.queue, func(l *segmentLoad) bool { return l.span == s }) {
		return nil
	}
	for {
		l := p.queue[0]
		p.queue[0] = nil
		p.queue = p.queue[1:]
		p.bytes -= l.size
		<-l.done
		if l.span == s {
			if l.oversized {
				return nil
			}
			return l
		}
	}
}

// stop ends the workers and waits for them: no file is opened after Read has returned.
func (p *prefetcher) stop() {
	if p != nil {
		close(p.jobs)
		p.workers.Wait()
	}
}

// refillPrefetch queues the segments that the manifest names next, and starts the workers when
// enough was read. next is the size of a segment that is about to be read.
func (r *reader) refillPrefetch(next int64) error {
	if r.prefetch == nil {
		if r.in.PrefetchBytes <= 0 || r.read+next < prefetchAfterBytes {
			return nil
		}
		in := r.in
		if !r.digests {
			in.Hash = nil
		}
		r.prefetch = &prefetcher{in: in, window: windowMin, jobs: make(chan []*segmentLoad, prefetchSegmentsMax),
			next: r.v.Head.Next, scanned: r.v.Head.Bytes}
		for range runtime.GOMAXPROCS(0) {
			r.prefetch.workers.Go(r.prefetch.work)
		}
	}
	a := r.prefetch
	// Refill only when half of the queue is used up: peeking that far moves buffered bytes of the
	// manifest.
	if 2*len(a.queue) > a.lastFilled {
		return nil
	}
	if a.scanned < r.v.Head.Bytes {
		a.scanned, a.next = r.v.Head.Bytes, r.v.Head.Next // the reader has overtaken the queue
	}
	for a.hasCapacity(0) {
		have, err := r.peek(a.window)
		if err != nil {
			return err
		}
		a.scan(have[min(int64(len(have)), a.scanned-r.v.Head.Bytes):])
		if len(have) < a.window && a.scanned == r.v.Head.Bytes+int64(len(have)) {
			r.listEarly()
		}
		if a.lastFilled = len(a.queue); a.lastFilled > 0 || len(have) < a.window || a.window >= windowMax {
			return nil
		}
		a.window *= 2 // a group with many pins: no segment is named in the window
	}
	return nil
}

// hasCapacity reports whether a segment of size bytes may be queued. One segment always may.
func (p *prefetcher) hasCapacity(size int64) bool {
	return len(p.queue) == 0 || len(p.queue) < prefetchSegmentsMax && p.bytes+size <= p.in.PrefetchBytes
}

// scan queues the segments that are stated in the whole lines of part, which is the manifest from a.scanned on. It does
// not parse the lines: one that does not state the next segment is ignored.
func (p *prefetcher) scan(part []byte) {
	var batch []*segmentLoad
	var bytesOf int64 // the stated sizes of the batch
	done := make(chan struct{})
	defer func() {
		if len(batch) > 0 {
			p.jobs <- batch // does not block: there are as many places as segments in the queue
		}
	}()
	for {
		line, after, whole := bytes.Cut(part, []byte{'\n'})
		if !whole {
			return // a line at the edge of the window is found by the next scan
		}
		in := members(line)
		if bytes.HasPrefix(line, []byte(pinnedPrefix)) {
			in = nil // states no segment
		}
		size, first, last := in.number(`"bytes":`), in.number(`"firstEventIndex":`), in.number(`"lastEventIndex":`)
		if first == p.next && last >= first {
			if size < 0 {
				size = 1 << 20 // so that it still limits the queue
			}
			if !p.hasCapacity(size) {
				return
			}
			if bytesOf += size; len(batch) > 0 && bytesOf > batchBytes {
				p.jobs <- batch
				batch, bytesOf, done = nil, size, make(chan struct{})
			}
			l := &segmentLoad{attestation: attestation{span: span{first, last}}, size: size,
				raw: last < p.in.Trusted.Next, done: done}
			batch = append(batch, l)
			p.queue, p.bytes, p.next = append(p.queue, l), p.bytes+size, last+1
		}
		p.scanned += int64(len(part) - len(after))
		part = after
	}
}

// aheadEvents is the number of events that one call of Input.Ahead receives at least, if the segment has as many.
const aheadEvents = 256

// ahead calls Input.Ahead.
func (p *prefetcher) ahead(events []event.Event) {
	var calls sync.WaitGroup
	for part := range slices.Chunk(events, max(aheadEvents, (len(events)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))) {
		if len(part) == len(events) {
			p.in.Ahead(part)
			return
		}
		calls.Go(func() { p.in.Ahead(part) })
	}
	calls.Wait()
}

// work loads segments until jobs is closed.
func (p *prefetcher) work() {
	for batch := range p.jobs {
		for _, l := range batch {
			l.load(p.in, runtime.GOMAXPROCS(0))
			if p.in.Ahead != nil {
				p.ahead(l.seg.Events)
			}
		}
		close(batch[0].done)
	}
}
