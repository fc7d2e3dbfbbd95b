package proposal

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/store/config"
)

// Principal is who asks for something.
type Principal struct {
	Ref        string // what they call themselves; "" where they do not
	Human      bool
	AtTerminal bool // a person sits there, and no pipe or program answers for them
}

// PrincipalOf is an actor as a principal.
func PrincipalOf(a event.Actor, atTerminal bool) Principal {
	return Principal{Ref: a.Ref, Human: a.Kind == event.Human, AtTerminal: atTerminal}
}

// Name is what the principal is called in records and in the configuration: its ref, or
// what it is.
func (p Principal) Name() string {
	switch {
	case p.Ref != "":
		return p.Ref
	case p.Human:
		return string(event.Human)
	}
	return string(event.Agent)
}

// person reports somebody who sits at a terminal.
func (p Principal) person() bool { return p.Human && p.AtTerminal }

// Policy is who may do what about proposals, as the store is configured.
type Policy struct {
	Mode         Mode
	ApproverRole string
	Quorum       int64

	principals, roles map[string][]string
}

// PolicyOf reads the policy from a store's configuration.
func PolicyOf(c config.Config) Policy {
	return Policy{Mode: Mode(c.ProposalsActivation()), ApproverRole: c.ProposalsApproverRole(),
		Quorum:     c.ProposalsQuorum(),
		principals: c.Principals(), roles: c.Roles()}
}

// Holds reports whether a principal has a role. While nobody is named in the
// configuration, the person at the terminal has every one, and nobody else any.
func (p Policy) Holds(who Principal, role string) bool {
	if len(p.principals) == 0 {
		return who.person()
	}
	return slices.Contains(p.principals[who.Name()], role)
}

// May reports whether a principal has a scope: through one of its roles.
func (p Policy) May(who Principal, scope string) bool {
	if len(p.principals) == 0 {
		return who.person()
	}
	return slices.ContainsFunc(p.principals[who.Name()],
		func(role string) bool { return slices.Contains(p.roles[role], scope) })
}

// CheckApprove refuses, with PROPOSAL_FORBIDDEN, whoever may not approve: only a person
// at a terminal who holds the approver's role may.
func (p Policy) CheckApprove(who Principal) error {
	if who.person() && p.Holds(who, p.ApproverRole) {
		return nil
	}
	f := p.lacking(who, "role", p.ApproverRole, []string{p.ApproverRole})
	if !who.person() {
		f.Message = fmt.Sprintf(
			"a proposal is approved by a person at a terminal who holds the role %q, and %s asks from elsewhere",
			p.ApproverRole, who.Name())
	}
	return f
}

// CheckScope refuses, with PROPOSAL_FORBIDDEN, whoever lacks a scope.
func (p Policy) CheckScope(who Principal, scope string) error {
	if p.May(who, scope) {
		return nil
	}
	return p.lacking(who, "scope", scope, p.rolesWith(scope))
}

// CheckOverride refuses to go past the gate: PROPOSAL_FORBIDDEN for whoever is no person
// at a terminal or lacks the scope, VALIDATION_ERROR where no reason is given.
func (p Policy) CheckOverride(who Principal, reason string) error {
	if !who.person() {
		f := p.lacking(who, "scope", config.ScopeOverride, p.rolesWith(config.ScopeOverride))
		f.Message = fmt.Sprintf(
			"only a person at a terminal who has the scope %q goes past the approval gate, and %s asks from elsewhere",
			config.ScopeOverride, who.Name())
		return f
	}
	if err := p.CheckScope(who, config.ScopeOverride); err != nil {
		return err
	}
	// The words that stand for no reason are none either: no record takes them.
	if given := strings.TrimSpace(reason); given == "" || given == NoReason {
		return refuse("reason", "the reason for not waiting for approval", "nothing").Suggest("Give one with --reason.")
	}
	return CheckReason(reason)
}

// namedMax is how many names a refusal tells: whoever needs all reads the configuration.
const namedMax = 10

// lacking names what is missing, who asked, and who has it. kind is role or scope; roles
// are those that would do.
func (p Policy) lacking(who Principal, kind, word string, roles []string) *fault.Fault {
	holders := []string{}
	for _, ref := range slices.Sorted(maps.Keys(p.principals)) {
		if slices.ContainsFunc(roles, func(role string) bool { return slices.Contains(p.principals[ref], role) }) {
			holders = append(holders, ref)
		}
	}
	f := fault.New(fault.ProposalForbidden, "%s does not have the %s %q", who.Name(), kind, word)
	switch {
	case len(p.principals) == 0:
		f.Suggest("While the configuration names nobody, the person at the terminal has every role and scope: ask " +
			"them to do it there.")
	case len(holders) == 0:
		f.Suggest("Nobody has it. Say who does with 'waybill config set principals' and 'waybill config set roles'.")
	case who.Ref == "":
		f.Suggest("Say who you are with --as; it takes %s.", strings.Join(first(holders), " or "))
	default:
		f.Suggest("Ask %s.", strings.Join(first(holders), " or "))
	}
	return f.With(kind, word).With("principal", who.Name()).With("holders", first(holders)).With("roles", first(roles))
}

func first(names []string) []string { return names[:min(len(names), namedMax)] }

// rolesWith lists the roles that have a scope.
func (p Policy) rolesWith(scope string) []string {
	out := []string{}
	for _, role := range slices.Sorted(maps.Keys(p.roles)) {
		if slices.Contains(p.roles[role], scope) {
			out = append(out, role)
		}
	}
	return out
}
