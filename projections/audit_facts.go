package projections

import (
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
)

// AuditFact is an event of another log that is also a line of the store's audit log
// (R10). The line is a function of the event alone, so that whoever completes the log,
// and whenever, writes the same.
type AuditFact struct {
	Actor event.Actor
	AtMs  int64
	audit.Recorded
}

// AuditFactOf tells whether an event is an act of somebody's that is put on record:
//
//   - approve: a wr.human_approval artifact (R20),
//   - cancel: a request to end a run, and the end itself where the engine did not follow
//     such a request (R23),
//   - override: a caller's setting a run to full_auto_never_stop, which passes what a
//     person would have been asked for (R16). More than config agentMaxAutonomy allows is
//     no measure: the configuration changes, and a line must stay what it was.
//
// Every record of a session's annotations and of the store's proposals is one.
//
// An event whose data or id could not be read is none: no line could name it.
func AuditFactOf(log manifest.Log, e event.Event) (AuditFact, bool) {
	a, ok := auditAct(e)
	if !ok || e.ID.IsZero() || e.Actor.Kind == event.Engine {
		return AuditFact{}, false
	}
	from := audit.Source{EventID: e.ID, EventIndex: e.Index, RunID: e.Scope.RunID}
	if log.Table.Name != event.Domain.Name {
		from.Log = log.Table.Name
	}
	if log.Table.OwnerField == event.Domain.OwnerField {
		from.SessionID, _ = id.ParseSession(log.Owner) // no log has an owner of another shape
	}
	if a.Target.Kind == "" {
		a.Target = audit.Target{Kind: audit.OfRun, ID: e.Scope.RunID.String()}
	}
	return AuditFact{e.Actor, e.TimestampMs, audit.Record(a, from)}, true
}

func auditAct(e event.Event) (a audit.Act, ok bool) {
	if a, ok = feedbackAct(e); ok {
		return a, true
	}
	if a, ok = proposalAct(e); ok {
		return a, true
	}
	switch p := e.Data.(type) {
	case event.NodeOutputAppended:
		if p.Payload.ArtifactKind != advance.ApprovalKind {
			return a, false
		}
		return audit.Act{Action: audit.Approve, Details: map[string]string{
			"nodeId": e.Scope.NodeID.String(), "artifact": p.Payload.SHA256.String()}}, true
	case event.RunCancelRequested:
		return audit.Act{Action: audit.Cancel, Reason: given(p.Reason),
			Details: map[string]string{"endsAs": string(p.Ends())}}, true
	case event.RunClosed:
		return audit.Act{Action: audit.Cancel, Reason: given(p.Reason),
			Details: map[string]string{"endsAs": string(p.Outcome)}}, true
	case event.PreferencesChanged:
		for _, c := range p.Delta {
			if c.Key == "autonomy" && c.Value == string(event.FullAutoNeverStop) && p.Source == event.FromUser {
				return audit.Act{Action: audit.Override, Details: map[string]string{
					"nodeId": e.Scope.NodeID.String(), "autonomy": c.Value}}, true
			}
		}
	}
	return a, false
}

// given is a reason that somebody gave; here its absence speaks for itself.
func given(reason string) string {
	if reason == advance.NoReason {
		return ""
	}
	return reason
}

// AuditFacts visits a log and keeps its facts.
type AuditFacts struct {
	Facts []AuditFact
	Head  manifest.Head // how far the reading came

	log manifest.Log
}

// NewAuditFacts begins behind a head of the log.
func NewAuditFacts(log manifest.Log, from manifest.Head) *AuditFacts {
	return &AuditFacts{log: log, Head: from}
}

// Reset implements ports.Visitor: the reading begins with the log.
func (f *AuditFacts) Reset() { *f = AuditFacts{log: f.log} }

// Visit implements ports.Visitor.
func (f *AuditFacts) Visit(seg manifest.Segment, head manifest.Head) error {
	f.Head = head
	for _, e := range seg.Events {
		if fact, ok := AuditFactOf(f.log, e); ok {
			f.Facts = append(f.Facts, fact)
		}
	}
	return nil
}
