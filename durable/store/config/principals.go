package config

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
)

// Account is the account of the operating system that a process runs as, in the form "uid:1000".
// The zero Account is none: the platform has no numeric ids, or the caller is unknown.
type Account string

// AccountOf returns the account with a numeric id. A negative id is none.
func AccountOf(uid int) Account {
	if uid < 0 {
		return ""
	}
	return Account("uid:" + strconv.Itoa(uid))
}

// Valid reports whether a is the account of a numeric id.
func (a Account) Valid() bool {
	digits, ok := strings.CutPrefix(string(a), "uid:")
	n, err := strconv.ParseInt(digits, 10, 64)
	return ok && err == nil && n >= 0 && n <= UIDMax && digits == strconv.FormatInt(n, 10)
}

// UIDMax is the largest numeric id: the next one is (uid_t)-1, which no account can have.
const UIDMax = 1<<32 - 2

// Principal is one entry of the key "principals".
type Principal struct {
	Roles []string
	// Account and Keys are what the principal is bound to: the account whose processes act for it,
	// and the fingerprints of its SSH keys.
	Account Account
	Keys    []string
}

// Bound reports whether the principal is bound to an account or a key. A principal that is not is
// only a name, which every caller can give.
func (p Principal) Bound() bool { return p.Account != "" || len(p.Keys) > 0 }

// Principals returns the principals by name. While none of them is bound, a person at a terminal
// has every role; see Bound.
func (c Config) Principals() map[string]Principal {
	all := c.value(Principals)
	out := make(map[string]Principal, all.Len())
	for i := range all.Len() {
		out[all.Key(i)] = principalOf(all.Item(i))
	}
	return out
}

// Bound reports whether a principal is bound to an account or a key. From then on a caller holds
// what the principal of its account holds, and every other caller holds nothing.
func (c Config) Bound() bool {
	for _, p := range c.Principals() {
		if p.Bound() {
			return true
		}
	}
	return false
}

// CheckChange refuses, as CheckQuorum and CheckSigners do, a configuration to which a change of a key led. A change
// of another key is not refused for what was stored before it.
func (c Config) CheckChange(key Key) error {
	switch key {
	case Principals, ProposalsQuorum:
		return c.CheckQuorum()
	case Signers, SignersRequire:
		return cmp.Or(c.CheckSigners(), c.CheckQuorum())
	}
	return nil
}

// CheckQuorum refuses, with PRINCIPALS_UNBOUND, a quorum above one while no principal is bound and no
// signer set: one person could give all approvals, each under another name.
func (c Config) CheckQuorum() error {
	if c.ProposalsQuorum() <= 1 || c.Bound() || !c.Signers().IsZero() {
		return nil
	}
	return fault.New(fault.PrincipalsUnbound,
		"a quorum of %d requires principals that are bound to accounts, and no principal is bound to one",
		c.ProposalsQuorum()).With("proposalsQuorum", c.ProposalsQuorum())
}

// The members of a principal.
const (
	memberRoles = "roles"
	memberUID   = "uid"
	memberKeys  = "keys"
)

// principalOf reads a valid principal: the list of its roles, or an object of memberRoles,
// memberUID and memberKeys.
func principalOf(v canon.Value) (p Principal) {
	if v.Kind() == canon.Array {
		return Principal{Roles: textsOf(v)}
	}
	roles, _ := v.Get(memberRoles)
	keys, _ := v.Get(memberKeys)
	p = Principal{Roles: textsOf(roles), Keys: textsOf(keys)}
	if uid, ok := v.Get(memberUID); ok {
		p.Account = AccountOf(int(uid.Float()))
	}
	return p
}

// checkPrincipals is the check of the key "principals".
func checkPrincipals(v canon.Value) *mismatch {
	if m := checkObject(v, "the name of a principal, 1 to 128 bytes of UTF-8", isRef); m != nil {
		return m
	}
	owner := map[string]string{} // of each account and key
	for i := range v.Len() {
		name := v.Key(i)
		if m := checkPrincipal(v.Item(i)); m != nil {
			return m.below(name)
		}
		p := principalOf(v.Item(i))
		for _, bound := range p.bindings() {
			if other, taken := owner[bound.to]; taken {
				return (&mismatch{bound.member, "one that no other principal has",
					strings.TrimPrefix(bound.to, "uid:") + ", which " + shown(strconv.Quote(other)) + " has"}).below(name)
			}
			owner[bound.to] = name
		}
	}
	return nil
}

// binding is an account or a key that a principal is bound to, and the member that names it.
type binding struct{ member, to string }

// bindings lists what a principal is bound to.
func (p Principal) bindings() (out []binding) {
	if p.Account != "" {
		out = append(out, binding{memberUID, string(p.Account)})
	}
	for _, key := range p.Keys {
		out = append(out, binding{memberKeys, key})
	}
	return out
}

// checkPrincipal checks one principal in either form.
func checkPrincipal(v canon.Value) *mismatch {
	if v.Kind() == canon.Array {
		return checkWords(v)
	}
	if v.Kind() != canon.Object {
		return mismatched("", "a list of roles, or an object of roles, uid and keys", v)
	}
	for i := range v.Len() {
		var m *mismatch
		switch member, value := v.Key(i), v.Item(i); member {
		case memberRoles:
			m = checkWords(value).below(member)
		case memberUID:
			if n := value.Float(); value.Kind() != canon.Number || n != float64(int64(n)) || n < 0 || n > UIDMax {
				m = mismatched(member, "the numeric id of an account, a whole number from 0 to "+
					strconv.FormatInt(UIDMax, 10), value)
			}
		case memberKeys:
			m = checkKeys(value).below(member)
		default:
			m = &mismatch{"", "only the members roles, uid and keys", shown(strconv.Quote(member))}
		}
		if m != nil {
			return m
		}
	}
	return nil
}

// fingerprintPrefix begins the fingerprint of an SSH key; 32 bytes follow in base64 without
// padding.
const fingerprintPrefix = "SHA256:"

// checkKeys checks a list of fingerprints of SSH keys. One spelling per key is accepted, so that
// equal keys are found.
func checkKeys(list canon.Value) *mismatch {
	if m := checkList(list); m != nil {
		return m
	}
	var seen []string
	for i := range list.Len() {
		digits, ok := strings.CutPrefix(list.Item(i).Text(), fingerprintPrefix)
		sum, err := base64.RawStdEncoding.Strict().DecodeString(digits)
		if !ok || err != nil || len(sum) != 32 || strings.ContainsAny(digits, "\r\n") {
			return mismatched(strconv.Itoa(i), "the fingerprint of an SSH key, SHA256: and 43 characters of base64",
				list.Item(i))
		}
		if slices.Contains(seen, digits) {
			return mismatched(strconv.Itoa(i), "each key once", list.Item(i))
		}
		seen = append(seen, digits)
	}
	return nil
}

// isRef reports whether s may be the name of an actor.
func isRef(s string) bool { return s != "" && len(s) <= limits.ActorRefMax && utf8.ValidString(s) }
