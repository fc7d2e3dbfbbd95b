package config

import "slices"

// People says which principal a caller is, by the account of its process, and what that principal
// holds (docs/design.md#settings). The zero People has no principal.
type People struct {
	bound      bool // a principal is bound to an account or a key
	principals map[string]Principal
	accounts   map[Account]string // the principal of each account
}

// People reads the principals of a configuration.
func (c Config) People() People {
	p := People{bound: c.Bound(), principals: c.Principals(), accounts: map[Account]string{}}
	for name, principal := range p.principals {
		if principal.Account != "" {
			p.accounts[principal.Account] = name
		}
	}
	return p
}

// Bound reports whether a principal is bound to an account or a key. While none is, the person at the
// terminal has every role.
func (p People) Bound() bool { return p.bound }

// Of returns the principal that is bound to an account, false if none is.
func (p People) Of(a Account) (name string, ok bool) {
	name, ok = p.accounts[a]
	return name, ok
}

// Named returns the principal of a name; the zero Principal if there is none.
func (p People) Named(name string) Principal { return p.principals[name] }

// HoldsOneOf reports whether the principal of an account holds one of some roles.
func (p People) HoldsOneOf(a Account, roles []string) bool {
	name, ok := p.accounts[a]
	return ok && slices.ContainsFunc(p.principals[name].Roles,
		func(role string) bool { return slices.Contains(roles, role) })
}

// Among returns the names in a list that are the principal of an account or a role that it holds, in
// the order of the list. While no principal is bound it is the whole list.
func (p People) Among(a Account, names []string) (out []string) {
	if !p.bound {
		return slices.Clone(names)
	}
	principal, ok := p.accounts[a]
	for _, name := range names {
		if ok && (name == principal || slices.Contains(p.principals[principal].Roles, name)) {
			out = append(out, name)
		}
	}
	return out
}
