package bundle

import (
	"crypto/sha256"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
)

// objectDepth is how many levels an object may nest: document, session and the map
// of its kind are around it.
const objectDepth = limits.JSONDepthMax - 3

// objects reads the map of a kind. Each value must have the digest that it is
// stored under.
func (o *opener) objects(t *table) error {
	var bytes unpacker
	return o.refs(func() error {
		r, i := t.get(o.ref)
		if r.is(embedded) {
			return o.fail(fault.BundleInvalidFormat, o.nameAt, "duplicate member")
		}
		if t.kind == manifest.Artifact {
			return o.artifact(r, i, &bytes)
		}
		p, err := o.element(objectBytesMax(t.kind), objectDepth, nil)
		if err != nil {
			return err
		}
		if sum := sha256.Sum256(p.line); sum != o.ref {
			return o.fail(fault.BundleIntegrityFailed, p.at, "the value has the digest %s, which is not its name,",
				canon.DigestOf(sum))
		}
		return o.embed(t, r, i, p, int64(len(p.line)), o.ref, 0)
	})
}

// embed notes where a value lies, and compares it with its entry if that came first.
func (o *opener) embed(t *table, r *row, i uint32, p piece, bytes int64, sum reference, more mark) error {
	if r.is(listed) && (int64(r.bytes) != bytes || t.kind == manifest.Artifact && t.sums[i] != sum) {
		return o.differs(t, r, p.at, bytes)
	}
	if t.kind == manifest.Artifact {
		t.sums[i] = sum
	}
	if p.same {
		more |= same
	}
	r.at, r.raw, r.bytes = uint32(p.at), uint32(p.raw), uint32(bytes)
	r.marks = r.marks&^byRecord | embedded | more
	return nil
}

// differs is an object whose bytes are not those that integrity states.
func (o *opener) differs(t *table, r *row, at, bytes int64) error {
	return failAt(fault.BundleIntegrityFailed, objectPointer(t.kind, r.ref), at,
		"the value has %d bytes of JCS, or another digest, than integrity states for %s", bytes,
		objectPath(t.kind, r.ref))
}

func objectPath(kind manifest.ObjectKind, ref reference) string {
	return "session/" + sectionOf(kind) + "/" + canon.DigestOf(ref).String()
}

func objectPointer(kind manifest.ObjectKind, ref reference) string {
	return "/" + objectPath(kind, ref)
}

// artifact reads base64, or what is left of bytes that were erased.
func (o *opener) artifact(r *row, i uint32, bytes *unpacker) error {
	c, err := o.peek()
	if err != nil {
		return err
	}
	if c == '{' {
		return o.erased(r, i)
	}
	at := o.at()
	if err := bytes.begin(o.scanner); err != nil {
		return err
	}
	got, err := bytes.all()
	if err != nil {
		return err
	}
	if got.digest != o.ref {
		return o.fail(fault.BundleIntegrityFailed, at, "the bytes have the digest %s, which is not their name,",
			canon.DigestOf(got.digest))
	}
	p := piece{at: at, raw: o.at() - at}
	more := [...]mark{0, padOne, padTwo}[got.padding]
	return o.embed(o.b.artifacts, r, i, p, got.chars+2, got.text, more)
}

// erased reads a tombstone: {"erased":{…}}. Its bytes are gone, so its name is
// believed; but it must not be another one's.
func (o *opener) erased(r *row, i uint32) error {
	p, err := o.element(limits.LineBytesMax, objectDepth, nil)
	if err != nil {
		return err
	}
	if _, err := parseTombstone(p.line, canon.DigestOf(o.ref)); err != nil {
		return o.refused(err, p.at)
	}
	return o.embed(o.b.artifacts, r, i, p, int64(len(p.line)), sha256.Sum256(p.line), tombstone)
}

// erased is what stands in the place of an artifact whose bytes are gone.
type erasedValue struct {
	Erased canon.Value `json:"erased"`
}

func parseTombstone(line []byte, ref canon.Digest) (canon.Value, error) {
	var v erasedValue
	if err := canon.Unmarshal(line, &v); err != nil {
		return canon.Value{}, err
	}
	if err := checkTombstone(v.Erased, ref); err != nil {
		return canon.Value{}, err
	}
	return v.Erased, nil
}

// checkTombstone refuses what is no tombstone of ref.
func checkTombstone(v canon.Value, ref canon.Digest) error {
	if v.Kind() != canon.Object {
		return &canon.ParseError{Pointer: "/erased", Reason: "want an object"}
	}
	// A store refuses a tombstone that does not say of what it is: so does a bundle, or an
	// import would make a store that is damaged from its first day.
	if of, _ := v.Get("sha256"); of.Text() != ref.String() {
		return &canon.ParseError{Pointer: "/erased/sha256",
			Reason: "the tombstone is of another artifact, or says of none"}
	}
	return nil
}
