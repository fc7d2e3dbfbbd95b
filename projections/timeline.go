package projections

import (
	"fmt"

	"github.com/waybill/waybill/durable/event"
	"github.com/waybill/waybill/durable/id"
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
}

// StepTitles names the step that was pending at a node; "" for a node where the
// run ended, and for one that is not known. No event holds titles.
type StepTitles func(id.Node) string

// Timeline puts events into words, in their order. Each event gives one moment,
// whatever its kind: one that is not known is told as that.
func Timeline(events []event.Event, title StepTitles) []Moment {
	out := make([]Moment, len(events))
	for i, e := range events {
		m := Moment{Index: e.Index, AtMs: e.TimestampMs, Actor: e.Actor, Kind: e.Data.Kind()}
		if n := e.Scope.NodeID; !n.IsZero() {
			m.NodeID = &n
		}
		m.Text, m.Working = words(e, func(n id.Node) string {
			if t := title(n); t != "" {
				return quote(t)
			}
			return "the end"
		})
		out[i] = m
	}
	return out
}

// words is the sentence for one event. step quotes the step at a node.
func words(e event.Event, step func(id.Node) string) (text string, working bool) {
	at := e.Scope.NodeID
	switch p := e.Data.(type) {
	case event.SessionCreated:
		return sessionWords(p), false
	case event.RunStarted:
		return startWords(p), false
	case event.NodeCreated:
		return nodeWords(p, step(at)), p.ParentNodeID != nil
	case event.EdgeCreated:
		return edgeWords(p, step), true
	case event.AdvanceRecorded:
		return attemptWords(p, step(at)), false
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
	return fmt.Sprintf("Something of kind %s, which this version does not know", quote(e.Data.Kind())), false
}
