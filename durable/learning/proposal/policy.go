package proposal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/store/config"
)

// Caller is the caller of an operation on proposals, as far as the program observes it. The name
// that a caller gives itself is not part of it: every caller can give every name.
type Caller struct {
	Human      bool
	AtTerminal bool           // a person sees what is asked, and answers
	Account    config.Account // that the process runs as
	Signer     consent.By     // who signed the consent that the call brings; zero without a signature
}

// Party returns who the caller is for the settings.
func (c Caller) Party() config.Party { return config.Party{Account: c.Account, Signer: c.Signer} }

// Name returns the name of a caller that no principal is bound to: its kind.
func (c Caller) Name() string {
	if c.Human {
		return string(event.Human)
	}
	return string(event.Agent)
}

// person reports a human at a terminal, or one who signed: they alone can approve.
func (c Caller) person() bool { return c.Human && (c.AtTerminal || c.Signer.Principal != "") }

// Policy decides which caller may do what with proposals, from the store's configuration.
type Policy struct {
	Mode         Mode
	ApproverRole string
	Quorum       int64
	// Digest identifies the settings that decide who may do what.
	Digest canon.Digest

	unbound error // why no quorum above one can be reached, nil if one can
	people  config.People
	roles   map[string][]string // the scopes of each role
}

// PolicyOf reads the policy from a store's configuration.
func PolicyOf(c config.Config) Policy {
	return Policy{Mode: Mode(c.ProposalsActivation()), ApproverRole: c.ProposalsApproverRole(),
		Quorum: c.ProposalsQuorum(), Digest: c.PolicyDigest(), unbound: c.CheckQuorum(), people: c.People(), roles: c.Roles()}
}

// Signers returns the keys whose signatures show the consent of a person; the zero Signers: none is required.
func (p Policy) Signers() consent.Signers { return p.people.Signers() }

// Principal returns the name of a caller in records: that of the principal which is bound to its
// account, otherwise its kind.
func (p Policy) Principal(who Caller) string {
	if name, ok := p.people.Of(who.Party()); ok {
		return name
	}
	return who.Name()
}

// Holds reports whether a caller has a role. While no principal is bound to an account or a key, a
// person at a terminal has every role and all other callers have none. From then on a caller has
// the roles of the principal of its account.
func (p Policy) Holds(who Caller, role string) bool {
	return p.holdsOneOf(who, []string{role})
}

// holdsOneOf reports whether a caller has one of some roles.
func (p Policy) holdsOneOf(who Caller, roles []string) bool {
	if !p.people.Bound() {
		return who.person()
	}
	return p.people.HoldsOneOf(who.Party(), roles)
}

// May reports whether one of a caller's roles has a scope.
func (p Policy) May(who Caller, scope string) bool {
	return p.holdsOneOf(who, p.rolesWith(scope))
}

// CheckApprove refuses, with PROPOSAL_FORBIDDEN, every caller but a person at a terminal who
// holds the approver's role; and, with PRINCIPALS_UNBOUND, an approval where the quorum cannot be
// reached.
func (p Policy) CheckApprove(who Caller) error {
	if !who.person() {
		f := p.lacking(who, "role", p.ApproverRole)
		f.Message = fmt.Sprintf("a proposal is approved by a person at a terminal who holds the role %q, and %s is not one",
			p.ApproverRole, p.Principal(who))
		return f
	}
	if err := p.CheckRole(who); err != nil {
		return err
	}
	return p.unbound
}

// CheckRole refuses, with PROPOSAL_FORBIDDEN, a caller without the approver's role. Unlike
// CheckApprove it does not require a terminal.
func (p Policy) CheckRole(who Caller) error {
	if p.Holds(who, p.ApproverRole) {
		return nil
	}
	return p.lacking(who, "role", p.ApproverRole)
}

// CheckDiscard refuses, with PROPOSAL_FORBIDDEN, to make the approvals of a proposal ineffective
// by revising, rejecting or archiving it, unless the caller has the approver's role.
func (p Policy) CheckDiscard(who Caller, of id.Proposal) error {
	if p.Holds(who, p.ApproverRole) {
		return nil
	}
	f := p.lacking(who, "role", p.ApproverRole)
	f.Message = fmt.Sprintf("%s has approvals, so revising, rejecting or archiving it requires the role %q, "+
		"which %s does not have", of, p.ApproverRole, p.Principal(who))
	return f.With("proposalId", of.String())
}

// CheckScope refuses, with PROPOSAL_FORBIDDEN, a caller without a scope.
func (p Policy) CheckScope(who Caller, scope string) error {
	if p.May(who, scope) {
		return nil
	}
	return p.lacking(who, "scope", scope)
}

// CheckOverride decides whether a caller may bypass the approval gate: PROPOSAL_FORBIDDEN
// unless it is a person at a terminal with the scope, VALIDATION_ERROR without a reason.
func (p Policy) CheckOverride(who Caller, reason string) error {
	if !who.person() {
		f := p.lacking(who, "scope", config.ScopeOverride)
		f.Message = fmt.Sprintf(
			"only a person at a terminal with the scope %q may bypass the approval gate, and %s is not one",
			config.ScopeOverride, p.Principal(who))
		return f
	}
	if err := p.CheckScope(who, config.ScopeOverride); err != nil {
		return err
	}
	// NoReason is what a record stores for an absent reason, so it is not a reason either.
	if given := strings.TrimSpace(reason); given == "" || given == NoReason {
		return refuse("reason", "the reason for not waiting for approval", "nothing").Suggest("Give one with --reason.")
	}
	return CheckReason(reason)
}

// namedMax bounds the items of a list in a refusal.
const namedMax = 10

// lacking is the fault for a missing role or scope: what is missing, and the caller. It names no
// principal that has it: a refusal does not say which name to take. kind is "role" or "scope".
func (p Policy) lacking(who Caller, kind, word string) *fault.Fault {
	f := fault.New(fault.ProposalForbidden, "%s does not have the %s %q", p.Principal(who), kind, word)
	if p.people.Bound() {
		f.Suggest("Roles belong to accounts of the operating system; a name in --as gives none. A person assigns them "+
			"with %s at a terminal.", fault.Command{"config", "set", "principals"})
	} else {
		f.Suggest("While no principal is bound to an account, the person at the terminal has every role and scope: ask " +
			"them to run the command there.")
	}
	return f.With(kind, word).With("principal", p.Principal(who))
}

// rolesWith lists the roles that have a scope.
func (p Policy) rolesWith(scope string) (out []string) {
	for role, scopes := range p.roles {
		if slices.Contains(scopes, scope) {
			out = append(out, role)
		}
	}
	return out
}
