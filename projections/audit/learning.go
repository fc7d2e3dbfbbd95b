package audit

import (
	"strconv"

	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
)

// feedbackAct returns the act of a record of an annotations log; ok is false for other records.
//
// Details hold ids and the kind of the signal. The text of an annotation stays in the annotations
// log: the audit log has to state that an annotation was made, not what it contains. The reason of
// a retraction is copied, since it explains the act itself.
func feedbackAct(e event.Event) (a audit.Act, ok bool) {
	switch p := e.Data.(type) {
	case feedback.Recorded:
		a = audit.Act{Action: audit.Annotate, Details: map[string]string{"annotationId": p.AnnotationID.String(),
			"signal": string(p.Signal.Kind)}}
		if !p.Target.NodeID.IsZero() {
			a.Details["nodeId"] = p.Target.NodeID.String()
		}
		if !p.Target.EventID.IsZero() {
			a.Details["eventId"] = p.Target.EventID.String()
		}
		if !p.SupersedesAnnotationID.IsZero() {
			a.Details["supersedes"] = p.SupersedesAnnotationID.String()
		}
		return a, true
	case feedback.Retracted:
		return audit.Act{Action: audit.Retract, Reason: p.Reason,
			Details: map[string]string{"annotationId": p.AnnotationID.String()}}, true
	}
	return a, false
}

// proposalAct returns the act of a record of the proposals log; ok is false for other records and
// for kinds without an act.
//
// Details hold digests, roles and principals. The proposed artifact is stored as an object and
// named by its digest.
func proposalAct(e event.Event) (a audit.Act, ok bool) {
	r, ok := e.Data.(proposal.Record)
	if !ok {
		return a, false
	}
	about, _, reason := r.About()
	a = audit.Act{Target: audit.Target{Kind: audit.OfProposal, ID: about.String()}, Reason: statedReason(reason)}
	switch p := r.(type) {
	case proposal.Created:
		a.Action, a.Details = audit.Propose,
			map[string]string{"kind": string(p.Of), "artifact": p.Artifact.SHA256.String()}
	case proposal.Revised:
		a.Action, a.Details = audit.Revise, map[string]string{"revision": strconv.FormatInt(p.Revision, 10),
			"artifact": p.Artifact.SHA256.String()}
	case proposal.Approved:
		a.Action, a.Details = audit.Approve, map[string]string{"artifact": p.ArtifactSHA256.String(), "role": p.Role,
			"principal": p.Principal}
	case proposal.Applied:
		a.Action, a.Details = audit.Apply, map[string]string{"installed": p.InstalledRef, "mode": string(p.Mode),
			"principal": p.Principal}
		if p.Override {
			a.Action = audit.Override // applied although the gate refused
		}
	case proposal.Rejected:
		a.Action = audit.Reject
	case proposal.Archived:
		a.Action = audit.Archive
	case proposal.RolledBack:
		a.Action, a.Details = audit.RollBack, map[string]string{"slot": p.Slot.ID}
	}
	return a, a.Action != ""
}
