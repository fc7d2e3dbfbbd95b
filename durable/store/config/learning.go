package config

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
)

// The values of keys that enable a group of commands.
const (
	on  = "on"
	off = "off"
)

// The values of ProposalsActivation (docs/design.md#proposals).
const (
	ViaApprovalGate = "approval-gate"
	ViaDirectRBAC   = "direct-rbac"
)

// The scopes that Waybill checks. A role may have others, which have no effect.
const (
	ScopeApply    = "proposals:apply"
	ScopeOverride = "proposals:override"
)

var (
	switches    = []string{on, off}
	activations = []string{ViaApprovalGate, ViaDirectRBAC}
	words       = pattern.New(`^[a-z][a-z0-9:_-]{0,63}$`)
)

// ValidName reports whether s may be the name of a role or a scope.
func ValidName(s string) bool { return words.MatchString(s) }

// Feedback reports whether runs accept annotations (docs/design.md#annotations).
func (c Config) Feedback() bool { return c.value(Feedback).Text() == on }

// Proposals reports whether the store accepts proposals (docs/design.md#proposals).
func (c Config) Proposals() bool { return c.value(Proposals).Text() == on }

// ProposalsActivation returns ViaApprovalGate or ViaDirectRBAC.
func (c Config) ProposalsActivation() string { return c.value(ProposalsActivation).Text() }

// ProposalsApproverRole returns the role that is required to approve a proposal.
func (c Config) ProposalsApproverRole() string { return c.value(ProposalsApproverRole).Text() }

// ProposalsQuorum returns how many different people have to approve a proposal.
func (c Config) ProposalsQuorum() int64 { return int64(c.value(ProposalsQuorum).Float()) }

// Roles returns the scopes of each role.
func (c Config) Roles() map[string][]string { return listsOf(c.value(Roles)) }

// listsOf returns the members of an object of lists.
func listsOf(v canon.Value) map[string][]string {
	out := make(map[string][]string, v.Len())
	for i := range v.Len() {
		out[v.Key(i)] = textsOf(v.Item(i))
	}
	return out
}

// textsOf returns the strings of a list.
func textsOf(list canon.Value) []string {
	texts := make([]string, list.Len())
	for i := range texts {
		texts[i] = list.Item(i).Text()
	}
	return texts
}
