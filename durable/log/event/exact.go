package event

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
)

// dataDepth is how many objects enclose the members of an envelope.
const dataDepth = 1

// decodeExact decodes a canonical line of this table in one pass: its members in order, each as
// appendEnvelope writes it. false: fall back to decodeAny, which decides whether the line is a
// foreign event or not an event.
func (t *Table) decodeExact(line []byte) (e Event, ok bool) {
	e, key, ok := t.readExact(string(line))
	return e, ok && t.specs[e.Data.Kind()].scope.check(e.Scope) == nil && e.Data.Check(e.Scope) == nil &&
		key == e.DedupeKey() && checkDedupeKey(key) == nil
}

// readExact reads the members of a canonical line, without the checks of what they say. key is the dedupe key.
// The event shares memory with the text.
func (t *Table) readExact(text string) (e Event, key string, ok bool) {
	spec, known := t.specs[kindAtEnd(text)]
	x := canon.ExactText(text)
	if !known || !x.Literal("{") {
		return e, "", false
	}
	if x.Literal(`"actor":`) {
		if !x.Into(&e.Actor, dataDepth) || e.Actor.Check() != nil || !x.Literal(",") {
			return e, "", false
		}
	}
	if !x.Literal(`"data":`) {
		return e, "", false
	}
	from := x.Pos()
	if e.Data, ok = spec.exact(x); !ok || x.Pos()-from > limits.PayloadBytesMax {
		return e, "", false
	}
	key, ok = t.readEnvelope(x, &e, spec.kind)
	return e, key, ok && x.Done()
}

// readEnvelope reads the members behind data.
func (t *Table) readEnvelope(x *canon.Exact, e *Event, kind string) (key string, ok bool) {
	if key, ok = member(x, `,"dedupeKey":`); !ok {
		return "", false
	}
	eventID, ok := member(x, `,"eventId":`)
	if !ok || e.ID.UnmarshalString(eventID) != nil || !x.Literal(`,"eventIndex":`) {
		return "", false
	}
	if e.Index, ok = x.Integer(); !ok || e.Index < 0 {
		return "", false
	}
	e.Ignorable = x.Literal(`,"ignorable":true`)
	if have, ok := member(x, `,"kind":`); !ok || have != kind || t.specs[kind].ignorable && !e.Ignorable {
		return "", false
	}
	if x.Literal(`,"scope":`) && (!x.Into(&e.Scope, dataDepth) || e.Scope.IsZero()) {
		return "", false
	}
	if !x.Literal(`,"`) || !x.Literal(t.OwnerField) {
		return "", false
	}
	if e.Owner, ok = member(x, `":`); !ok || e.Owner == "" {
		return "", false
	}
	if x.Literal(`,"timestampMs":`) {
		if e.TimestampMs, ok = x.Integer(); !ok || e.TimestampMs == 0 {
			return "", false
		}
	}
	return key, x.Literal(`,"v":1}`)
}

// member reads the member name with a string value without escapes.
func member(x *canon.Exact, name string) (string, bool) {
	if !x.Literal(name) {
		return "", false
	}
	return x.Plain()
}

const kindMember = `,"kind":"`

// envelopeEnd is how many bytes of most lines follow the data: the kind is among them.
const envelopeEnd = 512

// kindAtEnd returns the kind of an event, by searching for the last member of that name: the kind
// follows the data, and is needed to decode the data. The result is a guess that readEnvelope
// verifies.
func kindAtEnd(text string) string {
	end := text[max(0, len(text)-envelopeEnd):]
	at := strings.Index(end, kindMember) // faster than from the end
	for next := at; next >= 0; at += max(next, 0) {
		if next = strings.Index(end[at+1:], kindMember); next >= 0 {
			next++
		}
	}
	if at < 0 {
		end, at = text, strings.LastIndex(text, kindMember)
	}
	if at < 0 {
		return ""
	}
	kind, _, _ := strings.Cut(end[at+len(kindMember):], `"`)
	return kind
}

// ReadExact implements canon.ExactReader.
func (a *Actor) ReadExact(x *canon.Exact) (ok bool) {
	if !x.Literal(`{"kind":`) || !word(x, &a.Kind) {
		return false
	}
	if x.Literal(`,"ref":`) {
		if a.Ref, ok = x.Text(); !ok || a.Ref == "" {
			return false
		}
	}
	return x.Literal("}")
}

// ReadExact implements canon.ExactReader.
func (s *Scope) ReadExact(x *canon.Exact) bool {
	if x.Literal(`{"nodeId":`) {
		return x.ID(&s.NodeID) && (x.Literal("}") || x.Literal(`,"runId":`) && x.ID(&s.RunID) && x.Literal("}"))
	}
	return x.Literal(`{"runId":`) && x.ID(&s.RunID) && x.Literal("}") // the zero Scope is not written
}

// ReadExact implements canon.ExactReader.
func (n *NodeCreated) ReadExact(x *canon.Exact) bool {
	if !x.Literal(`{"nodeKind":`) || !word(x, &n.NodeKind) || !x.Literal(`,"parentNodeId":`) {
		return false
	}
	if n.ParentNodeID = nil; !x.Literal("null") {
		if n.ParentNodeID = new(id.Node); !x.ID(n.ParentNodeID) {
			return false
		}
	}
	return x.Literal(`,"snapshotRef":`) && x.ID(&n.SnapshotRef) && x.Literal(`,"workflowHash":`) && x.ID(&n.WorkflowHash) &&
		x.Literal("}")
}

// ReadExact implements canon.ExactReader.
func (e *EdgeCreated) ReadExact(x *canon.Exact) bool {
	return x.Literal(`{"cause":{"eventId":`) && x.ID(&e.Cause.EventID) && x.Literal(`,"kind":`) && word(x, &e.Cause.Kind) &&
		x.Literal(`},"edgeKind":`) && word(x, &e.EdgeKind) && x.Literal(`,"fromNodeId":`) && x.ID(&e.FromNodeID) &&
		x.Literal(`,"toNodeId":`) && x.ID(&e.ToNodeID) && x.Literal("}")
}

// word reads a word of a closed set, which Check checks.
func word[W ~string](x *canon.Exact, into *W) bool {
	s, ok := x.Text()
	*into = W(s)
	return ok
}
