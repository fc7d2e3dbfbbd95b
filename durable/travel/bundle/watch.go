package bundle

import "encoding/hex"

// slot is where a watched member is noted.
type slot uint8

// The members of events, manifest records and integrity entries that are looked
// at; everything else in them is only hashed.
const (
	ignored slot = iota
	kindSlot
	indexSlot // eventIndex of an event, manifestIndex of a record
	ownerSlot
	refSlot          // snapshotRef
	workflowSlot     // workflowHash
	payloadKindSlot  // data.payload.payloadKind
	payloadRefSlot   // data.payload.sha256
	firstSlot        // firstEventIndex
	lastSlot         // lastEventIndex
	relPathSlot      // segmentRelPath
	createdIndexSlot // eventIndex of a record
	pathSlot
	sumSlot
	bytesSlot
	slots
)

// watch is a member by its name, and what to look at inside.
type watch struct {
	name string
	slot slot
	in   []watch
}

// find is the watched member of this name, nil where none is. Objects inside each
// other share the slot ignored, of which nothing is read.
func (w *watch) find(name []byte) *watch {
	if w == nil {
		return nil
	}
	for i := range w.in {
		if string(name) == w.in[i].name {
			return &w.in[i]
		}
	}
	return nil
}

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

var entryWatch = &watch{in: []watch{
	{name: "path", slot: pathSlot},
	{name: "sha256", slot: sumSlot},
	{name: "bytes", slot: bytesSlot},
}}

// raw is a watched member as it is spelled, nil where it is not there.
func (s *spelling) raw(at slot) []byte {
	where := s.spans[at]
	return s.b[where.from:where.to]
}

// string is the text of a watched member between its quotes; ok is false for
// anything but a string. Escapes stay: no word that is looked for has any.
func (s *spelling) string(at slot) (text []byte, ok bool) {
	raw := s.raw(at)
	if len(raw) < 2 || raw[0] != '"' {
		return nil, false
	}
	return raw[1 : len(raw)-1], true
}

// is reports a watched member that is this word.
func (s *spelling) is(at slot, word string) bool {
	text, ok := s.string(at)
	return ok && string(text) == word
}

// count is a watched member that is a whole number of 0 or more.
func (s *spelling) count(at slot) (n int64, ok bool) {
	raw := s.raw(at)
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

// reference is a SHA-256 without its prefix: objects are many, and kept by it.
type reference [32]byte

const referencePrefix = "sha256:"

// parseReference reads the one spelling of a digest.
func parseReference(text []byte) (ref reference, ok bool) {
	if len(text) != len(referencePrefix)+2*len(ref) || string(text[:len(referencePrefix)]) != referencePrefix {
		return ref, false
	}
	digits := text[len(referencePrefix):]
	for _, c := range digits {
		if c >= 'A' && c <= 'F' {
			return ref, false
		}
	}
	_, err := hex.Decode(ref[:], digits)
	return ref, err == nil
}
