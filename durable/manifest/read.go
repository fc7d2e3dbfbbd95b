package manifest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"

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
	// From a known head on there is nearly always nothing: no buffer to speak of.
	buffer := 64 << 10
	if !in.From.IsZero() {
		buffer = 4 << 10
	}
	r := &reader{in: in, manifest: bufio.NewReaderSize(in.Manifest, buffer), v: Verdict{Head: in.From, Health: Healthy}}
	if err := r.skipKnown(); err != nil {
		return r.v, err
	}
	for {
		done, err := r.group(visit)
		if err != nil {
			return r.v, err
		}
		if done {
			return r.v, r.orphans()
		}
	}
}

type reader struct {
	in       Input
	manifest *bufio.Reader
	v        Verdict
	byFirst  map[int64][]string    // segment names by their first event
	pinned   map[canon.Digest]bool // of plain groups, which pin a snapshot once

	committed map[int64]string // segment names by their first event, of what was read
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
		if r.committed == nil {
			r.committed = map[int64]string{}
		}
		r.committed[c.seg.First] = c.seg.Name()
	}
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
	data, ok, err := r.in.Open(name)
	if err != nil {
		return nil, nil, err
	}
	if !ok {
		f := NewFinding(SegmentMissing, where, "the segment is attested and not there")
		return nil, &f, nil
	}
	seg, err := DecodeSegment(r.in.Log, first, last, data)
	if err != nil {
		f := NewFinding(SegmentDamaged, where, "the file is no segment: %v", err)
		return nil, &f, nil
	}
	return []candidate{{seg, Group(r.in.Log, r.v.Head, seg)}}, nil, nil
}

// candidates are all segments of the folder that begin at the next index.
func (r *reader) candidates() (out []candidate, why *Finding, err error) {
	if err := r.list(); err != nil {
		return nil, nil, err
	}
	for _, name := range r.byFirst[r.v.Head.Next] {
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

// tail judges bytes that commit nothing: an append that never was acknowledged,
// or damage (R9).
func (r *reader) tail(candidates []candidate, why *Finding) error {
	at := r.v.Head.Bytes
	for _, c := range candidates {
		have, err := r.peek(len(c.group) + 1)
		if err != nil {
			return err
		}
		if len(have) > 0 && torn(have, c.group, at) {
			r.v.TailBytes = int64(len(have))
			f := NewFinding(UncommittedTail, path.Join(r.in.Log.Root, FileName),
				"%d bytes of an append that never was acknowledged; the next writer cuts them", len(have))
			f.At = at
			r.v.Findings = append(r.v.Findings, f)
			return nil
		}
	}
	f, err := r.blame(candidates, why)
	if err != nil {
		return err
	}
	f.At = at
	r.v.damage(f)
	return nil
}

// blame says what is damaged, as well as that can be told.
func (r *reader) blame(candidates []candidate, why *Finding) (Finding, error) {
	if why != nil {
		return *why, nil
	}
	f := NewFinding(ManifestDamaged, path.Join(r.in.Log.Root, FileName), "the bytes from %d on commit no segment", r.v.Head.Bytes)
	line, err := r.peekLine()
	if err != nil {
		return f, err
	}
	for _, c := range candidates {
		name := c.seg.Name()
		f.Message = fmt.Sprintf("the bytes from %d on do not attest %s as it is", r.v.Head.Bytes, name)
		if attested := attestedDigest(line); namedSegment(line) == name && !attested.IsZero() && attested != canon.Sum(c.seg.Bytes) {
			return NewFinding(SegmentDamaged, path.Join(r.in.Log.Root, SegmentDir, name),
				"the segment does not have the digest that the manifest attests: one of the two was changed"), nil
		}
	}
	return f, nil
}

// attestedDigest is the segment's digest in a line that looks like a segment_closed.
func attestedDigest(line []byte) canon.Digest {
	v, err := canon.Parse(line)
	if err != nil {
		return canon.Digest{}
	}
	text, _ := v.Get("sha256")
	d, _ := canon.ParseDigest(text.Text())
	return d
}

// SectorBytes is the unit that a disk writes whole or not at all.
const SectorBytes = 512

// torn reports whether have, which starts at file offset at, is what a crash can
// leave of group: a prefix in which whole sectors may read as zeros.
func torn(have, group []byte, at int64) bool {
	if len(have) > len(group) {
		return false
	}
	for start := 0; start < len(have); {
		end := min(len(have), start+SectorBytes-int((at+int64(start))%SectorBytes))
		part := have[start:end]
		if !bytes.Equal(part, group[start:end]) && len(bytes.Trim(part, "\x00")) > 0 {
			return false
		}
		start = end
	}
	return true
}

// orphans looks for segments that no group commits. One at the next index is
// what a crash leaves, or all that is left of a last group that was lost: the two
// cannot be told apart (R9). One beyond it proves that more had been committed,
// one before it that two appends once began at one index. A reading from a known
// head leaves the folder alone unless it had to list it.
func (r *reader) orphans() error {
	if r.v.Damaged() || !r.in.From.IsZero() && r.byFirst == nil {
		return nil
	}
	if err := r.list(); err != nil {
		return err
	}
	for _, first := range slices.Sorted(maps.Keys(r.byFirst)) {
		for _, name := range r.byFirst[first] {
			where := path.Join(r.in.Log.Root, SegmentDir, name)
			switch {
			case first > r.v.Head.Next:
				r.v.damage(NewFinding(LostTail, where, "the segment begins beyond event %d: what was committed before it is lost", r.v.Head.Next))
				return nil
			case first == r.v.Head.Next:
				code := OrphanSegment
				if r.v.TailBytes == 0 && !r.v.Head.IsZero() {
					code = UncommittedTail
				}
				r.v.Orphans = append(r.v.Orphans, name)
				r.v.Findings = append(r.v.Findings, NewFinding(code, where, "no group commits the segment: an append that never was acknowledged, or one whose group is lost"))
			case r.in.From.IsZero() && r.committed[first] != name:
				r.v.Findings = append(r.v.Findings, NewFinding(OrphanSegment, where, "no group commits the segment: another one stands in its place"))
			}
		}
	}
	return nil
}

func (r *reader) list() error {
	if r.byFirst != nil {
		return nil
	}
	names, err := r.in.Names()
	if err != nil {
		return err
	}
	r.byFirst = make(map[int64][]string, len(names))
	slices.Sort(names)
	for _, name := range names {
		if first, _, ok := ParseSegmentName(name); ok {
			r.byFirst[first] = append(r.byFirst[first], name)
		}
	}
	return nil
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
