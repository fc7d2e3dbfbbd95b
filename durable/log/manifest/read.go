package manifest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"path"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

// Input is a log's files as the caller sees them. Errors of its functions are
// the world's and end the reading; what is wrong with bytes is the verdict's.
type Input struct {
	Log Log
	// From is a head that was verified before; the zero Head reads all. Manifest
	// starts at From.GroupAt.
	From     Head
	Manifest io.Reader
	// Names lists the log's segment folder.
	Names func() ([]string, error)
	// Open reads one segment file; ok is false when it is not there.
	Open func(name string) (data []byte, ok bool, err error)
	// Hash reads one segment file for Digests and sums it up; ok is false when it is not
	// there. What comes of it is compared, nothing else.
	Hash func(name string) (sum canon.Digest, size int64, ok bool, err error)
	// Ahead is how many bytes of segments may be read and decoded before their turn
	// comes, on other goroutines; Open is then called by several at once. 0: none. What
	// comes of a reading does not depend on it.
	Ahead int64
	// Foreign accepts groups with members we do not know, as unknown_version (R14).
	Foreign bool
}

// ErrNotOnChain says that nothing can be read on from From: it is no head of this
// log, and what was folded up to it belongs to another history; or the log was
// written without pin counts, and only a reading from the start can judge it.
var ErrNotOnChain = errors.New("the head is not on this log's chain")

// Read verifies a log group by group and hands each committed segment to visit.
// It stops at the first thing that is not committed, and says what that is (R9).
// The error is From's, the world's or visit's; damage never is one.
func Read(in Input, visit func(Segment, Head) error) (Verdict, error) {
	r, done := begin(in)
	defer done()
	return r.all(func() (bool, error) { return r.group(visit) })
}

// buffers are what manifests are read through. Most logs are short, and there may be
// ten thousand of them.
var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 64<<10) }}

// begin is a reading at the head that is known; done gives its buffer back, after which
// nothing that was handed out of it may be looked at.
func begin(in Input) (r *reader, done func()) {
	b := buffers.Get().(*bufio.Reader)
	b.Reset(in.Manifest)
	done = func() {
		b.Reset(nil)
		buffers.Put(b)
	}
	return &reader{in: in, manifest: b, v: Verdict{Head: in.From, Health: Healthy}}, done
}

// all reads group by group until nothing committed follows.
func (r *reader) all(group func() (done bool, err error)) (Verdict, error) {
	if err := r.skipKnown(); err != nil {
		return r.v, err
	}
	defer func() { r.ahead.stop() }()
	for {
		done, err := group()
		if err != nil {
			return r.v, err
		}
		if done {
			return r.v, r.orphans()
		}
		if err := r.lookAhead(); err != nil {
			return r.v, err
		}
	}
}

type reader struct {
	in       Input
	manifest *bufio.Reader
	v        Verdict
	pinned   map[canon.Digest]bool // of plain groups, which pin a snapshot once
	digests  bool                  // segments are hashed, and decoded only where that says no
	ahead    *ahead                // nil: each segment is read when its turn comes

	read      int64 // bytes of the segments that were read
	listed    bool
	there     []span  // the segment folder
	committed []int64 // where the segments begin that were read
}

// skipKnown passes over the last group of From and checks that it is the one.
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

// candidate is a segment that could follow, and the group that would commit it.
type candidate struct {
	seg   Segment
	group []byte
}

// group reads one group; done says that nothing committed follows.
func (r *reader) group(visit func(Segment, Head) error) (done bool, err error) {
	line, err := r.peekLine()
	if err != nil || len(line) == 0 {
		return true, err
	}
	// The segment that the line names commits nearly always; only when it does
	// not is the folder listed for others.
	named, why, err := r.open(namedSegment(line))
	if err != nil {
		return true, err
	}
	if ok, err := r.commitOne(named, visit); ok || err != nil {
		return false, err
	}
	others, whyOthers, err := r.candidates()
	if err != nil {
		return true, err
	}
	if ok, err := r.commitOne(others, visit); ok || err != nil {
		return false, err
	}
	if why == nil {
		why = whyOthers
	}
	return true, r.tail(others, why)
}

// commitOne commits the candidate whose group stands next, if there is one.
func (r *reader) commitOne(candidates []candidate, visit func(Segment, Head) error) (bool, error) {
	for _, c := range candidates {
		have, err := r.peek(len(c.group))
		if err != nil {
			return false, err
		}
		if bytes.Equal(have, c.group) {
			return true, r.commit(c, visit)
		}
	}
	c, ok, err := r.plain(candidates)
	if err != nil || !ok {
		return false, err
	}
	return true, r.commit(c, visit)
}

func (r *reader) commit(c candidate, visit func(Segment, Head) error) error {
	if _, err := r.manifest.Discard(len(c.group)); err != nil {
		return err
	}
	r.v.Head = r.v.Head.After(c.group, c.seg)
	if r.in.From.IsZero() {
		r.committed = append(r.committed, c.seg.First)
	}
	r.read += int64(len(c.seg.Bytes))
	r.v.note(r.in.Log, c.seg.Events)
	c.seg.Group = c.group
	return visit(c.seg, r.v.Head)
}

// open reads a segment that begins at the next index; why says what is wrong
// with one that is named and cannot follow.
func (r *reader) open(name string) (out []candidate, why *Finding, err error) {
	first, last, ok := ParseSegmentName(name)
	if !ok || first != r.v.Head.Next {
		return nil, nil, nil
	}
	where := path.Join(r.in.Log.Root, SegmentDir, name)
	got := r.ahead.take(span{first, last})
	if got == nil || r.digests {
		got = load(r.in, name, first, last, 1)
	}
	if got.err != nil {
		return nil, nil, got.err
	}
	if !got.there {
		f := NewFinding(SegmentMissing, where, "the segment is attested and not there")
		return nil, &f, nil
	}
	if got.wrong != nil {
		f := NewFinding(SegmentDamaged, where, "the file is no segment: %v", got.wrong)
		return nil, &f, nil
	}
	return []candidate{{got.seg, appendGroup(r.in.Log, r.v.Head, got.seg, got.sum, got.seg.pins(), true)}}, nil, nil
}

// candidates are all segments of the folder that begin at the next index.
func (r *reader) candidates() (out []candidate, why *Finding, err error) {
	if err := r.list(); err != nil {
		return nil, nil, err
	}
	for _, name := range r.atNext() {
		more, whyThis, err := r.open(name)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, more...)
		if whyThis != nil {
			why = whyThis
		}
	}
	return out, why, nil
}

// namedSegment is the file name in a line that looks like a segment_closed.
func namedSegment(line []byte) string {
	v, err := canon.Parse(line)
	if err != nil {
		return ""
	}
	rel, _ := v.Get("segmentRelPath")
	dir, name := path.Split(rel.Text())
	if dir != SegmentDir+"/" {
		return ""
	}
	return name
}

// peekLine is the next line with its newline, or what there is of it.
func (r *reader) peekLine() ([]byte, error) {
	for n := 1024; ; n *= 2 {
		have, err := r.peek(n)
		if err != nil {
			return nil, err
		}
		if i := bytes.IndexByte(have, '\n'); i >= 0 {
			return have[:i+1], nil
		}
		if len(have) < n || n > limits.LineBytesMax {
			return have, nil
		}
	}
}

// peek is up to n bytes without consuming them; fewer only at the end.
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
