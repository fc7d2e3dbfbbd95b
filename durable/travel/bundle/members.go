package bundle

import (
	"encoding/hex"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
)

// The members of events, manifest records and integrity entries that are read, as the slots of a
// canon.Checker; all others are only hashed.
const (
	_ uint8 = iota // what encloses a member that is read
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
)

// eventWatch lists the members of events that a bundle's order and references depend on.
var eventWatch = &canon.Watch{In: []canon.Watch{
	{Name: "eventIndex", Slot: indexSlot},
	{Name: "kind", Slot: kindSlot},
	{Name: "sessionId", Slot: ownerSlot},
	{Name: "data", In: []canon.Watch{
		{Name: "snapshotRef", Slot: refSlot},
		{Name: "workflowHash", Slot: workflowSlot},
		{Name: "payload", In: []canon.Watch{
			{Name: "payloadKind", Slot: payloadKindSlot},
			{Name: "sha256", Slot: payloadRefSlot},
		}},
	}},
}}

// recordWatch does so for manifest records.
var recordWatch = &canon.Watch{In: []canon.Watch{
	{Name: "manifestIndex", Slot: indexSlot},
	{Name: "kind", Slot: kindSlot},
	{Name: "sessionId", Slot: ownerSlot},
	{Name: "firstEventIndex", Slot: firstSlot},
	{Name: "lastEventIndex", Slot: lastSlot},
	{Name: "segmentRelPath", Slot: relPathSlot},
	{Name: "bytes", Slot: bytesSlot},
	{Name: "snapshotRef", Slot: refSlot},
	{Name: "eventIndex", Slot: createdIndexSlot},
}}

// entryWatch does so for entries of integrity.
var entryWatch = &canon.Watch{In: []canon.Watch{
	{Name: "path", Slot: pathSlot},
	{Name: "sha256", Slot: sumSlot},
	{Name: "bytes", Slot: bytesSlot},
}}

// half is what events and manifest records differ in.
type half struct {
	watch   *canon.Watch
	follows func(*list, *parts) string // why the element just examined may not follow, "" if it may
	order   reason
}

var (
	eventHalf  = half{eventWatch, (*list).event, eventOrder}
	recordHalf = half{recordWatch, (*list).record, manifestOrder}
)

// parts checks elements, and reads the watched members of the last one.
type parts struct{ canon.Checker }

// string returns the text of a watched member between its quotes; ok is false for other
// values. Escapes are not resolved: the compared words contain none.
func (p *parts) string(at uint8) (text []byte, ok bool) {
	raw := p.Raw(at)
	if len(raw) < 2 || raw[0] != '"' {
		return nil, false
	}
	return raw[1 : len(raw)-1], true
}

// is reports whether a watched member is this string.
func (p *parts) is(at uint8, word string) bool {
	text, ok := p.string(at)
	return ok && string(text) == word
}

// wholeDigitsMax is the number of digits up to which every integer is exact as a double.
const wholeDigitsMax = 15

// count returns a watched member that is a non-negative integer. Longer numbers are not exact as
// doubles, and no index is that large.
func (p *parts) count(at uint8) (n int64, ok bool) {
	raw := p.Raw(at)
	if len(raw) > wholeDigitsMax {
		return 0, false
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil && n >= 0
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
