package proposal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/store/config"
)

// Approval is one person's recorded consent, bound to the digest of the artifact that they
// saw (docs/design.md#proposals).
type Approval struct {
	ID             id.Event     `json:"approvalId"`
	ArtifactSHA256 canon.Digest `json:"artifactSha256"`
	Principal      string       `json:"principal"`
	Role           string       `json:"role"`          // held when the approval was recorded
	Void           string       `json:"void,omitzero"` // why it does not count; "" if it does
	Terms
}

// Terms are the conditions under which an approval was given: the account, and the policy in force
// with its quorum. They are zero in records of a version that did not store them.
type Terms struct {
	Account      config.Account `json:"account,omitzero"` // "" while no principal was bound
	PolicyDigest canon.Digest   `json:"policyDigest,omitzero"`
	Quorum       int64          `json:"quorum,omitzero"`
}

// Gate is the evaluation of a proposal's approvals at one moment.
type Gate struct {
	Role string
	Have int64 // distinct people whose approval counts
	Want int64
	// Approvals are the ones that count, in the order of the log.
	Approvals []id.Event
	// Void are the others, each with its reason.
	Void []Approval

	unbound error // see Policy
}

// Gate evaluates approvals for the artifact with this digest. An approval counts if it is not void
// already, concerns the same bytes, and meets both the policy in force when it was recorded and p,
// each by itself: it states the digest of the former, and its principal is bound to the same account
// and holds the approver's role in the latter. Each account counts once, by its last approval; while
// no principal is bound, all approvals are one person's. The quorum is the larger one of both
// policies.
func (p Policy) Gate(digest canon.Digest, approvals []Approval) Gate {
	g := Gate{Role: p.ApproverRole, Approvals: []id.Event{}, Void: []Approval{}, unbound: p.unbound}
	var valid []Approval
	for _, a := range approvals {
		if a.Void == "" {
			a.Void = p.void(digest, a)
		}
		if a.Void != "" {
			g.Void = append(g.Void, a)
			continue
		}
		if i := slices.IndexFunc(valid, func(b Approval) bool { return !p.people.Bound() || a.Account == b.Account }); i >= 0 {
			valid[i].Void = "The same person approved it again later, and a person counts once."
			g.Void = append(g.Void, valid[i])
			valid = slices.Delete(valid, i, i+1)
		}
		valid = append(valid, a)
	}
	g.Want = p.Quorum
	for _, a := range valid {
		g.Want = max(g.Want, a.Quorum)
	}
	// Fewer are enough if that many were given while no more were required.
	for n := g.Want; n >= p.Quorum; n-- {
		stricter := func(a Approval) bool { return a.Quorum > n }
		counting := slices.DeleteFunc(slices.Clone(valid), stricter)
		if int64(len(counting)) < n {
			continue
		}
		for _, a := range valid {
			if stricter(a) {
				a.Void = fmt.Sprintf("It was given while %d approvals were required, and there are not that many.", a.Quorum)
				g.Void = append(g.Void, a)
			}
		}
		g.Want, valid = n, counting
		break
	}
	for _, a := range valid {
		g.Have++
		g.Approvals = append(g.Approvals, a.ID)
	}
	return g
}

// void returns why an approval does not count for the artifact with this digest; "" if it may.
func (p Policy) void(digest canon.Digest, a Approval) string {
	switch {
	case a.ArtifactSHA256 != digest:
		return "It is bound to another artifact than the current revision's."
	case a.PolicyDigest.IsZero():
		return "An earlier version recorded it without the policy in force; it has to be given again."
	case !p.people.Bound():
		return ""
	case a.Account == "" || a.Account != p.people.Named(a.Principal).Account:
		return "It was not given from the account that its principal is bound to now."
	case !slices.Contains(p.people.Named(a.Principal).Roles, p.ApproverRole):
		return fmt.Sprintf("Its principal does not hold the role %q now.", p.ApproverRole)
	}
	return ""
}

// Granted reports whether enough people approved.
func (g Gate) Granted() bool { return g.Want > 0 && g.Have >= g.Want }

// VoidApproval is an approval that does not count, as a refusal shows it: without its principal.
type VoidApproval struct {
	ApprovalID id.Event `json:"approvalId"`
	Void       string   `json:"void"`
}

// Err returns PROPOSAL_PENDING unless the gate is granted: how many approvals are missing, of
// which role, and which do not count. At most namedMax void approvals are listed. Where the quorum
// cannot be reached the error is PRINCIPALS_UNBOUND.
func (g Gate) Err(p id.Proposal) error {
	if g.Granted() {
		return nil
	}
	if g.unbound != nil {
		return g.unbound
	}
	f := fault.New(fault.ProposalPending,
		"%s has %d of the %d approvals required from the role %q; nothing was installed", p, g.Have, g.Want,
		g.Role)
	var why []string
	void := []VoidApproval{}
	for _, a := range g.Void[:min(len(g.Void), namedMax)] {
		void = append(void, VoidApproval{a.ID, a.Void})
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
		With("void", void)
}
