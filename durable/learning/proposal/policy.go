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

// Principal is the caller of an operation on proposals.
type Principal struct {
	Ref        string // its own name; "" if it gave none
	Human      bool
	AtTerminal bool // interactive: stdin is a terminal and not a pipe or program
}

// PrincipalOf returns an actor as a principal.
func PrincipalOf(a event.Actor, atTerminal bool) Principal {
	return Principal{Ref: a.Ref, Human: a.Kind == event.Human, AtTerminal: atTerminal}
}

// Name returns the principal's name in records and in the configuration: its ref, or else its
// kind.
func (p Principal) Name() string {
	switch {
	case p.Ref != "":
		return p.Ref
	case p.Human:
		return string(event.Human)
	}
	return string(event.Agent)
}

// person reports a human at a terminal, who alone can approve.
func (p Principal) person() bool { return p.Human && p.AtTerminal }

// Policy decides which principal may do what with proposals, from the store's configuration.
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

// Holds reports whether a principal has a role. While the configuration names no principals,
// a person at a terminal has every role and all other callers have none.
func (p Policy) Holds(who Principal, role string) bool {
	return p.holdsOneOf(who, []string{role})
}

// holdsOneOf reports whether a principal has one of some roles.
func (p Policy) holdsOneOf(who Principal, roles []string) bool {
	if len(p.principals) == 0 {
		return who.person()
	}
	return slices.ContainsFunc(p.principals[who.Name()],
		func(role string) bool { return slices.Contains(roles, role) })
}

// May reports whether one of a principal's roles has a scope.
func (p Policy) May(who Principal, scope string) bool {
	return p.holdsOneOf(who, p.rolesWith(scope))
}

// CheckApprove refuses, with PROPOSAL_FORBIDDEN, every caller but a person at a terminal who
// holds the approver's role.
func (p Policy) CheckApprove(who Principal) error {
	if who.person() {
		return p.CheckRole(who)
	}
	f := p.lacking(who, "role", p.ApproverRole, []string{p.ApproverRole})
	f.Message = fmt.Sprintf("a proposal is approved by a person at a terminal who holds the role %q, and %s is not one",
		p.ApproverRole, who.Name())
	return f
}

// CheckRole refuses, with PROPOSAL_FORBIDDEN, a caller without the approver's role. Unlike
// CheckApprove it does not require a terminal.
func (p Policy) CheckRole(who Principal) error {
	if p.Holds(who, p.ApproverRole) {
		return nil
	}
	return p.lacking(who, "role", p.ApproverRole, []string{p.ApproverRole})
}

// CheckScope refuses, with PROPOSAL_FORBIDDEN, a caller without a scope.
func (p Policy) CheckScope(who Principal, scope string) error {
	if p.May(who, scope) {
		return nil
	}
	return p.lacking(who, "scope", scope, p.rolesWith(scope))
}

// CheckOverride decides whether a caller may bypass the approval gate: PROPOSAL_FORBIDDEN
// unless it is a person at a terminal with the scope, VALIDATION_ERROR without a reason.
func (p Policy) CheckOverride(who Principal, reason string) error {
	if !who.person() {
		f := p.lacking(who, "scope", config.ScopeOverride, p.rolesWith(config.ScopeOverride))
		f.Message = fmt.Sprintf(
			"only a person at a terminal with the scope %q may bypass the approval gate, and %s is not one",
			config.ScopeOverride, who.Name())
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

// namedMax bounds the names in a refusal; the configuration holds all of them.
const namedMax = 10

// lacking is the fault for a missing role or scope: what is missing, the caller, and the
// principals that have it. kind is "role" or "scope"; roles are those that grant it.
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
		f.Suggest(
			"While the configuration names no principals, the person at the terminal has every role and scope: ask " +
				"them to run the command there.",
		)
	case len(holders) == 0:
		f.Suggest("No principal has it. Assign it with %s and %s.",
			fault.Command{"config", "set", "principals"}, fault.Command{"config", "set", "roles"})
	case who.Ref == "":
		f.Suggest("Identify yourself with --as, as %s.", strings.Join(first(holders), " or "))
	default:
		f.Suggest("Ask %s.", strings.Join(first(holders), " or "))
	}
	return f.With(kind, word).With("principal", who.Name()).With("holders", first(holders)).With("roles", first(roles))
}

// first returns at most namedMax names.
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
