package manifest

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"io"
	"math"
	"path"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
)

// Input gives access to the files of a log. An error of its functions ends the reading and is
// returned; a defect of the bytes becomes part of the verdict.
type Input struct {
	Log Log
	// From is a head that was verified before; the zero Head reads the whole log. Manifest starts
	// at offset From.GroupAt.
	From     Head
	Manifest io.Reader
	// Names lists the segment directory, in any order.
	Names func() ([]string, error)
	// Open reads one segment file; ok is false when it does not exist.
	Open func(name string) (data []byte, ok bool, err error)
	// Hash reads one segment file for Digests and returns its digest and length; ok is false when
	// it does not exist. Read ignores it. Without it, Digests decodes every segment like Read.
	Hash func(name string) (sum canon.Digest, size int64, ok bool, err error)
	// Pending returns how many events the log had when an import began to extend it, if the import is in
	// progress or did not finish: segments behind that many events are not committed yet. nil: none began.
	Pending func() (next int64, ok bool)
	// PrefetchBytes is how many bytes of segments may be read and decoded in advance, on other
	// goroutines; Open and Hash must then be safe for concurrent use. 0 disables it. The result of
	// a reading does not depend on it.
	PrefetchBytes int64
	// Trusted is a head that this version folded before, as healthy: all events up to it are known to it. Read then
	// verifies the segments up to it by their digests, and passes them without Events.
	Trusted Head
	// TrustedEvents passes them with Events, decoded without the checks that they passed before. No segment has Bytes then, and
	// the Events of one are overwritten after the next one was passed.
	TrustedEvents bool
	// OpenTrusted is Open for TrustedEvents; it may return other bytes than the file has, since their digest is compared. nil:
	// Open. Release is nil, or receives what either returned for TrustedEvents, when it is not used any more.
	OpenTrusted func(name string) (data []byte, ok bool, err error)
	Release     func(data []byte)
	// Ahead is nil or called on other goroutines with the events of each segment that was read ahead, before it is verified:
	// once, or with parts of a large one at the same time.
	Ahead func([]event.Event)
	// Foreign accepts groups with unknown members, with health UnknownVersion
	// (docs/design.md#foreign-stores).
	Foreign bool
}

// ErrNotOnChain reports that a reading cannot start at Input.From, or that Input.Trusted is not a head of the log;
// segments without events may have been passed then. Either From is not a head of
// this log, and a fold up to it belongs to another history; or the log was written without pin
// counts, and only a reading from the start can verify it. The caller discards the fold and reads
// from the zero Head.
var ErrNotOnChain = errors.New("the head is not on this log's chain")

// Read verifies a log group by group, and calls visit for each committed segment in order, with the
// head after it. It stops at the first bytes that commit nothing, and judges them
// (docs/design.md#log-tail). The error is ErrNotOnChain, or an error of Input or visit; damage is
// not an error but part of the Verdict.
func Read(in Input, visit func(Segment, Head) error) (Verdict, error) {
	r, done := newReader(in)
	defer done()
	v, err := r.readAll(func() (bool, error) {
		if r.v.Head.Next < in.Trusted.Next {
			if ok, err := r.attested(func(l *segmentLoad, group []byte, _ []pin, head Head) error {
				err := visit(l.seg.committed(group, l.attestation), head)
				recycle(r.passed)
				r.passed = l.seg.Events
				return err
			}); ok || err != nil {
				return false, err
			}
		}
		return r.group(visit)
	})
	if err == nil && v.Head.Next < in.Trusted.Next {
		err = ErrNotOnChain
	}
	return v, err
}

// buffers pools the buffers of manifests: a store may have ten thousand logs, most of them short.
var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 64<<10) }}

// newReader returns a reader at Input.From. done returns its buffer to the pool, after which peeked
// bytes must not be used any more.
func newReader(in Input) (r *reader, done func()) {
	b := buffers.Get().(*bufio.Reader)
	b.Reset(in.Manifest)
	done = func() {
		b.Reset(nil)
		buffers.Put(b)
	}
	return &reader{in: in, manifest: b, v: Verdict{Head: in.From, Health: Healthy},
		pinned: map[canon.Digest]bool{}}, done
}

// readAll calls group until it reports the end of the committed prefix, then looks for orphans.
func (r *reader) readAll(group func() (done bool, err error)) (Verdict, error) {
	if err := r.skipKnown(); err != nil {
		return r.v, err
	}
	// r.prefetch is set later, when prefetching starts.
	defer func() { r.prefetch.stop() }()
	for {
		done, err := group()
		if err != nil {
			return r.v, err
		}
		if done {
			return r.v, r.orphans()
		}
		if err := r.refillPrefetch(0); err != nil {
			return r.v, err
		}
	}
}

// reader is one reading of a log. Its head advances with each committed group.
type reader struct {
	in       Input
	manifest *bufio.Reader
	v        Verdict
	pinned   map[canon.Digest]bool // snapshots that earlier plain groups pinned
	digests  bool                  // segments are hashed, and decoded only where that fails
	encoded  []byte                // of the last group in a reading of digests, for its memory
	prefetch *prefetcher           // nil: segments are not prefetched

	read      int64         // bytes of the committed segments
	passed    []event.Event // of the segment that was passed last
	listed    bool          // the segment directory was listed into onDisk
	onDisk    []span        // the segments in the directory, sorted
	ending    bool          // the last segments are read ahead
	early     []span        // the segments in the directory at that time, in no order; nil: not listed then
	committed []int64       // the first events of the committed segments, in a reading from the start
}

