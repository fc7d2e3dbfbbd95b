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

// Bundle is a verified bundle and an index of its content. It holds no content: every call
// reads from the file. Concurrent use is safe.
type Bundle struct {
	r    io.ReaderAt
	size int64
	// env, own and logs are filled in while the bundle is opened, and constant afterwards.
	env  Envelope
	own  *log
	logs map[string]*log

	// One table for each of sections, also if the bundle has no such objects.
	tables [len(sections)]*table
}

// Envelope returns the bundle's description of itself.
func (b *Bundle) Envelope() Envelope { return b.env }

// Logs returns the names of the side logs, sorted.
func (b *Bundle) Logs() []string { return slices.Sorted(maps.Keys(b.logs)) }

// Events returns the events of a log in order, as canonical JSON; "" is the session's own
// log. A log that the bundle does not have is empty.
func (b *Bundle) Events(log string) *Lines { return &Lines{b: b, of: &b.log(log).events} }

// Records returns the manifest records of a log in order, like Events.
func (b *Bundle) Records(log string) *Lines { return &Lines{b: b, of: &b.log(log).records} }

// log returns a log by name, an empty one if it is not in the bundle.
func (b *Bundle) log(name string) *log {
	if name == "" {
		return b.own
	}
	if l, ok := b.logs[name]; ok {
		return l
	}
	return &log{}
}

// table returns the index of a kind of objects.
func (b *Bundle) table(kind manifest.ObjectKind) *table { return b.tables[sectionOf(kind)] }

// Each returns an iterator over the references of a kind, sorted, including erased artifacts.
// Unlike Refs it allocates no list.
func (b *Bundle) Each(kind manifest.ObjectKind) iter.Seq[canon.Digest] {
	return func(yield func(canon.Digest) bool) {
		t := b.table(kind)
		// order contains embedded objects only.
		for _, i := range t.order {
			if !yield(canon.DigestOf(t.row(i).ref)) {
				return
			}
		}
	}
}

// Refs returns the references of a kind, sorted, including erased artifacts.
func (b *Bundle) Refs(kind manifest.ObjectKind) []canon.Digest {
	return slices.AppendSeq(make([]canon.Digest, 0, len(b.table(kind).order)), b.Each(kind))
}

// Object returns the content of an object as stored: canonical JSON of a snapshot or a
// workflow, the bytes of an artifact. ok is false for objects that are not embedded and for
// erased artifacts. If the file can no longer be read, r returns the error.
func (b *Bundle) Object(kind manifest.ObjectKind, ref canon.Digest) (r io.Reader, size int64, ok bool) {
	row, ok := b.table(kind).find(ref.Raw())
	if !ok || row.is(tombstone) {
		return nil, 0, false
	}
	size = int64(row.bytes)
	if kind == manifest.Artifact {
		// The length states the string with its quotes.
		size = (size - 2) / 4 * 3 // base64 without the quotes
		switch {
		case row.is(padOne):
			size--
		case row.is(padTwo):
			size -= 2
		}
		// A scanner of its own for each reader, so that several can be read at once.
		s := newScanner(context.Background(), b.r, b.size, listBytes)
		s.seek(int64(row.at))
		u := &base64Reader{}
		u.begin(s)
		return u, size, true
	}
	// The value's bytes, which Open has verified.
	part := io.NewSectionReader(b.r, int64(row.at), int64(row.raw))
	// Canonical in the file: no copy is needed.
	if row.is(same) {
		return part, size, true
	}
	// Bounded by limits.BundleSpellingMax times the object's limit.
	text, err := io.ReadAll(part)
	if err == nil {
		text, err = canon.Canonicalize(text)
	}
	if err != nil {
		return failing{err}, size, true
	}
	return bytes.NewReader(text), size, true
}

// failing is a reader that returns an error: content that was readable when the bundle was
// opened and no longer is.
type failing struct{ err error }

// Read implements io.Reader.
func (f failing) Read([]byte) (int, error) { return 0, f.err }

// Tombstone returns the data of an erased artifact's tombstone; ok is false for all other
// references.
func (b *Bundle) Tombstone(ref canon.Digest) (v canon.Value, ok bool) {
	row, ok := b.table(manifest.Artifact).find(ref.Raw())
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

// Lines iterates over the elements of a list.
type Lines struct {
	b    *Bundle
	of   *list
	s    *scanner // created by the first call of Next
	done int64
}

// Next returns the next element as canonical JSON without newline, valid until the next call,
// or io.EOF after the last. Any other error means that the file changed or can no longer be
// read; it is sticky.
func (l *Lines) Next() ([]byte, error) {
	// The count is known, so the closing bracket need not be read.
	if l.done == l.of.count {
		return nil, io.EOF
	}
	lead := byte(',')
	if l.s == nil {
		lead = '['
		l.s = newScanner(context.Background(), l.b.r, l.b.size, listBytes)
		for name := range strings.SplitSeq(l.of.path, "/") {
			// The path of the list, for the pointer of a fault.
			l.s.path = append(l.s.path, pathStep{name: name})
		}
		l.s.seek(l.of.start)
	}
	l.s.want(lead)
	p := l.s.element(lineMax, l.of.depth, nil)
	if l.s.err != nil {
		return nil, l.s.err
	}
	l.done++
	return p.line, nil
}
