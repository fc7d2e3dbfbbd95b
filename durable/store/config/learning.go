package config

import (
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
)

// The words of keys that turn something on.
const (
	on  = "on"
	off = "off"
)

// The ways in which proposals are activated (RFC 0096 A).
const (
	ViaApprovalGate = "approval-gate"
	ViaDirectRBAC   = "direct-rbac"
)

// The scopes that something asks for. A role may have others: they are a store's own words.
const (
	ScopeApply    = "proposals:apply"
	ScopeOverride = "proposals:override"
)

var (
	switches    = []string{on, off}
	activations = []string{ViaApprovalGate, ViaDirectRBAC}
	words       = pattern.New(`^[a-z][a-z0-9:_-]{0,63}$`)
)

// Word reports whether s may name a role or a scope.
func Word(s string) bool { return words.MatchString(s) }

func isWord(v canon.Value) bool { return v.Kind() == canon.String && Word(v.Text()) }

// isRef reports what an actor may call itself.
func isRef(s string) bool { return s != "" && len(s) <= limits.ActorRefMax && utf8.ValidString(s) }

// listsOfWords is the check of an object whose members are lists of words, each once.
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

// Feedback reports whether runs take annotations (RFC 0056).
func (c Config) Feedback() bool { return c.value(Feedback).Text() == on }

// Proposals reports whether the store takes proposals (RFC 0096).
func (c Config) Proposals() bool { return c.value(Proposals).Text() == on }

// ProposalsActivation is ViaApprovalGate or ViaDirectRBAC.
func (c Config) ProposalsActivation() string { return c.value(ProposalsActivation).Text() }

// ProposalsApproverRole is the role whose holders approve.
func (c Config) ProposalsApproverRole() string { return c.value(ProposalsApproverRole).Text() }

// ProposalsQuorum is how many different people have to approve.
func (c Config) ProposalsQuorum() int64 { return int64(c.value(ProposalsQuorum).Float()) }

// Principals is who holds which roles. Empty: nobody was named.
func (c Config) Principals() map[string][]string { return listsOf(c.value(Principals)) }

// Roles is which scopes each role has.
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
