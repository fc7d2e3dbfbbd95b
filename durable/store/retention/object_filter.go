package retention

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Object is a stored object.
type Object struct {
	Kind   manifest.ObjectKind
	Ref    canon.Digest
	Bytes  int64
	Erased bool // its tombstone exists: the bytes are removed even if a log refers to them
}

// ObjectFilter finds the stored objects to which no log refers. It starts with all objects, and drops
// those whose digest occurs in a log. An object that is stored while the logs are read is not in
// it, and therefore never removed.
//
// Any digest in any text keeps the objects with it, of every kind: the snapshots that manifests
// pin, the objects of events, and digests in side logs and events that this version cannot
// decode.
type ObjectFilter struct{ objects *Objects }

// NewObjectFilter returns an ObjectFilter with all stored objects.
func NewObjectFilter(objects *Objects) *ObjectFilter { return &ObjectFilter{objects} }

// MarkReferenced drops the objects whose digests occur in text. It keeps erased ones: their bytes are removed even if
// a log refers to them.
func (s *ObjectFilter) MarkReferenced(text []byte) {
	EachDigest(text, func(raw [sha256.Size]byte) {
		first, end := s.objects.Find(raw)
		for i := first; i < end; i++ {
			o := &s.objects.list[i]
			o.named = o.named || !o.erased
		}
	})
}

// Unreferenced returns the objects that are not dropped, in the order of their digests.
func (s *ObjectFilter) Unreferenced() []Object { return s.pick(s.objects.Len(), false) }

// TakeUnreferenced returns at most that many of the objects of Unreferenced, and drops them.
func (s *ObjectFilter) TakeUnreferenced(most int) []Object { return s.pick(most, true) }

// pick returns at most that many objects, and drops them if gone is true.
func (s *ObjectFilter) pick(most int, gone bool) (out []Object) {
	for i := range s.objects.list {
		o := &s.objects.list[i]
		if len(out) < most && !o.named {
			out = append(out, s.objects.At(i))
			o.named = gone
		}
	}
	return out
}

// prefix is the common beginning of digests in logs (sha256:) and in file names (sha256_).
const prefix = "sha256"

// EachDigest calls found for every digest in text, in the form of logs or of file names. It reports
// some texts that are not digests, such as longer runs of digits, which only keeps an object
// longer.
func EachDigest(text []byte, found func(raw [sha256.Size]byte)) {
	const length = 2 * sha256.Size
	for {
		at := bytes.Index(text, []byte(prefix))
		if at < 0 || len(text) < at+len(prefix)+1+length {
			return
		}
		text = text[at+len(prefix):]
		if text[0] != ':' && text[0] != '_' {
			continue
		}
		var raw [sha256.Size]byte
		if _, err := hex.Decode(raw[:], text[1:1+length]); err == nil {
			found(raw)
		}
	}
}
