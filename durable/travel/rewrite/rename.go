package rewrite

import (
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// rename is one event for the new session, but for the events that it names: those of
// its own segment have no new ids yet.
func (s *renamedSegment) rename(e event.Event) event.Event {
	was := e.ID
	e.Owner = s.to.String()
	if !e.Scope.RunID.IsZero() {
		e.Scope.RunID = s.run(e.Scope.RunID)
	}
	if !e.Scope.NodeID.IsZero() {
		e.Scope.NodeID = s.node(e.Scope.NodeID)
	}
	e.Data = s.payload(e.Data)
	e.ID = id.EventOf(e.Owner, e.DedupeKey())
	s.events.set(was, e.ID)
	return e
}

// payload follows every id of the session. A kind that is not listed has none.
func (s *renamedSegment) payload(data event.Payload) event.Payload {
	switch p := data.(type) {
	case event.SessionCreated:
		// The newest import: it says where these ids come from.
		p.ImportedFrom = &event.ImportedFrom{StoreID: s.store, SessionID: s.Renaming.from, Head: s.head}
		return p
	case event.RunStarted:
		return s.started(p)
	case event.NodeCreated:
		p.ParentNodeID = s.nodeAt(p.ParentNodeID)
		return p
	case event.EdgeCreated:
		p.FromNodeID, p.ToNodeID = s.node(p.FromNodeID), s.node(p.ToNodeID)
		return p
	case event.AdvanceRecorded:
		p.AttemptID = known(s.Renaming, s.attempts, p.AttemptID)
		p.Outcome.ToNodeID = s.nodeAt(p.Outcome.ToNodeID)
		return p
	case event.ContextSet:
		p.ContextID = fact(s, p.ContextID, &s.contexts, id.Origin.Context)
		p.NodeID = s.nodeAt(p.NodeID)
		return p
	case event.PreferencesChanged:
		p.ChangeID = fact(s, p.ChangeID, &s.changes, id.Origin.Change)
		return p
	case event.NodeOutputAppended:
		p.OutputID = known(s.Renaming, s.Renaming.outputs, p.OutputID)
		p.SupersedesOutputID = namedBy(s.Renaming, s.Renaming.outputs, p.SupersedesOutputID)
		return p
	case event.GapRecorded:
		return s.gap(p)
	case event.DecisionTraceAppended:
		p.TraceID = fact(s, p.TraceID, &s.traces, id.Origin.Trace)
		return p
	case event.CapabilityObserved:
		p.CapObsID = fact(s, p.CapObsID, &s.capObs, id.Origin.CapObs)
		return p
	case event.DivergenceRecorded:
		p.DivergenceID = fact(s, p.DivergenceID, &s.divergences, id.Origin.Divergence)
		return p
	}
	return data
}

// started: a run that was forked or started from another session's names that one
// still; a parent in the same session goes along.
func (s *renamedSegment) started(p event.RunStarted) event.RunStarted {
	if p.Parent != nil {
		if is, ok := s.Run(*p.Parent); ok {
			p.Parent = &is
		}
	}
	return p
}

func (s *renamedSegment) gap(p event.GapRecorded) event.GapRecorded {
	p.GapID = known(s.Renaming, s.Renaming.gaps, p.GapID)
	p.Resolution.ResolvesGapID = namedBy(s.Renaming, s.Renaming.gaps, p.Resolution.ResolvesGapID)
	p.EvidenceRefs = slices.Clone(p.EvidenceRefs)
	for i := range p.EvidenceRefs {
		p.EvidenceRefs[i].OutputID = namedBy(s.Renaming, s.Renaming.outputs, p.EvidenceRefs[i].OutputID)
	}
	return p
}

func namedBy[T named[T]](r *Renaming, b book[T], old *T) *T {
	if old == nil {
		return nil
	}
	is := known(r, b, *old)
	return &is
}

// causes follows the events that an event names.
func (s *renamedSegment) causes(data event.Payload) event.Payload {
	switch p := data.(type) {
	case event.EdgeCreated:
		p.Cause.EventID = s.event(p.Cause.EventID)
		return p
	case event.GapRecorded:
		for i, ref := range p.EvidenceRefs { // a copy of our own: see gap
			if ref.EventID != nil {
				is := s.event(*ref.EventID)
				p.EvidenceRefs[i].EventID = &is
			}
		}
		return p
	}
	return data
}
