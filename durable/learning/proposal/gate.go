package proposal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
)

// Approval is one person's recorded consent, bound to the digest of the artifact that they
// saw (docs/design.md#proposals).
type Approval struct {
	ID             id.Event     `json:"approvalId"`
	ArtifactSHA256 canon.Digest `json:"artifactSha256"`
	Principal      string       `json:"principal"`
	Role           string       `json:"role"`          // held when the approval was recorded
	Void           string       `json:"void,omitzero"` // why it does not count; "" if it does
}

// Gate is the evaluation of a proposal's approvals at one moment.
type Gate struct {
	Role string
	Have int64 // distinct principals whose approval counts
	Want int64
	// Approvals are the ones that count, in the order of the log.
	Approvals []id.Event
	// Void are the others, each with its reason.
	Void []Approval
}

// Gate evaluates approvals for the artifact with this digest. An approval counts if it is not
// void already, concerns the same bytes, and its principal holds the approver's role now,
// whether or not they held it then. Each principal counts once.
func (p Policy) Gate(digest canon.Digest, approvals []Approval) Gate {
	g := Gate{Role: p.ApproverRole, Want: p.Quorum, Approvals: []id.Event{}, Void: []Approval{}}
	counted := map[string]bool{}
	for _, a := range approvals {
		// Approvals are recorded for people at a terminal only; see CheckApprove.
		who := Principal{Ref: a.Principal, Human: true, AtTerminal: true}
		switch {
		case a.Void != "":
		case a.ArtifactSHA256 != digest:
			a.Void = "It is bound to another artifact than the current revision's."
		case !p.Holds(who, p.ApproverRole):
			a.Void = fmt.Sprintf("%s does not hold the role %q now.", a.Principal, p.ApproverRole)
		case counted[a.Principal]:
			a.Void = fmt.Sprintf("%s approved it already; a principal counts once.", a.Principal)
		default:
			counted[a.Principal] = true
			g.Have++
			g.Approvals = append(g.Approvals, a.ID)
			continue
		}
		g.Void = append(g.Void, a)
	}
	return g
}

// Granted reports whether enough principals approved.
func (g Gate) Granted() bool { return g.Want > 0 && g.Have >= g.Want }

// Err returns PROPOSAL_PENDING unless the gate is granted: how many approvals are missing, of
// which role, and which do not count. At most namedMax void approvals are listed.
func (g Gate) Err(p id.Proposal) error {
	if g.Granted() {
		return nil
	}
	f := fault.New(fault.ProposalPending,
		"%s has %d of the %d approvals required from the role %q; nothing was installed", p, g.Have, g.Want,
		g.Role)
	var why []string
	for _, a := range g.Void[:min(len(g.Void), namedMax)] {
		if !slices.Contains(why, a.Void) {
			why = append(why, a.Void)
		}
	}
	if len(why) > 0 {
		count := "more do not count"
		if len(g.Void) == 1 {
			count = "more does not count"
		}
		f.Message += fmt.Sprintf("; %d %s: %s", len(g.Void), count, strings.TrimSuffix(strings.Join(why, " "),
			"."))
	}
	return f.Suggest(
		"A person with the role %q can approve it with %s at a terminal.", g.Role,
		fault.Command{"proposals", "approve", p.String()}).
		With("proposalId", p.String()).
		With("have", g.Have).
		With("want", g.Want).
		With("role", g.Role).
		With("void", g.Void[:min(len(g.Void), namedMax)])
}
