package proposal

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
)

// Approval is one person's consent as it stands now. It is bound to the digest of what
// they saw (R29).
type Approval struct {
	ID             id.Event     `json:"approvalId"`
	ArtifactSHA256 canon.Digest `json:"artifactSha256"`
	Principal      string       `json:"principal"`
	Role           string       `json:"role"`          // that was held when it was given
	Void           string       `json:"void,omitzero"` // why it does not count; "" where it does
}

// Gate is what the approvals of a proposal come to at the moment of asking.
type Gate struct {
	Role string
	Have int64 // different principals whose approval counts
	Want int64
	// Approvals are those that count, in the order in which they were given.
	Approvals []id.Event
	// Void are the others, each with its reason.
	Void []Approval
}

// Gate weighs the approvals of what has this digest. One counts while it is not void
// already, is of the same bytes, and its principal holds the approver's role now, whatever
// they held then; a principal counts once.
func (p Policy) Gate(digest canon.Digest, approvals []Approval) Gate {
	g := Gate{Role: p.ApproverRole, Want: p.Quorum, Approvals: []id.Event{}, Void: []Approval{}}
	counted := map[string]bool{}
	for _, a := range approvals {
		// Only a person at a terminal can have given one.
		who := Principal{Ref: a.Principal, Human: true, AtTerminal: true}
		switch {
		case a.Void != "":
		case a.ArtifactSHA256 != digest:
			a.Void = "It is of another artifact than the one that is proposed now."
		case !p.Holds(who, p.ApproverRole):
			a.Void = fmt.Sprintf("%s does not hold the role %q now.", a.Principal, p.ApproverRole)
		case counted[a.Principal]:
			a.Void = fmt.Sprintf("%s approved it before, and one principal counts once.", a.Principal)
		}
		if a.Void != "" {
			g.Void = append(g.Void, a)
			continue
		}
		counted[a.Principal] = true
		g.Have++
		g.Approvals = append(g.Approvals, a.ID)
	}
	return g
}

// Granted reports that as many people approved as it takes.
func (g Gate) Granted() bool { return g.Want > 0 && g.Have >= g.Want }

// Err is PROPOSAL_PENDING while the gate is not granted: how many are missing, of which
// role, and which approvals do not count.
func (g Gate) Err(p id.Proposal) error {
	if g.Granted() {
		return nil
	}
	f := fault.New(fault.ProposalPending,
		"%s has %d of the %d approvals that it takes from the role %q; nothing was installed", p, g.Have, g.Want,
		g.Role)
	var why []string
	for _, a := range g.Void[:min(len(g.Void), namedMax)] {
		why = append(why, a.Void)
	}
	if len(why) > 0 {
		count := "more do not count"
		if len(g.Void) == 1 {
			count = "more does not count"
		}
		f.Message += fmt.Sprintf("; %d %s: %s", len(g.Void), count, strings.TrimSuffix(strings.Join(distinct(why), " "),
			"."))
	}
	return f.Suggest("Somebody with the role %q approves it with 'waybill proposals approve %s' at a terminal.", g.Role,
		p).
		With("proposalId", p.String()).With("have", g.Have).With("want", g.Want).With("role", g.Role).
		With("void", g.Void[:min(len(g.Void), namedMax)])
}

func distinct(words []string) (out []string) {
	seen := map[string]bool{}
	for _, w := range words {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}
