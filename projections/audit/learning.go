package audit

import (
	"maps"
	"strconv"

	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/audit"
)

// stated returns details without the empty ones: ids that a record does not have.
func stated(details map[string]string) map[string]string {
	maps.DeleteFunc(details, func(_, text string) bool { return text == "" })
	return details
}

// proposalAct returns the act of a record of the proposals log, the zero act for kinds without one.
//
// Details hold digests, roles and principals. The proposed artifact is stored as an object and
// named by its digest.
func proposalAct(r proposal.Record) audit.Act {
	about := r.About()
	a := audit.Act{Target: audit.Target{Kind: audit.OfProposal, ID: about.ProposalID.String()},
		Reason: statedReason(about.Reason)}
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
		a.Action, a.Details = audit.Apply, map[string]string{audit.DetailInstalled: p.InstalledRef, "mode": string(p.Mode),
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
	return a
}
