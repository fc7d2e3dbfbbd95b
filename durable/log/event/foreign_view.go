package event

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
)

// ForeignView is the readable part of an event that this version cannot write
// (docs/design.md#foreign-stores). It is not a Payload, so it cannot be written; the payload in it
// has lost the record's own id, without which it cannot be encoded.
type ForeignView struct {
	// Known is the data as a payload of the table, nil where it is of no kind of the table. Words
	// that readers branch on are of their closed sets; budgets are not checked.
	Known Payload
	// ID is the record's own id as it is spelled, in any form. Refers is the id of the gap that is
	// resolved or of the output that is superseded.
	ID, Refers string
	// Data is the whole data, Null where the event has none.
	Data canon.Value
}

// ViewForeign returns the readable part of an event whose data is Unknown. ok is false for every other
// event, whose Data is complete. The result may be displayed. A fold that includes it must not be
// used to append to the log, since other readers may ignore the event.
func (t *Table) ViewForeign(e Event) (g ForeignView, ok bool) {
	if _, unknown := e.Data.(Unknown); !unknown || !e.Foreign() {
		return g, false
	}
	v, err := canon.Parse(e.read.line)
	if err != nil {
		return g, false
	}
	if g.Data, _ = v.Get("data"); g.Data.Kind() != canon.Object {
		return g, true
	}
	spec, known := t.specs[e.Data.Kind()]
	if !known || spec.scope.check(e.Scope) != nil {
		return g, true
	}
	p, err := spec.decode(replaceRecordIDs(g.Data), canon.DecodeKnown)
	if err != nil || !displayable(p, e.Scope) {
		return g, true
	}
	g.Known = clearRecordIDs(withKind(p, g.Data))
	g.ID, g.Refers = idTexts(e.Data.Kind(), g.Data)
	return g, true
}

// recordIDs maps the members of data that are ids of records to the prefix of Waybill's ids.
// Other programs make such ids in other forms. Ids of runs, nodes and sessions are not in the
// map: an event with another form of those cannot be placed in a run.
var recordIDs = map[string]string{
	"attemptId": "attempt", "changeId": "chg", "contextId": "ctx", "outputId": "out", "supersedesOutputId": "out",
	"gapId":         "gap",
	"resolvesGapId": "gap", "traceId": "trace", "capObsId": "capobs", "divergenceId": "div", "eventId": "evt",
}

// IsRecordID reports the name of a member of data that is the id of a record, in any form.
func IsRecordID(name string) bool { return recordIDs[name] != "" }

// zeroIDSuffix is the id text of 16 zero bytes. It replaces ids of other forms only until
// clearRecordIDs removes it.
var zeroIDSuffix = "_" + strings.Repeat("a", 26)

// replaceRecordIDs returns data with its record ids replaced by zeroIDSuffix, so that the rest
// can be decoded.
func replaceRecordIDs(v canon.Value) canon.Value {
	switch v.Kind() {
	case canon.Array:
		items := make([]canon.Value, v.Len())
		for i := range items {
			items[i] = replaceRecordIDs(v.Item(i))
		}
		return canon.OfList(items...)
	case canon.Object:
		members := make([]canon.Member, v.Len())
		for i := range members {
			m := canon.Member{Name: v.Key(i), Value: v.Item(i)}
			switch prefix := recordIDs[m.Name]; {
			case prefix != "" && m.Value.Text() != "":
				m.Value = canon.OfString(prefix + zeroIDSuffix)
			case m.Name != "context": // submitted by a caller: its members may have these names
				m.Value = replaceRecordIDs(m.Value)
			}
			members[i] = m
		}
		return canon.OfMembers(members...)
	}
	return v
}

// clearRecordIDs returns p without the replaced ids. The zero id cannot be encoded, so the result
// cannot be written by mistake.
func clearRecordIDs(p Payload) Payload {
	switch p := p.(type) {
	case AdvanceRecorded:
		p.AttemptID = id.Attempt{}
		return p
	case ContextSet:
		p.ContextID = id.Context{}
		return p
	case PreferencesChanged:
		p.ChangeID = id.Change{}
		return p
	case NodeOutputAppended:
		p.OutputID, p.SupersedesOutputID = id.Output{}, nil
		return p
	case GapRecorded:
		p.GapID, p.Resolution.ResolvesGapID, p.EvidenceRefs = id.Gap{}, nil, nil
		return p
	case DecisionTraceAppended:
		p.TraceID = id.Trace{}
		return p
	case CapabilityObserved:
		p.CapObsID = id.CapObs{}
		return p
	case DivergenceRecorded:
		p.DivergenceID = id.Divergence{}
		return p
	case EdgeCreated:
		p.Cause.EventID = id.Event{}
		return p
	}
	return p
}

// withKind sets the artifact kind of an output whose artifact is stored inside the event, as other
// programs do for small ones.
func withKind(p Payload, data canon.Value) Payload {
	if o, ok := p.(NodeOutputAppended); ok && o.Payload.ArtifactKind == "" {
		payload, _ := data.Get("payload")
		content, _ := payload.Get("content")
		kind, _ := content.Get("kind")
		o.Payload.ArtifactKind = kind.Text()
		return o
	}
	return p
}

// idTexts returns the ids that a fold needs to match records: ForeignView.ID and ForeignView.Refers.
func idTexts(kind string, data canon.Value) (own, refers string) {
	text := func(v canon.Value, name string) string {
		member, _ := v.Get(name)
		return member.Text()
	}
	switch kind {
	case NodeOutputAppended{}.Kind():
		return text(data, "outputId"), text(data, "supersedesOutputId")
	case GapRecorded{}.Kind():
		resolution, _ := data.Get("resolution")
		return text(data, "gapId"), text(resolution, "resolvesGapId")
	}
	return "", ""
}

// displayable is a weaker Check: it accepts texts that exceed their budgets, since they can be
// displayed. Words that readers branch on must be of their closed sets.
func displayable(p Payload, s Scope) bool {
	switch p := p.(type) {
	case AdvanceRecorded:
		return p.Outcome.Kind == Advanced && p.Outcome.ToNodeID != nil || p.Outcome.Kind == Blocked &&
			p.Outcome.Blockers != nil
	case ContextSet:
		return p.Context.Kind() == canon.Object
	case NodeCreated:
		// A node of an unknown kind still is a node of the run.
		return p.NodeKind != "" && (p.ParentNodeID == nil || *p.ParentNodeID != s.NodeID)
	case NodeOutputAppended:
		return p.OutputChannel == Recap && p.Payload.PayloadKind == Notes || p.OutputChannel == Artifact &&
			p.Payload.PayloadKind == ArtifactRef
	case GapRecorded:
		return slices.Contains([]Severity{Info, Warning, Critical}, p.Severity) &&
			(p.Resolution.Kind == Unresolved || p.Resolution.Kind == Resolves)
	case PreferencesChanged:
		return p.Effective.Check() == nil
	case RunStarted:
		return p.WorkflowID != ""
	case DecisionTraceAppended, DivergenceRecorded:
		return true
	}
	return p.Check(s) == nil
}
