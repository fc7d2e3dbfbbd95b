// Package audit derives the lines of a store's audit log from the events of its other logs (Facts,
// FactOf), keeps track of the lines that are not yet written (Ledger), and merges all lines for
// reading (History). See docs/design.md#side-logs.
//
// The records themselves are those of package durable/log/audit; appending them is the engine's.
package audit

import (
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
)

// Fact is an event of another log that also gets a line in the store's audit log
// (docs/design.md#side-logs). The line is a function of the event alone: every process that writes
// the missing line, at any time, writes the same one with the same dedupeKey.
type Fact struct {
	Actor event.Actor
	AtMs  int64
	audit.Recorded
}

// FactOf returns the audit fact of an event; ok is false for an event that has none. Events
// with a fact:
//
//   - approve, send_back, deny: the artifact of a person's decision about a step; of an approval the
//     wr.human_approval artifact, which logs of older versions have too (docs/design.md#decisions),
//   - cancel: a request to end a run, and the end itself if the engine did not write it in answer
//     to such a request (docs/design.md#ends-and-branches),
//   - override: a change of a run's preferences by a caller to full_auto_never_stop, which skips
//     questions to a person (docs/design.md#blocked-attempts). The setting agentMaxAutonomy is not
//     compared: configuration changes, and a line must not depend on it,
//   - every record of a session's annotations log and of the store's proposals log.
//
// Events of the engine itself, and events whose data or id could not be read, have no fact: no line
// could name them.
func FactOf(log manifest.Log, e event.Event) (Fact, bool) {
	a := auditAct(e)
	if a.Action == "" || e.ID.IsZero() || e.Actor.Kind == event.Engine {
		return Fact{}, false
	}
	from := audit.Source{EventID: e.ID, EventIndex: e.Index, RunID: e.Scope.RunID}
	if log.Table.Name != event.Domain.Name {
		from.Log = log.Table.Name
	}
	if log.Table.OwnerField == event.Domain.OwnerField {
		from.SessionID, _ = id.ParseSession(log.Owner) // owners of such logs are valid session ids
	}
	if a.Target.Kind == "" {
		a.Target = audit.Target{Kind: audit.OfRun, ID: e.Scope.RunID.String()}
	}
	return Fact{e.Actor, e.TimestampMs, audit.Record(a, from)}, true
}

// auditAct returns action, target and details of an event, the zero act for an event without a fact.
// A zero Target means the run of the event; FactOf fills it in.
//
// Details of an annotation hold ids and the kind of the signal. Its text stays in the annotations
// log: the audit log has to state that an annotation was made, not what it contains. The reason of
// a retraction is copied, since it explains the act itself.
func auditAct(e event.Event) audit.Act {
	switch p := e.Data.(type) {
	case feedback.Recorded:
		return audit.Act{Action: audit.Annotate, Details: stated(map[string]string{
			"annotationId": p.AnnotationID.String(), "signal": string(p.Signal.Kind),
			"nodeId": p.Target.NodeID.String(), "eventId": p.Target.EventID.String(),
			"supersedes": p.SupersedesAnnotationID.String()})}
	case feedback.Retracted:
		return audit.Act{Action: audit.Retract, Reason: p.Reason,
			Details: map[string]string{"annotationId": p.AnnotationID.String()}}
	case proposal.Record:
		return proposalAct(p)
	case event.NodeOutputAppended:
		return decisionAct(e, p)
	case event.RunCancelRequested:
		return audit.Act{Action: audit.Cancel, Reason: statedReason(p.Reason),
			Details: map[string]string{"endsAs": string(p.EndOutcome())}}
	case event.RunClosed:
		return audit.Act{Action: audit.Cancel, Reason: statedReason(p.Reason),
			Details: map[string]string{"endsAs": string(p.Outcome)}}
	case event.PreferencesChanged:
		for _, c := range p.Delta {
			if c.Key == "autonomy" && c.Value == string(event.FullAutoNeverStop) && p.Source == event.FromUser {
				return audit.Act{Action: audit.Override, Details: map[string]string{
					"nodeId": e.Scope.NodeID.String(), "autonomy": c.Value}}
			}
		}
	}
	return audit.Act{}
}

// decisionAct returns the act of a person's decision about a step, the zero act for any other output.
func decisionAct(e event.Event, p event.NodeOutputAppended) audit.Act {
	a := audit.Act{Details: map[string]string{"nodeId": e.Scope.NodeID.String(), "artifact": p.Payload.SHA256.String()}}
	if p.Decision != nil {
		a.Reason = reason.Clip(p.Decision.Reason, limits.SummaryBytesMax) // whole in the run's log
		a.Details["by"], a.Details["shownDigest"] = p.Decision.By, p.Decision.ShownDigest.String()
	}
	switch {
	case p.Payload.ArtifactKind == advance.ApprovalKind:
		a.Action = audit.Approve
	case p.Decision != nil && p.Decision.Decision == event.SentBack:
		a.Action = audit.SendBack
	case p.Decision != nil && p.Decision.Decision == event.Denied:
		a.Action = audit.Deny
	default:
		return audit.Act{}
	}
	return a
}

// statedReason returns the reason that a caller gave, "" for the placeholder that is stored for
// none.
func statedReason(reason string) string {
	if reason == advance.NoReason {
		return ""
	}
	return reason
}

// Facts is a visitor that collects the audit facts of a log.
type Facts struct {
	Facts []Fact
	Head  manifest.Head // how far the log was visited

	log manifest.Log
}

// NewFacts starts after the head from; the zero Head is the beginning of the log.
func NewFacts(log manifest.Log, from manifest.Head) *Facts {
	return &Facts{log: log, Head: from}
}

// Visit implements ports.Visitor. It never returns an error.
func (f *Facts) Visit(seg manifest.Segment, head manifest.Head) error {
	f.Head = head
	for _, e := range seg.Events {
		if fact, ok := FactOf(f.log, e); ok {
			f.Facts = append(f.Facts, fact)
		}
	}
	return nil
}
