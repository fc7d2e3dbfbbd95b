package redact

import (
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/canon"
)

// Finding is the place of a secret in a document, and the rule that found it. It holds nothing of
// the secret.
type Finding struct {
	Pointer string `json:"pointer"` // RFC 6901, "" for the whole document
	Rule    Rule   `json:"rule"`
}

// Findings collects the places of secrets, the first 1,000. Each pair of pointer and rule is in it once, in
// the order of the document. Its zero value is empty and ready for use.
type Findings struct {
	list []Finding
	seen map[Finding]bool
}

// List returns the findings, not nil, so that JSON shows an empty list.
func (f *Findings) List() []Finding {
	if f == nil || f.list == nil {
		return []Finding{}
	}
	return slices.Clone(f.list)
}

// Text redacts s like the function Text, and records its secrets at a pointer.
func (f *Findings) Text(pointer, s string) string {
	counts := Counts{}
	out := Text(s, counts)
	f.record(&place{base: pointer}, counts)
	return out
}

// Value redacts v like the function Value, and records its secrets at pointers below pointer. The
// pointer of a member whose name holds a secret contains the redacted name.
func (f *Findings) Value(pointer string, v canon.Value) canon.Value {
	return walk{found: f}.value(v, &place{base: pointer}, false)
}

// Bytes records the secrets of an artifact, at pointers below pointer where it is JSON. The bytes
// are only read.
func (f *Findings) Bytes(pointer string, b []byte, contentType string) {
	if v, err := canon.Parse(b); err == nil && jsonType.MatchString(essence(contentType)) {
		f.Value(pointer, v)
		return
	}
	counts := Counts{}
	Bytes(b, contentType, counts)
	f.record(&place{base: pointer}, counts)
}

// findingsMax bounds the findings that are kept: an answer lists far fewer.
const findingsMax = 1000

// record appends the rules that were counted at a place.
func (f *Findings) record(at *place, counts Counts) {
	for _, rule := range slices.Sorted(maps.Keys(counts)) {
		if len(f.list) == findingsMax {
			return
		}
		one := Finding{Pointer: at.pointer(), Rule: Rule(rule)}
		if f.seen == nil {
			f.seen = map[Finding]bool{}
		}
		if !f.seen[one] {
			f.seen[one] = true
			f.list = append(f.list, one)
		}
	}
}
