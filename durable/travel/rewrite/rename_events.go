package rewrite

import (
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// rename rewrites one event except its references to other events: those of its own segment
// have no new ids yet.
func (s *renamedSegment) rename(e event.Event) event.Event {
	oldID := e.ID
	e.Owner = s.to.String()
	if !e.Scope.RunID.IsZero() {
		e.Scope.RunID = s.run(e.Scope.RunID)
	}
	if !e.Scope.NodeID.IsZero() {
		e.Scope.NodeID = s.node(e.Scope.NodeID)
	}
	e.Data = s.facts.in(s.payload(e.Data))
	e.ID = id.EventOf(e.Owner, e.DedupeKey())
	s.events.set(oldID, e.ID)
	return e
}

// payload replaces every id of the session in a payload. Kinds that are not listed contain
// none.
func (s *renamedSegment) payload(data event.Payload) event.Payload {
	switch p := data.(type) {
	case event.SessionCreated:
		// The latest import: it identifies the origin of the new ids.
		p.ImportedFrom = &event.ImportedFrom{StoreID: s.store, SessionID: s.Renaming.from, Head: s.head}
		return p
	case event.RunStarted:
		// Parents in other sessions keep their ids, as does the source of a fork.
		p.Parent = replaced(p.Parent, ifKnown(s.Run))
		return p
	case event.NodeCreated:
		p.ParentNodeID = replaced(p.ParentNodeID, s.node)
		return p
	case event.EdgeCreated:
		p.FromNodeID, p.ToNodeID = s.node(p.FromNodeID), s.node(p.ToNodeID)
		return p
	case event.AdvanceRecorded:
		p.AttemptID = renamed(s.Renaming, s.attempts, p.AttemptID)
		p.Outcome.ToNodeID = replaced(p.Outcome.ToNodeID, s.node)
		return p
	case event.ContextSet:
		p.ContextID = factID(s, p.ContextID, &s.contexts, id.Origin.Context)
		p.NodeID = replaced(p.NodeID, s.node)
		return p
	case event.PreferencesChanged:
		p.ChangeID = factID(s, p.ChangeID, &s.changes, id.Origin.Change)
		return p
	case event.NodeOutputAppended:
		p.OutputID = renamed(s.Renaming, s.Renaming.outputs, p.OutputID)
		return p
	case event.GapRecorded:
		p.GapID = renamed(s.Renaming, s.Renaming.gaps, p.GapID)
		return p
	case event.DecisionTraceAppended:
		p.TraceID = factID(s, p.TraceID, &s.traces, id.Origin.Trace)
		return p
	case event.CapabilityObserved:
		p.CapObsID = factID(s, p.CapObsID, &s.capObs, id.Origin.CapObs)
		return p
	case event.DivergenceRecorded:
		p.DivergenceID = factID(s, p.DivergenceID, &s.divergences, id.Origin.Divergence)
		return p
	}
	return data
}
