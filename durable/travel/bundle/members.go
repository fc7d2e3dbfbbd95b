package bundle

import "encoding/hex"

// slot is the storage position of a watched member.
type slot uint8

// The members of events, manifest records and integrity entries that are read; all others are
// only hashed.
const (
	ignored slot = iota
	// Members of both events and records.
	kindSlot
	indexSlot // eventIndex of an event, manifestIndex of a record
	ownerSlot
	// Members of an event or of a record.
	refSlot          // snapshotRef
	workflowSlot     // workflowHash
	payloadKindSlot  // data.payload.payloadKind
	payloadRefSlot   // data.payload.sha256
	firstSlot        // firstEventIndex
	lastSlot         // lastEventIndex
	relPathSlot      // segmentRelPath
	createdIndexSlot // eventIndex of a record
	// Members of an entry of integrity.
	pathSlot
	sumSlot
	bytesSlot
	// The number of slots.
	slots
)

// watch names a member to be located, and the members inside it.
type watch struct {
	name string
	slot slot
	in   []watch
}

// find returns the watched member of this name, nil if there is none. Enclosing objects have
// the slot ignored, which is never read.
func (w *watch) find(name []byte) *watch {
	if w == nil {
		return nil
	}
	for i := range w.in {
		// The lists are short; a map would allocate.
		if string(name) == w.in[i].name {
			return &w.in[i]
		}
	}
	return nil
}

// eventWatch lists the members of events that a bundle's order and references depend on.
var eventWatch = &watch{in: []watch{
	{name: "eventIndex", slot: indexSlot},
	{name: "kind", slot: kindSlot},
	{name: "sessionId", slot: ownerSlot},
	{name: "data", in: []watch{
		{name: "snapshotRef", slot: refSlot},
		{name: "workflowHash", slot: workflowSlot},
		{name: "payload", in: []watch{
			{name: "payloadKind", slot: payloadKindSlot},
			{name: "sha256", slot: payloadRefSlot},
		}},
	}},
}}

// recordWatch does so for manifest records.
var recordWatch = &watch{in: []watch{
	{name: "manifestIndex", slot: indexSlot},
	{name: "kind", slot: kindSlot},
	{name: "sessionId", slot: ownerSlot},
	{name: "firstEventIndex", slot: firstSlot},
	{name: "lastEventIndex", slot: lastSlot},
	{name: "segmentRelPath", slot: relPathSlot},
	{name: "snapshotRef", slot: refSlot},
	{name: "eventIndex", slot: createdIndexSlot},
}}

// entryWatch does so for entries of integrity.
var entryWatch = &watch{in: []watch{
	{name: "path", slot: pathSlot},
	{name: "sha256", slot: sumSlot},
	{name: "bytes", slot: bytesSlot},
}}

// raw returns the bytes of a watched member, nil if it is absent.
func (s *jcsChecker) raw(at slot) []byte {
	where := s.spans[at]
	return s.b[where.from:where.to]
}

// string returns the text of a watched member between its quotes; ok is false for other
// values. Escapes are not resolved: the compared words contain none.
func (s *jcsChecker) string(at slot) (text []byte, ok bool) {
	raw := s.raw(at)
	if len(raw) < 2 || raw[0] != '"' {
		return nil, false
	}
	return raw[1 : len(raw)-1], true
}

// is reports whether a watched member is this string.
func (s *jcsChecker) is(at slot, word string) bool {
	text, ok := s.string(at)
	return ok && string(text) == word
}

// count returns a watched member that is a non-negative integer.
func (s *jcsChecker) count(at slot) (n int64, ok bool) {
	raw := s.raw(at)
	// len(raw) > wholeDigitsMax { || Longer numbers are not exact as doubles, and no index is
	// that large.
	if len(raw) == 0 || len(raw) > wholeDigitsMax {
		return 0, false
	}
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, true
}

// reference is a SHA-256 digest without its prefix, to save memory: objects are many.
type reference [32]byte

// referencePrefix is the only algorithm that digests in a bundle have.
const referencePrefix = "sha256:"

// parseReference reads a digest in its only valid form.
func parseReference(text []byte) (ref reference, ok bool) {
	if len(text) != len(referencePrefix)+2*len(ref) || string(text[:len(referencePrefix)]) != referencePrefix {
		return ref, false
	}
	digits := text[len(referencePrefix):]
	for _, c := range digits {
		// hex.Decode accepts upper case.
		if c >= 'A' && c <= 'F' {
			return ref, false
		}
	}
	_, err := hex.Decode(ref[:], digits)
	return ref, err == nil
}
