package config

import (
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
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

func isWord(v canon.Value) bool { return v.Kind() == canon.String && ValidName(v.Text()) }

// isRef reports whether s may be the name of an actor.
func isRef(s string) bool { return s != "" && len(s) <= limits.ActorRefMax && utf8.ValidString(s) }

// listsOfWords returns a check for an object whose members are lists of distinct words; name
// checks the names of the members.
func listsOfWords(name func(string) bool) func(canon.Value) bool {
	return func(v canon.Value) bool {
		if v.Kind() != canon.Object || v.Len() > limits.PrincipalsMax {
			return false
		}
		for i := range v.Len() {
			if !name(v.Key(i)) || !distinctWords(v.Item(i)) {
				return false
			}
		}
		return true
	}
}

// distinctWords reports whether list is an array of distinct words.
func distinctWords(list canon.Value) bool {
	if list.Kind() != canon.Array || list.Len() > limits.PrincipalsMax {
		return false
	}
	seen := map[string]bool{}
	for i := range list.Len() {
		if w := list.Item(i); !isWord(w) || seen[w.Text()] {
			return false
		}
		seen[list.Item(i).Text()] = true
	}
	return true
}

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

// Principals returns the roles of each principal. While it is empty, the user at a terminal has
// every role.
func (c Config) Principals() map[string][]string { return listsOf(c.value(Principals)) }

// Roles returns the scopes of each role.
func (c Config) Roles() map[string][]string { return listsOf(c.value(Roles)) }

func listsOf(v canon.Value) map[string][]string {
	out := make(map[string][]string, v.Len())
	for i := range v.Len() {
		list := v.Item(i)
		texts := make([]string, list.Len())
		for j := range texts {
			texts[j] = list.Item(j).Text()
		}
		out[v.Key(i)] = texts
	}
	return out
}
