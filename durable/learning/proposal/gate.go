package proposal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
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
	consent.Given          // the signature over Subject, where one was required
	Replaces      Replaces `json:"-"`
	Place         Place    `json:"-"`
	AtMs          int64    `json:"-"`
	Reason        string   `json:"-"`
}

// Place is the proposal that a record is about, and the store that owns the log.
type Place struct {
	Store    string
	Proposal id.Proposal
}

// Subject is what a person signs to approve an artifact.
func (a Approval) Subject() consent.Subject {
	return ApprovalSubject(a.Place, a.PolicyDigest, a.ArtifactSHA256, a.Replaces, a.Reason)
}

// Consented is what a person signs to approve what r states.
func (r Approved) Consented(at Place) consent.Subject {
	return ApprovalSubject(at, r.PolicyDigest, r.ArtifactSHA256, r.Replaces, r.Reason)
}

// Consented is what a person signs to install what r states without approvals.
func (r Applied) Consented(at Place) consent.Subject {
	return ActivationSubject(at, r.PolicyDigest, r.ArtifactSHA256, r.Replaces, r.Reason)
}

// ApprovalSubject is what a person signs to approve an artifact and what it replaces under a policy, with
// the reason as it is stored.
func ApprovalSubject(at Place, policy, artifact canon.Digest, replaces Replaces, reason string) consent.Subject {
	return subjectOf(consent.ApproveProposal, at, policy, artifact, replaces, reason)
}

// ActivationSubject is what a person signs to install an artifact without approvals.
func ActivationSubject(at Place, policy, artifact canon.Digest, replaces Replaces, reason string) consent.Subject {
	return subjectOf(consent.ActivateProposal, at, policy, artifact, replaces, reason)
}

// RollBackSubject is what a person signs to take an artifact out of use.
func RollBackSubject(at Place, policy, artifact canon.Digest, reason string) consent.Subject {
	return subjectOf(consent.RollBackProposal, at, policy, artifact, Replaces{}, reason)
}

// subjectOf is what a person signs to decide about an artifact. A text about one that replaces nothing has no
// member for that.
func subjectOf(op consent.Operation, at Place, policy, artifact canon.Digest, replaces Replaces, reason string) consent.Subject {
	return consent.NewSubject(op, at.Store, policy, consent.Text("proposal", at.Proposal.String()),
		consent.Text("artifact", artifact.String()), canon.Member{Name: fieldReplaces, Value: replaces.object()},
		consent.Text("reason", reason))
}

// SamePerson reports that two approvals are, or can be, of one person: of one account, or by one signer.
func SamePerson(a, b Approval) bool {
	if a.IsSigned() && b.IsSigned() {
		return a.Principal == b.Principal
	}
	return a.Account == b.Account
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
	signed  bool  // approvals have to be signed
}

// Gate evaluates approvals for the artifact with this digest. An approval counts if it is not void
// already, concerns the same bytes, and meets both the policy in force when it was recorded and p,
// each by itself: it states the digest of the former, and its principal is bound to the same account
// and holds the approver's role in the latter. Each account counts once, by its last approval; while
// no principal is bound, all approvals are one person's. With signers each has to be signed by one of them,
// and each signer counts once. The quorum is the larger one of both policies.
func (p Policy) Gate(digest canon.Digest, approvals []Approval) Gate {
	g := Gate{Role: p.ApproverRole, Approvals: []id.Event{}, Void: []Approval{}, unbound: p.unbound, signed: !p.Signers().IsZero()}
	var valid []Approval
	for i, a := range approvals {
		if a.Void == "" {
			a.Void = p.void(digest, a)
		}
		if a.Void == "" && a.IsSigned() && slices.ContainsFunc(approvals[:i], func(earlier Approval) bool {
			return earlier.IsSigned() && earlier.SignedDigest() == a.SignedDigest()
		}) {
			a.Void = "Its signed text counted before."
		}
		if a.Void != "" {
			g.Void = append(g.Void, a)
			continue
		}
		if i := slices.IndexFunc(valid, func(b Approval) bool {
			return !p.people.Bound() && p.Signers().IsZero() || SamePerson(a, b)
		}); i >= 0 {
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
	case !p.Signers().IsZero():
		return p.unsigned(a)
	case !p.people.Bound():
		return ""
	case a.Account == "" || a.Account != p.people.Named(a.Principal).Account:
		return "It was not given from the account that its principal is bound to now."
	case !slices.Contains(p.people.Named(a.Principal).Roles, p.ApproverRole):
		return fmt.Sprintf("Its principal does not hold the role %q now.", p.ApproverRole)
	}
	return ""
}

// unsigned returns why the signature of an approval does not count, "" if it does.
func (p Policy) unsigned(a Approval) string {
	if !a.IsSigned() {
		return "It is not signed, and this store has signers."
	}
	by, err := p.Signers().Check(a.Given, a.Subject(), a.AtMs)
	if err != nil {
		return "Its signature does not count: " + fault.Of(err).Message + "."
	}
	switch name, _ := p.people.Of(config.Party{Signer: by}); {
	case name != a.Principal:
		return "It names another principal than the one who signed it."
	case p.people.Bound() && !slices.Contains(p.people.Named(name).Roles, p.ApproverRole):
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
	command, where := fault.Command{"proposals", "approve", p.String()}, "at a terminal"
	if g.signed {
		command, where = append(command, "--sign"), "with the key of a signer"
	}
	return f.Suggest("A person with the role %q can approve it with %s "+where+".", g.Role, command).
		With("proposalId", p.String()).
		With("have", g.Have).
		With("want", g.Want).
		With("role", g.Role).
		With("void", void)
}