// skipKnown skips the last group of From, and returns ErrNotOnChain if its digest is not that of
// From.
func (r *reader) skipKnown() error {
	if r.in.From.IsZero() {
		return nil
	}
	sum := sha256.New()
	if _, err := io.CopyN(sum, r.manifest, r.in.From.Bytes-r.in.From.GroupAt); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if canon.DigestOf([sha256.Size]byte(sum.Sum(nil))) != r.in.From.Digest {
		return ErrNotOnChain
	}
	return nil
}

// candidate is a segment that begins at the next index, and the group that would commit it.
type candidate struct {
	attestation
	seg   Segment
	pins  []pin
	group []byte
}

// group reads one group and visits its segment. done reports that nothing committed follows.
func (r *reader) group(visit func(Segment, Head) error) (done bool, err error) {
	line, err := r.peekLine(0)
	if err != nil || len(line) == 0 {
		return true, err
	}
	// Nearly always the line commits the segment that it names. The directory is listed for other
	// candidates only where it does not.
	named, why, err := r.open(recordOf(line).segment())
	if err != nil {
		return true, err
	}
	if ok, err := r.commitOne(named, visit); ok || err != nil {
		return false, err
	}
	// Damage, the tail, or a line that was torn before its segment name.
	others, whyOthers, err := r.candidates()
	if err != nil {
		return true, err
	}
	if ok, err := r.commitOne(others, visit); ok || err != nil {
		return false, err
	}
	return true, r.tail(others, cmp.Or(why, whyOthers))
}

// commitOne commits the candidate whose group is next in the manifest, and reports whether one was.
func (r *reader) commitOne(candidates []candidate, visit func(Segment, Head) error) (bool, error) {
	for _, c := range candidates {
		have, err := r.peek(len(c.group))
		if err != nil {
			return false, err
		}
		if bytes.Equal(have, c.group) {
			return true, r.commitSegment(c, visit)
		}
	}
	for _, c := range candidates {
		group, ok, err := r.matchPlain(c)
		if err != nil {
			return false, err
		}
		if ok {
			c.group = group
			return true, r.commitSegment(c, visit)
		}
	}
	if !r.in.From.IsZero() && r.attestsPlain(candidates) {
		return false, ErrNotOnChain
	}
	return false, nil
}

// commitSegment commits the group of c, and visits its segment.
func (r *reader) commitSegment(c candidate, visit func(Segment, Head) error) error {
	return r.commit(c.group, c.attestation, func(head Head) error {
		r.v.noteForeign(r.in.Log, c.seg.Events)
		return visit(c.seg.committed(c.group, c.attestation), head)
	})
}

// commit consumes a group, advances the head behind its segment and calls visit.
func (r *reader) commit(group []byte, of attestation, visit func(Head) error) error {
	if _, err := r.manifest.Discard(len(group)); err != nil {
		return err
	}
	before := r.v.Head
	r.v.Head = before.after(group, of.last)
	if t := r.in.Trusted; before.Next < t.Next && r.v.Head.Next >= t.Next && r.v.Head != t {
		return ErrNotOnChain
	}
	if r.in.From.IsZero() {
		r.committed = append(r.committed, of.first)
	}
	r.read += of.bytes
	return visit(r.v.Head)
}

// open reads the named segment if it begins at the next index. why is the finding where it is
// missing or damaged.
func (r *reader) open(name string) (out []candidate, why *Finding, err error) {
	first, last, ok := ParseSegmentName(name)
	if !ok || first != r.v.Head.Next {
		return nil, nil, nil
	}
	where := path.Join(r.in.Log.Root, SegmentDir, name)
	got := r.prefetch.take(span{first, last})
	if got == nil || r.digests || got.raw {
		got = &segmentLoad{attestation: attestation{span: span{first, last}}, size: math.MaxInt64}
		in := r.in
		in.Hash = nil
		got.load(in, 1)
	}
	if got.err != nil {
		return nil, nil, got.err
	}
	if !got.exists {
		f := NewFinding(SegmentMissing, where, "the segment is attested and not there")
		return nil, &f, nil
	}
	if got.decodeErr != nil {
		f := NewFinding(SegmentDamaged, where, "the file is no segment: %v", got.decodeErr)
		return nil, &f, nil
	}
	pins := got.seg.pins()
	group := appendGroup(nil, r.in.Log, r.v.Head, got.attestation, pins, true)
	return []candidate{{got.attestation, got.seg, pins, group}}, nil, nil
}

// candidates reads all segments of the directory that begin at the next index. why is the finding
// about the last one that is damaged.
func (r *reader) candidates() (out []candidate, why *Finding, err error) {
	if err := r.list(); err != nil {
		return nil, nil, err
	}
	for _, name := range r.segmentsAtNext() {
		more, whyThis, err := r.open(name)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, more...)
		why = cmp.Or(whyThis, why)
	}
	return out, why, nil
}

// peekLine returns the line that is from bytes ahead, with its newline, without consuming it; at
// the end, or for a line longer than limits.LineBytesMax, the part that was read.
func (r *reader) peekLine(from int) ([]byte, error) {
	for n := 1024; ; n *= 2 {
		have, err := r.peek(from + n)
		if err != nil {
			return nil, err
		}
		ahead := have[min(from, len(have)):]
		if i := bytes.IndexByte(ahead, '\n'); i >= 0 {
			return ahead[:i+1], nil
		}
		if len(ahead) < n || n > limits.LineBytesMax {
			return ahead, nil
		}
	}
}

// peek returns the next n bytes without consuming them; fewer only at the end of the manifest. The
// bytes are valid until the next call.
func (r *reader) peek(n int) ([]byte, error) {
	if n > r.manifest.Size() {
		r.manifest = bufio.NewReaderSize(r.manifest, 2*n)
	}
	have, err := r.manifest.Peek(n)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return have, nil
}
