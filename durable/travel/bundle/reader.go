package bundle

import (
	"bytes"
	"context"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Bundle is a bundle that was checked from front to back, and where in it things
// are. It holds no content: every call reads the file again. Several may read one
// Bundle at once.
type Bundle struct {
	r    io.ReaderAt
	size int64
	env  Envelope
	own  *log
	logs map[string]*log

	snapshots, workflows, artifacts *table
}

// Envelope is what the bundle says about itself.
func (b *Bundle) Envelope() Envelope { return b.env }

// Logs are the names of the side logs, sorted.
func (b *Bundle) Logs() []string { return slices.Sorted(maps.Keys(b.logs)) }

// Events are the events of a log in order, as JCS; "" names the session's own log.
// A log that the bundle does not have has none.
func (b *Bundle) Events(log string) *Lines {
	if l := b.log(log); l != nil {
		return &Lines{b: b, of: &l.events}
	}
	return &Lines{b: b, of: &list{}}
}

// Records are the manifest records of a log in order, as Events.
func (b *Bundle) Records(log string) *Lines {
	if l := b.log(log); l != nil {
		return &Lines{b: b, of: &l.records}
	}
	return &Lines{b: b, of: &list{}}
}

func (b *Bundle) log(name string) *log {
	if name == "" {
		return b.own
	}
	return b.logs[name]
}

func (b *Bundle) table(kind manifest.ObjectKind) *table {
	switch kind {
	case manifest.Snapshot:
		return b.snapshots
	case manifest.Workflow:
		return b.workflows
	}
	return b.artifacts
}

// Each hands out the references of a kind, sorted, one at a time; erased artifacts
// are among them. It is Refs for those who do not need all at once.
func (b *Bundle) Each(kind manifest.ObjectKind) iter.Seq[canon.Digest] {
	return func(yield func(canon.Digest) bool) {
		t := b.table(kind)
		for _, i := range t.order {
			if !yield(canon.DigestOf(t.row(i).ref)) {
				return
			}
		}
	}
}

// Refs are the references of a kind, sorted; erased artifacts are among them.
func (b *Bundle) Refs(kind manifest.ObjectKind) []canon.Digest {
	return slices.AppendSeq(make([]canon.Digest, 0, len(b.table(kind).order)), b.Each(kind))
}

// Object is the content of an object, as it lies in a store: JCS of a snapshot or a
// workflow, the bytes of an artifact. ok is false for what is not embedded, and for
// an artifact that was erased.
func (b *Bundle) Object(kind manifest.ObjectKind, ref canon.Digest) (r io.Reader, size int64, ok bool) {
	row, ok := b.table(kind).find(ref.Raw())
	if !ok || row.is(tombstone) {
		return nil, 0, false
	}
	size = int64(row.bytes)
	if kind == manifest.Artifact {
		size = (size - 2) / 4 * 3 // without the quotes
		switch {
		case row.is(padOne):
			size--
		case row.is(padTwo):
			size -= 2
		}
		s := newScanner(context.Background(), b.r, b.size, listBytes)
		s.seek(int64(row.at))
		u := &unpacker{}
		if err := u.begin(s); err != nil {
			return failing{err}, size, true
		}
		return u, size, true
	}
	part := io.NewSectionReader(b.r, int64(row.at), int64(row.raw))
	if row.is(same) {
		return part, size, true
	}
	text, err := io.ReadAll(part)
	if err == nil {
		text, err = canon.Canonicalize(text)
	}
	if err != nil {
		return failing{err}, size, true
	}
	return bytes.NewReader(text), size, true
}

// failing is the content of what could be read once and cannot be any more.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// Tombstone is what stands in place of an artifact that was erased; ok is false for
// every other reference.
func (b *Bundle) Tombstone(ref canon.Digest) (v canon.Value, ok bool) {
	row, ok := b.artifacts.find(ref.Raw())
	if !ok || !row.is(tombstone) {
		return canon.Value{}, false
	}
	text := make([]byte, row.raw)
	if _, err := b.r.ReadAt(text, int64(row.at)); err != nil {
		return canon.Value{}, false
	}
	v, err := parseTombstone(text, ref)
	return v, err == nil
}

// Lines hands out the elements of a list one by one.
type Lines struct {
	b    *Bundle
	of   *list
	s    *scanner // from the first call on
	done int64
	err  error
}

// Next is the next element as JCS without newline, valid until the next call; io.EOF
// says that there was none left. Any other error means that the file changed, or can
// no longer be read.
func (l *Lines) Next() ([]byte, error) {
	if l.err == nil && l.done == l.of.count {
		l.err = io.EOF
	}
	if l.err != nil {
		return nil, l.err
	}
	line, err := l.next()
	l.err = err
	l.done++
	return line, err
}

func (l *Lines) next() ([]byte, error) {
	if l.s == nil {
		l.s = newScanner(context.Background(), l.b.r, l.b.size, listBytes)
		for name := range strings.SplitSeq(l.of.path, "/") {
			l.s.path = append(l.s.path, turn{name: name})
		}
		l.s.seek(l.of.start)
		if err := l.s.want('['); err != nil {
			return nil, err
		}
	} else if err := l.s.want(','); err != nil {
		return nil, err
	}
	p, err := l.s.element(lineMax, l.of.depth, nil)
	return p.line, err
}
