package config

import (
	"slices"

	"github.com/waybill/waybill/durable/consent"
)

// Party is who makes a call, as far as it can be shown: the account of the process, and who signed the
// consent that the call brings. A signature comes first: any process may hand one in.
type Party struct {
	Account Account
	Signer  consent.By // zero without a signature
}

// People says which principal a caller is, by the account of its process or by a signature, and what
// that principal holds (docs/design.md#settings). The zero People has no principal.
type People struct {
	bound      bool // a principal is bound to an account or a key
	principals map[string]Principal
	accounts   map[Account]string // the principal of each account
	keys       map[string]string  // the principal of each fingerprint of a key
	signers    consent.Signers
}

// People reads the principals of a configuration.
func (c Config) People() People {
	p := People{bound: c.Bound(), principals: c.Principals(), accounts: map[Account]string{}, keys: map[string]string{},
		signers: c.Signers()}
	for name, principal := range p.principals {
		if principal.Account != "" {
			p.accounts[principal.Account] = name
		}
		for _, key := range principal.Keys {
			p.keys[key] = name
		}
	}
	return p
}

// Bound reports whether a principal is bound to an account or a key. While none is, the person at the
// terminal has every role.
func (p People) Bound() bool { return p.bound }

// Signers returns the keys whose signatures show a consent.
func (p People) Signers() consent.Signers { return p.signers }

// Of returns the principal of a party, false if none is bound to it. The key of a signature binds the
// principal that the settings name for it: that of "principals", else that of "signers".
func (p People) Of(who Party) (name string, ok bool) {
	if by := who.Signer; by.Principal != "" {
		if name, ok = p.keys[by.Fingerprint]; ok {
			return name, true
		}
		return by.Principal, true
	}
	name, ok = p.accounts[who.Account]
	return name, ok
}

// Named returns the principal of a name; the zero Principal if there is none.
func (p People) Named(name string) Principal { return p.principals[name] }

// HoldsOneOf reports whether the principal of a party holds one of some roles.
func (p People) HoldsOneOf(who Party, roles []string) bool {
	name, ok := p.Of(who)
	return ok && slices.ContainsFunc(p.principals[name].Roles,
		func(role string) bool { return slices.Contains(roles, role) })
}

// Among returns the names in a list that are the principal of a party or a role that it holds, in the
// order of the list. While no principal is bound it is the whole list.
func (p People) Among(who Party, names []string) (out []string) {
	if !p.bound {
		return slices.Clone(names)
	}
	principal, ok := p.Of(who)
	for _, name := range names {
		if ok && (name == principal || slices.Contains(p.principals[principal].Roles, name)) {
			out = append(out, name)
		}
	}
	return out
}

// AccountOf returns the account of a party for the question of who performed a step: that of the
// principal who signed, where one is bound to it, else that of the process.
func (p People) AccountOf(who Party) Account {
	if name, ok := p.Of(who); ok && who.Signer.Principal != "" && p.principals[name].Account != "" {
		return p.principals[name].Account
	}
	return who.Account
}
