package bundle

import (
	"crypto/sha256"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
)

// objectDepth is the number of levels an object may nest: the document, session and the map
// of its kind are around it.
const objectDepth = limits.JSONDepthMax - 3

// objects reads the map of a kind. Every value must have the digest that is its name.
func (o *opener) objects(t *table) {
	var bytes base64Reader
	o.refs(func() {
		r, i := t.get(o.ref)
		switch {
		// The same name twice in one map.
		case r.is(embedded):
			o.fail(fault.BundleInvalidFormat, o.nameAt, "duplicate member")
		case t.kind == manifest.Artifact:
			o.artifact(r, i, &bytes)
		default:
			p := o.element(t.bytesMax, objectDepth, nil)
			// The line is canonical here, independent of the form in the file.
			if sum := sha256.Sum256(p.line); sum != o.ref {
				o.fail(fault.BundleIntegrityFailed, p.at, "the value has the digest %s, unlike its name",
					canon.DigestOf(sum))
			}
			o.embed(t, r, i, p, int64(len(p.line)), o.ref, 0)
		}
	})
}

// embed stores the position of a value and compares it with its entry if that was read first.
func (o *opener) embed(t *table, r *row, i uint32, p element, bytes int64, sum reference, more mark) {
	// Integrity came first: compare with its statement.
	if r.is(listed) && (int64(r.bytes) != bytes || t.kind == manifest.Artifact && t.sums[i] != sum) {
		o.stop(failAt(fault.BundleIntegrityFailed, objectPointer(t.kind, r.ref), p.at,
			"the value has %d bytes of JCS, or another digest, than integrity states for %s", bytes,
			objectPath(t.kind, r.ref)))
	}
	if t.kind == manifest.Artifact {
		t.sums[i] = sum
	}
	// Object can return a section of the file without parsing it.
	if p.same {
		more |= same
	}
	r.at, r.raw, r.bytes = uint32(p.at), uint32(p.raw), uint32(bytes)
	// at and raw now describe the value, not the place that refers to it.
	r.marks = r.marks&^byRecord | embedded | more
}

// objectPath is the integrity path of an object.
func objectPath(kind manifest.ObjectKind, ref reference) string {
	return "session/" + sections[sectionOf(kind)].name + "/" + canon.DigestOf(ref).String()
}

// objectPointer is the JSON pointer of an object.
func objectPointer(kind manifest.ObjectKind, ref reference) string {
	return "/" + objectPath(kind, ref)
}

// artifact reads an artifact as base64, or the tombstone of an erased artifact.
func (o *opener) artifact(r *row, i uint32, bytes *base64Reader) {
	// An artifact is a string; an object in its place is a tombstone.
	if o.peek() == '{' {
		o.readTombstone(r, i)
		return
	}
	p := element{at: o.at()}
	bytes.begin(o.scanner)
	got := bytes.summarize()
	if got.digest != o.ref {
		o.fail(fault.BundleIntegrityFailed, p.at, "the bytes have the digest %s, unlike their name",
			canon.DigestOf(got.digest))
	}
	p.raw = o.at() - p.at
	// The padding is kept, from which Object computes the size without decoding.
	more := [...]mark{0, padOne, padTwo}[got.padding]
	o.embed(o.b.table(manifest.Artifact), r, i, p, got.chars+2, got.text, more)
}

// readTombstone reads {"erased":{…}}. The bytes no longer exist, so the name cannot be
// verified, but the tombstone must name the same digest.
func (o *opener) readTombstone(r *row, i uint32) {
	p := o.element(limits.LineBytesMax, objectDepth, nil)
	if _, err := parseTombstone(p.line, canon.DigestOf(o.ref)); err != nil {
		o.refused(err, p.at)
	}
	o.embed(o.b.table(manifest.Artifact), r, i, p, int64(len(p.line)), sha256.Sum256(p.line), tombstone)
}

// tombstoneValue is the value in place of an erased artifact.
type tombstoneValue struct {
	Erased canon.Value `json:"erased"`
}

// parseTombstone returns the tombstone's data.
func parseTombstone(line []byte, ref canon.Digest) (canon.Value, error) {
	var v tombstoneValue
	if err := canon.Unmarshal(line, &v); err != nil {
		return canon.Value{}, err
	}
	if err := checkTombstone(v.Erased, ref); err != nil {
		return canon.Value{}, err
	}
	return v.Erased, nil
}

// checkTombstone refuses data that is not a tombstone of ref.
func checkTombstone(v canon.Value, ref canon.Digest) error {
	if v.Kind() != canon.Object {
		return &canon.ParseError{Pointer: "/erased", Reason: "want an object"}
	}
	// A store treats a tombstone without its digest as damage, so a bundle must not contain
	// one: an import would create a damaged store.
	if of, _ := v.Get("sha256"); of.Text() != ref.String() {
		return &canon.ParseError{Pointer: "/erased/sha256",
			Reason: "the tombstone does not name this artifact"}
	}
	return nil
}
