package views

import (
	"github.com/waybill/waybill/durable/engine/submitted"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// sessionRecords are the facts of a session that its fold does not keep.
type sessionRecords struct {
	// created is the event of the session, and observed the latest observation by key.
	created  event.SessionCreated
	observed map[string]observed
	// unknown are the kinds of the session's events that are not known: no run of it can be forked.
	unknown map[string]bool
}

// add stores what an event says about the session, which is of a run or of none.
func (r *sessionRecords) add(e event.Event, run id.Run) {
	if g, foreign := event.Domain.ViewForeign(e); foreign && g.Known == nil && !e.Ignorable {
		r.unknown[e.Data.Kind()] = true
	}
	if !ofRun(e, run) {
		return
	}
	switch p := dataOf(e).(type) {
	case event.SessionCreated:
		r.created = p
	case event.ObservationRecorded:
		r.observed[p.Key] = observed{p, e.TimestampMs}
	}
}

// records are the facts of a run that its fold does not keep, by node: those that later ones replaced or resolved, and
// those that change no state.
type records map[id.Node]*nodeRecords

// observed is an observation with its time.
type observed struct {
	event.ObservationRecorded
	atMs int64
}

// nodeRecords are the records about one node.
type nodeRecords struct {
	// arrived are the changes of the attempt that led to the node: they precede its creation.
	arrived      []event.ContextSet
	context      []event.ContextSet
	created      bool
	artifacts    []submitted.Artifact
	attempts     []event.Event // of advance_recorded
	gaps         []event.Event // of gap_recorded: opened and resolved
	capabilities []event.CapabilityObserved
	divergences  []event.DivergenceRecorded
	traces       []event.DecisionTraceAppended
}

// at returns the records of a node, to be extended. Those of no node are not kept.
func (r records) at(n id.Node) *nodeRecords {
	at := r.of(n)
	if !n.IsZero() {
		r[n] = at
	}
	return at
}

// of returns the records of a node, those of none if there are none.
func (r records) of(n id.Node) *nodeRecords {
	if found := r[n]; found != nil {
		return found
	}
	return &nodeRecords{}
}

// add stores one event where the views look for it.
func (r records) add(e event.Event) {
	if out, ok := submitted.Of(e); ok {
		at := r.at(e.Scope.NodeID)
		at.artifacts = append(at.artifacts, out)
		return
	}
	if g, foreign := event.Domain.ViewForeign(e); foreign && g.Known != nil && !e.Ignorable {
		e.Data = g.Known
	}
	switch p := e.Data.(type) {
	case event.ContextSet:
		var target id.Node // zero: the root, whose start it describes
		if p.NodeID != nil {
			target = *p.NodeID
		}
		if at := r.at(target); at.created || target.IsZero() {
			at.context = append(at.context, p)
		} else {
			at.arrived = append(at.arrived, p)
		}
	case event.NodeCreated:
		r.at(e.Scope.NodeID).created = true
	case event.AdvanceRecorded:
		at := r.at(e.Scope.NodeID)
		at.attempts = append(at.attempts, e)
	case event.GapRecorded:
		at := r.at(e.Scope.NodeID)
		at.gaps = append(at.gaps, e)
	case event.CapabilityObserved:
		at := r.at(e.Scope.NodeID)
		at.capabilities = append(at.capabilities, p)
	case event.DivergenceRecorded:
		at := r.at(e.Scope.NodeID)
		at.divergences = append(at.divergences, p)
	case event.DecisionTraceAppended:
		at := r.at(e.Scope.NodeID)
		at.traces = append(at.traces, p)
	}
}
