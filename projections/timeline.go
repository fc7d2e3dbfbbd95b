package projections

import (
	"fmt"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// Moment is one event in words: one line that says what happened.
type Moment struct {
	Index   int64       `json:"eventIndex"`
	AtMs    int64       `json:"atMs,omitzero"`
	Actor   event.Actor `json:"actor,omitzero"` // zero where a log was written without actors
	Kind    string      `json:"kind"`           // the event's
	NodeID  *id.Node    `json:"nodeId,omitzero"`
	Text    string      `json:"text"`
	Working bool        `json:"working,omitzero"` // how the engine went about it, rather than what was done
	Foreign bool        `json:"foreign,omitzero"` // another program or version wrote it; told as far as it is known
}

// Place is what no event says about a node.
type Place struct {
	Title   string // of the pending step; "" where the run ended, and where that is not known
	Refused string // what the attempt lacked that led to a node of kind blocked_attempt
}

// Places tells about a node.
type Places func(id.Node) Place

// Timeline puts events into words, in their order. Each event gives one moment,
// whatever its kind: one that is not known is told as that.
func Timeline(events []event.Event, at Places) []Moment {
	out := make([]Moment, len(events))
	t := teller{at, refusedNodes(events)}
	for i, e := range events {
		m := Moment{Index: e.Index, AtMs: e.TimestampMs, Actor: e.Actor, Kind: e.Data.Kind(), Foreign: e.Foreign()}
		if n := e.Scope.NodeID; !n.IsZero() {
			m.NodeID = &n
		}
		m.Text, m.Working = t.words(e)
		out[i] = m
	}
	return out
}

// teller puts events into words, some of which say what others mean.
type teller struct {
	at      Places
	refused map[id.Node]bool // nodes that a refused attempt led to
}

// refusedNodes: other programs record a refused attempt as one that advanced to a
// node of its own kind.
func refusedNodes(events []event.Event) map[id.Node]bool {
	out := map[id.Node]bool{}
	for _, e := range events {
		if p, ok := e.Data.(event.NodeCreated); ok && p.NodeKind == event.BlockedAttemptNode {
			out[e.Scope.NodeID] = true
		}
	}
	return out
}

// step quotes the step at a node.
func (t teller) step(n id.Node) string {
	if title := t.at(n).Title; title != "" {
		return quote(title)
	}
	return "the end"
}

// words is the sentence for one event.
func (t teller) words(e event.Event) (text string, working bool) {
	g, unread := event.Domain.Glimpse(e)
	if unread && g.Known == nil {
		return foreignWords(e.Data.Kind(), g.Data)
	}
	if unread {
		e.Data = g.Known
	}
	at, step := e.Scope.NodeID, t.step
	switch p := e.Data.(type) {
	case event.SessionCreated:
		return sessionWords(p), false
	case event.RunStarted:
		return startWords(p), false
	case event.NodeCreated:
		return nodeWords(p, step(at)), p.ParentNodeID != nil
	case event.EdgeCreated:
		return t.edgeWords(p), true
	case event.AdvanceRecorded:
		return t.attemptWords(p, step(at)), false
	case event.ContextSet:
		return contextWords(p), false
	case event.PreferencesChanged:
		return preferenceWords(p), p.Source == event.FromSystem
	case event.NodeOutputAppended:
		return outputWords(p, step(at)), false
	case event.GapRecorded:
		return gapWords(p), false
	case event.DecisionTraceAppended:
		return traceWords(p), true
	case event.CapabilityObserved:
		return fmt.Sprintf("Capability %s is %s (%s)", p.Capability, p.Status, plain(p.Provenance.Kind)), false
	case event.DivergenceRecorded:
		return fmt.Sprintf("Left the script (%s): %s", plain(string(p.Reason)), oneLine(p.Summary)), false
	case event.ObservationRecorded:
		return fmt.Sprintf("Noted %s: %s", observed(p.Key), oneLine(p.Value.Value)), true
	case event.RunCancelRequested:
		return "Asked to cancel the run: " + oneLine(p.Reason), false
	case event.RunClosed:
		return fmt.Sprintf("The run was closed as %s: %s", p.Outcome, oneLine(p.Reason)), false
	}
	return unknownWords(e.Data.Kind()), false
}

func unknownWords(kind string) string {
	return fmt.Sprintf("Something of kind %s, which this version does not know", quote(kind))
}
