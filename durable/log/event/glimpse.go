package event

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
)

// Glimpse is what a reader makes of an event that this version cannot write (R14).
// It is no Payload: nothing that writes takes one, and what it holds of a known kind
// has lost the record's own id, without which it cannot be encoded.
type Glimpse struct {
	// Known is the data as far as it is of a kind of the table, nil where it is not: the
	// words that decide something are of their closed sets, budgets are not asked.
	Known Payload
	// ID is the record's own id as it was spelled, whatever its shape; Refers is that of
	// the gap that is resolved or the output that is superseded.
	ID, Refers string
	// Data is all of the data, Null where there is none.
	Data canon.Value
}

// Glimpse reads of an event whose data is Unknown what can be told of it. ok is false
// for every other event: its data says all. What was read this way may be shown; to
// fold it is safe only where nobody goes on from the fold, since an event may say that
// a reader is free to pass over it.
func (t *Table) Glimpse(e Event) (g Glimpse, ok bool) {
	if _, unknown := e.Data.(Unknown); !unknown || e.verbatim == nil {
		return g, false
	}
	v, err := canon.Parse(e.verbatim)
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
	p, err := spec.known(standIns(g.Data))
	if err != nil || !tellable(p, e.Scope) {
		return g, true
	}
	g.Known = anonymous(withKind(p, g.Data))
	g.ID, g.Refers = idTexts(e.Data.Kind(), g.Data)
	return g, true
}

// recordIDs are the members of data that name a record, with the prefix of our own
// ids. Other programs make such ids by other recipes. Ids of runs, nodes and sessions
// are not among them: one of another shape leads nowhere.
var recordIDs = map[string]string{
	"attemptId": "attempt", "changeId": "chg", "contextId": "ctx", "outputId": "out", "supersedesOutputId": "out",
	"gapId":         "gap",
	"resolvesGapId": "gap", "traceId": "trace", "capObsId": "capobs", "divergenceId": "div", "eventId": "evt",
}

// noID is the text of 16 zero bytes in the spelling of an id. It stands for what was
// spelled otherwise only until anonymous takes it out.
var noID = "_" + strings.Repeat("a", 26)

// standIns is data whose record ids have our shape, so that the rest of it can be read.
func standIns(v canon.Value) canon.Value {
	switch v.Kind() {
	case canon.Array:
		items := make([]canon.Value, v.Len())
		for i := range items {
			items[i] = standIns(v.Item(i))
		}
		return canon.OfList(items...)
	case canon.Object:
		members := make([]canon.Member, v.Len())
		for i := range members {
			m := canon.Member{Name: v.Key(i), Value: v.Item(i)}
			switch prefix := recordIDs[m.Name]; {
			case prefix != "" && m.Value.Text() != "":
				m.Value = canon.OfString(prefix + noID)
			case m.Name != "context": // a caller's own; its members may be called anything
				m.Value = standIns(m.Value)
			}
			members[i] = m
		}
		return canon.OfMembers(members...)
	}
	return v
}

// anonymous is p without the ids that stood in. The zero id refuses to be encoded.
func anonymous(p Payload) Payload {
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

// withKind finds the kind of an artifact that stands in the event itself, where other
// programs keep small ones.
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

// idTexts finds the ids that a fold needs in order to match records.
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

// tellable asks less than Check: a text over its budget can be told as well as one
// within it. What a reader would take for something else must be of its closed set.
func tellable(p Payload, s Scope) bool {
	switch p := p.(type) {
	case AdvanceRecorded:
		return p.Outcome.Kind == Advanced && p.Outcome.ToNodeID != nil || p.Outcome.Kind == Blocked &&
			p.Outcome.Blockers != nil
	case ContextSet:
		return p.Context.Kind() == canon.Object
	case NodeCreated:
		// A kind of node that we do not have is a place in the run all the same.
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
