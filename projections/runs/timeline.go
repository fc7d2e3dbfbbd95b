package runs

import (
	"fmt"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
)

// TimelineEntry describes one event in one line of text.
type TimelineEntry struct {
	Index   int64       `json:"eventIndex"`
	AtMs    int64       `json:"atMs,omitzero"`  // milliseconds since 1970 UTC, 0 if the event has no time
	Actor   event.Actor `json:"actor,omitzero"` // zero if the log was written without actors
	Kind    string      `json:"kind"`           // event kind
	NodeID  *id.Node    `json:"nodeId,omitzero"`
	Text    string      `json:"text"`
	Working bool        `json:"working,omitzero"` // an internal step of the engine rather than progress of the run
	Foreign bool        `json:"foreign,omitzero"` // written by another program or version; described as far as known
	// Branch is the branch of the run to which the event belongs, counted from 1; 0 for events of no node. Attempt counts
	// the attempts at a step of that branch, and TookMs is how long the step was pending before an attempt was accepted;
	// a step that is done again has none. They are filled by Branches.
	Branch  int   `json:"branch,omitzero"`
	Attempt int   `json:"attempt,omitzero"`
	TookMs  int64 `json:"tookMs,omitzero"`
}

// StepInfo holds the facts about a node that are in its snapshot and not in events.
type StepInfo struct {
	Title   string // of the pending step; "" at the end of the run and where the snapshot is not available
	Refused string // what the attempt lacked that led to this node of kind blocked_attempt
}

// StepInfoFunc returns the StepInfo of a node, the zero one if it is not known.
type StepInfoFunc func(id.Node) StepInfo

// Timeline describes events, in their order. It returns one TimelineEntry for each event of any kind; an
// unknown kind is described as unknown.
//
// The texts are for people: they are in English, of one line, and may change between versions.
// Programs read Kind and the events themselves.
func Timeline(events []event.Event, at StepInfoFunc) []TimelineEntry {
	return AppendTimeline(make([]TimelineEntry, 0, len(events)), events, at)
}

// AppendTimeline is Timeline that appends the entries to dst.
func AppendTimeline(dst []TimelineEntry, events []event.Event, at StepInfoFunc) []TimelineEntry {
	t := describer{at: at, refused: refusedNodes(events)}
	nodes := make([]id.Node, len(events))
	for i, e := range events {
		m := TimelineEntry{Index: e.Index, AtMs: e.TimestampMs, Actor: e.Actor, Kind: e.Data.Kind(),
			Foreign: e.Foreign()}
		if n := e.Scope.NodeID; !n.IsZero() {
			nodes[i] = n
			m.NodeID = &nodes[i]
		}
		m.Text, m.Working = t.describe(e)
		dst = append(dst, m)
	}
	return dst
}

// describer describes the events of one timeline. Some descriptions depend on other events
// (refused) and on facts that are in no event (at).
type describer struct {
	at      StepInfoFunc
	refused map[id.Node]bool // nodes that a refused attempt led to
	recent  [2]namedStep     // described last: events that follow each other are about the same nodes
}

// namedStep is what describer.step returned for a node.
type namedStep struct {
	at   id.Node
	name string
}

// refusedNodes returns the nodes that represent refused attempts: other programs record a refused
// attempt as one that advanced to a node of kind blocked_attempt.
func refusedNodes(events []event.Event) map[id.Node]bool {
	out := map[id.Node]bool{}
	for _, e := range events {
		if p, ok := e.Data.(event.NodeCreated); ok && p.NodeKind == event.BlockedAttemptNode {
			out[e.Scope.NodeID] = true
		}
	}
	return out
}

// step returns the quoted title of the step at a node, or "the end".
func (t *describer) step(n id.Node) string {
	for _, s := range t.recent {
		if s.at == n && s.name != "" {
			return s.name
		}
	}
	name := "the end"
	if title := t.at(n).Title; title != "" {
		name = quote(title)
	}
	t.recent = [2]namedStep{{n, name}, t.recent[0]}
	return name
}

// describe returns the text for one event; working is TimelineEntry.Working.
func (t *describer) describe(e event.Event) (text string, working bool) {
	// A foreign event is described by its known part, or by describeForeign without one.
	if e.Foreign() {
		g, unread := event.Domain.ViewForeign(e)
		if unread && g.Known == nil {
			return describeForeign(e.Data.Kind(), g.Data)
		}
		if unread {
			e.Data = g.Known
		}
	}
	at, step := e.Scope.NodeID, t.step
	switch p := e.Data.(type) {
	case event.SessionCreated:
		return describeSession(p), false
	case event.RunStarted:
		return describeRunStart(p), false
	case event.NodeCreated:
		return describeNode(p, step(at)), p.ParentNodeID != nil
	case event.EdgeCreated:
		return t.describeEdge(p), true
	case event.AdvanceRecorded:
		return t.describeAttempt(p, step(at)), false
	case event.ContextSet:
		return describeContext(p), false
	case event.PreferencesChanged:
		return describePreferences(p), p.Source == event.FromSystem
	case event.NodeOutputAppended:
		return describeOutput(e, p, step(at)), false
	case event.GapRecorded:
		return describeGap(p), false
	case event.DecisionTraceAppended:
		return describeTrace(p), true
	case event.CapabilityObserved:
		return fmt.Sprintf("Capability %s is %s (%s)", p.Capability, p.Status, plain(p.Provenance.Kind)), false
	case event.DivergenceRecorded:
		if p.Replay != nil {
			return "The replay differs from its source: " + oneLine(p.Summary), false
		}
		return fmt.Sprintf("Diverged from the workflow (%s): %s", plain(string(p.Reason)), oneLine(p.Summary)), false
	case event.ObservationRecorded:
		return fmt.Sprintf("Observed %s: %s", observationName(p.Key), oneLine(p.Value.Value)), true
	case event.GuardNoted:
		return describeGuarded(p, step(at)), false
	case event.RunEventRecorded:
		return "Recorded the run event " + oneLine(p.Type), true
	case event.SessionHandedOver:
		return describeHandOver(p), false
	case event.SessionReclaimed:
		return "The hand-over was revoked: the session continues in the store that had handed it over", false
	case event.RunPaused:
		return describePause(p), false
	case event.RunResumed:
		return describeResume(p), false
	case event.RunCancelRequested:
		return "Cancellation requested: " + oneLine(p.Reason), false
	case event.RunClosed:
		return fmt.Sprintf("The run was closed as %s: %s", p.Outcome, oneLine(p.Reason)), false
	}
	return describeUnknown(e.Data.Kind()), false
}

// describeUnknown returns the text for an event of a kind without a description.
func describeUnknown(kind string) string {
	return fmt.Sprintf("Event of kind %s, unknown to this version", quote(kind))
}
