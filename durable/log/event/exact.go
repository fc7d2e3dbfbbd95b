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
		if !e.Actor.ReadExact(x) || e.Actor.Check() != nil || !x.Literal(",") {
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
	key, ok = t.readEnvelope(x, &e, &spec)
	return e, key, ok && x.Done()
}

// readEnvelope reads the members behind data.
func (t *Table) readEnvelope(x *canon.Exact, e *Event, spec *Spec) (key string, ok bool) {
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
	if have, ok := member(x, `,"kind":`); !ok || have != spec.kind || spec.ignorable && !e.Ignorable {
		return "", false
	}
	if x.Literal(`,"scope":`) && (!e.Scope.ReadExact(x) || e.Scope.IsZero()) {
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

// kindAtEnd returns the kind of an event, by searching for the last member of that name: the kind
// follows the data, and is needed to decode the data. The result is a guess that readEnvelope
// verifies.
func kindAtEnd(text string) string {
	for at := len(text) - len(kindMember); at >= 0; at-- { // strings.LastIndex is slower
		if text[at] == ',' && text[at:at+len(kindMember)] == kindMember {
			kind, _, _ := strings.Cut(text[at+len(kindMember):], `"`)
			return kind
		}
	}
	return ""
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

// ReadExact implements canon.ExactReader. Attempts with other members are read by their type.
func (a *AdvanceRecorded) ReadExact(x *canon.Exact) bool {
	from := x.Pos()
	return a.readAdvanced(x) || x.Members(from, a, dataDepth)
}

// readAdvanced reads an accepted attempt with the members that most have.
func (a *AdvanceRecorded) readAdvanced(x *canon.Exact) bool {
	a.Outcome.ToNodeID = new(id.Node)
	return x.Literal(`{"attemptId":`) && x.ID(&a.AttemptID) && x.Literal(`,"intent":`) && word(x, &a.Intent) &&
		x.Literal(`,"outcome":{"kind":`) && word(x, &a.Outcome.Kind) && x.Literal(`,"toNodeId":`) && x.ID(a.Outcome.ToNodeID) &&
		x.Literal(`},"requestDigest":`) && x.ID(&a.RequestDigest) && x.Literal("}")
}

// ReadExact implements canon.ExactReader.
func (c *ContextSet) ReadExact(x *canon.Exact) bool {
	if !x.Literal(`{"context":`) || !x.Value(&c.Context, dataDepth+1) || !x.Literal(`,"contextId":`) || !x.ID(&c.ContextID) {
		return false
	}
	if x.Literal(`,"nodeId":`) {
		if c.NodeID = new(id.Node); !x.ID(c.NodeID) {
			return false
		}
	}
	return x.Literal(`,"source":`) && word(x, &c.Source) && x.Literal("}")
}

// ReadExact implements canon.ExactReader. Traces with other references than to steps are read by their type.
func (d *DecisionTraceAppended) ReadExact(x *canon.Exact) bool {
	from := x.Pos()
	return d.readSteps(x) || x.Members(from, d, dataDepth)
}

// readSteps reads a trace whose entries refer to steps.
func (d *DecisionTraceAppended) readSteps(x *canon.Exact) bool {
	for opening := `{"entries":[{"kind":`; x.Literal(opening); opening = `,{"kind":` {
		var e TraceEntry
		if !word(x, &e.Kind) {
			return false
		}
		if x.Literal(`,"refs":[{"kind":`) {
			for more := true; more; more = x.Literal(`,{"kind":`) {
				var ref TraceRef
				if !word(x, &ref.Kind) || !x.Literal(`,"stepId":`) || !word(x, &ref.StepID) || ref.StepID == "" || !x.Literal("}") {
					return false
				}
				e.Refs = append(e.Refs, ref)
			}
			if !x.Literal("]") {
				return false
			}
		}
		if !x.Literal(`,"summary":`) || !word(x, &e.Summary) || !x.Literal("}") {
			return false
		}
		d.Entries = append(d.Entries, e)
	}
	return x.Literal(`],"traceId":`) && x.ID(&d.TraceID) && x.Literal("}")
}

// ReadExact implements canon.ExactReader. Decisions, and outputs that supersede others, are read by their type.
func (o *NodeOutputAppended) ReadExact(x *canon.Exact) bool {
	from := x.Pos()
	return x.Literal(`{"outputChannel":`) && word(x, &o.OutputChannel) && x.Literal(`,"outputId":`) && x.ID(&o.OutputID) &&
		x.Literal(`,"payload":{`) && o.Payload.readMembers(x) && x.Literal("}") || x.Members(from, o, dataDepth)
}

// readMembers reads what follows the opening brace.
func (p *OutputPayload) readMembers(x *canon.Exact) (ok bool) {
	if x.Literal(`"artifactKind":`) && (!word(x, &p.ArtifactKind) || p.ArtifactKind == "" || !x.Literal(",")) {
		return false
	}
	if x.Literal(`"byteLength":`) {
		if p.ByteLength, ok = x.Integer(); !ok || p.ByteLength == 0 || !x.Literal(",") {
			return false
		}
	}
	if x.Literal(`"contentType":`) && (!word(x, &p.ContentType) || p.ContentType == "" || !x.Literal(",")) ||
		x.Literal(`"notesMarkdown":`) && (!word(x, &p.NotesMarkdown) || p.NotesMarkdown == "" || !x.Literal(",")) {
		return false
	}
	return x.Literal(`"payloadKind":`) && word(x, &p.PayloadKind) && (!x.Literal(`,"sha256":`) || x.ID(&p.SHA256)) && x.Literal("}")
}

// word reads a string, such as a word of a closed set, which Check checks.
func word[W ~string](x *canon.Exact, into *W) bool {
	s, ok := x.Text()
	*into = W(s)
	return ok
}
