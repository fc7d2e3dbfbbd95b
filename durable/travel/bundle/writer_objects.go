package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
)

// objectStatements holds the statements about the objects of a kind: 40 bytes each, and 32
// more for an artifact.
type objectStatements struct {
	lengths []objectLength
	sums    []reference // artifacts only: digest of the value's canonical JSON
}

// objectLength is the reference of an object and its length in the bundle.
type objectLength struct {
	ref   reference
	bytes int64 // length as canonical JSON
}

// Object appends an object as stored: size bytes of r, or all of r if size is -1. The order
// is snapshots, workflows, artifacts, each sorted by reference. STORE_CORRUPT means that the
// bytes do not match ref.
func (w *Writer) Object(kind manifest.ObjectKind, ref canon.Digest, size int64, r io.Reader) error {
	if err := w.name(kind, ref); err != nil {
		return err
	}
	most := sections[sectionOf(kind)].bytesMax
	// Refused before anything is read.
	if size > most {
		return w.fail("%s %s has %d bytes: want at most %d", kind, ref, size, most)
	}
	// n is the length in the store, sum its digest; they must match the arguments.
	var n int64
	var sum reference
	var err error
	if kind == manifest.Artifact {
		// One byte more than the limit, so that an excess is noticed.
		n, sum, err = w.artifact(io.LimitReader(r, most+1))
	} else {
		n, sum, err = w.value(kind, ref, io.LimitReader(r, most+1))
	}
	switch {
	case err != nil:
		return w.fail("%s %s: %w", kind, ref, err)
	case n > most || size >= 0 && n != size:
		return w.fail("%s %s has %d bytes: want %d, and at most %d", kind, ref, n, size, most)
	case sum != ref.Raw():
		return w.fail("%w", fault.New(fault.StoreCorrupt, "the %s %s has the digest %s", kind, ref,
			canon.DigestOf(sum)))
	}
	return w.err
}

// name writes the name of the next object, if it may follow here.
func (w *Writer) name(kind manifest.ObjectKind, ref canon.Digest) error {
	if w.err != nil {
		return w.err
	}
	at := sectionOf(kind)
	to := inSnapshots + stage(at)
	if sections[at].kind != kind || w.at > to || ref.IsZero() {
		return w.fail("no %s is allowed here", kind)
	}
	w.advance(to)
	set := &w.objects[at]
	raw := reference(ref.Raw())
	lead := `,"`
	if n := len(set.lengths); n == 0 {
		lead = `"`
		if kind == manifest.Artifact {
			lead = `,"artifacts":{"`
		}
	} else if bytes.Compare(set.lengths[n-1].ref[:], raw[:]) >= 0 {
		return w.fail("%s %s is not in ascending order", kind, ref)
	}
	// The length is filled in after the value was written.
	set.lengths = append(set.lengths, objectLength{ref: raw})
	w.text(lead + ref.String() + `":`)
	return w.err
}

// value writes a snapshot or a workflow, which is stored as canonical JSON.
func (w *Writer) value(kind manifest.ObjectKind, ref canon.Digest, r io.Reader) (n int64, sum reference, err error) {
	w.buffer.Reset()
	if n, err = w.buffer.ReadFrom(r); err != nil {
		return n, sum, err
	}
	text := w.buffer.Bytes()
	// A wrong digest is the better message: damage also breaks the canonical form.
	if sum = sha256.Sum256(text); sum == ref.Raw() {
		if err := w.canonical(text, objectDepth, nil); err != nil {
			return n, sum, err
		}
	}
	w.put(text)
	set := w.objects[sectionOf(kind)].lengths
	set[len(set)-1].bytes = n
	return n, sum, nil
}

// artifact writes bytes as base64 (RFC 4648 with padding) and hashes both forms.
func (w *Writer) artifact(r io.Reader) (n int64, sum reference, err error) {
	if w.copied == nil {
		w.copied = make([]byte, 32<<10)
	}
	text, content := sha256.New(), sha256.New()
	chars := &counter{w: io.MultiWriter(w.out, text)}
	_, _ = text.Write(quote)
	w.put(quote)
	coder := base64.NewEncoder(base64.StdEncoding, chars)
	// The struct hides r's WriterTo, which would allocate a buffer for each artifact.
	n, err = io.CopyBuffer(io.MultiWriter(content, coder), struct{ io.Reader }{r}, w.copied)
	if err == nil {
		err = coder.Close()
	}
	if err != nil {
		return n, sum, err
	}
	// The base64 is written to out directly, bypassing put.
	w.size += chars.n
	_, _ = text.Write(quote)
	w.put(quote)
	content.Sum(sum[:0])
	w.stated(reference(text.Sum(nil)), chars.n+2)
	return n, sum, nil
}

// counter counts the bytes written to w.
type counter struct {
	w io.Writer
	n int64
}

// Write implements io.Writer; bytes that w refused are counted too, since the Writer fails
// then.
func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return c.w.Write(p)
}

// stated stores the statement about the artifact that was written last.
func (w *Writer) stated(sum reference, n int64) {
	set := &w.objects[inArtifacts-inSnapshots]
	set.lengths[len(set.lengths)-1].bytes = n
	set.sums = append(set.sums, sum)
}

// Erased appends the tombstone of an erased artifact in place of its bytes. Its position is
// that of the artifact. data is the tombstone's data and must name ref.
func (w *Writer) Erased(ref canon.Digest, data canon.Value) error {
	if err := w.name(manifest.Artifact, ref); err != nil {
		return err
	}
	// A reader, and the store after an import, would refuse another tombstone.
	if err := checkTombstone(data, ref); err != nil {
		return w.fail("%s: %w", ref, err)
	}
	text, err := canon.OfMembers(canon.Member{Name: "erased", Value: data}).AppendJCS(nil)
	if err == nil && len(text) > limits.LineBytesMax {
		err = fmt.Errorf("a tombstone of %d bytes: want at most %d", len(text), limits.LineBytesMax)
	}
	if err == nil {
		err = w.canonical(text, objectDepth, nil)
	}
	if err != nil {
		return w.fail("%s: %w", ref, err)
	}
	w.put(text)
	w.stated(sha256.Sum256(text), int64(len(text)))
	return w.err
}

// integrity writes an entry for every value, in the order of the values.
func (w *Writer) integrity() {
	w.text(`},"integrity":{"kind":"` + IntegrityKind + `","entries":[`)
	lead := ""
	entry := func(path string, sum reference, n int64) {
		w.text(lead + `{"path":"` + path + `","sha256":"` + canon.DigestOf(sum).
			String() + `","bytes":` + strconv.FormatInt(n, 10) + `}`)
		lead = ","
	}
	for i, l := range w.logs {
		entry(l.events.path, l.events.value.sum, l.events.value.bytes)
		entry(l.records.path, l.records.value.sum, l.records.value.bytes)
		if i > 0 {
			continue
		}
		for k, s := range sections {
			for j, o := range w.objects[k].lengths {
				// The digest of an artifact's string differs from its name.
				sum := o.ref
				if s.kind == manifest.Artifact {
					sum = w.objects[k].sums[j]
				}
				entry(objectPath(s.kind, o.ref), sum, o.bytes)
			}
		}
	}
	w.text("]}}\n")
}
