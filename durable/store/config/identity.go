package config

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/redact"
)

// Names are the names that a machine has for the person who runs the program, "" where it has none.
type Names struct {
	Name, Email string // of git
	Account     string // of the operating system
}

// Identity returns the default identity of a caller: the configured one, else the name of git, else the
// account; "" if none of them can be recorded. It is a claim and never a reason to permit anything
// (docs/design.md#identity). machine is called only if nothing is configured.
func (c Config) Identity(machine func() Names) string {
	if own := c.value(Identity).Text(); own != "" {
		return own
	}
	m := machine()
	name, email := cleanName(m.Name), cleanName(m.Email)
	both := name
	if email != "" {
		both = strings.TrimSpace(name + " <" + email + ">")
	}
	for _, found := range []string{both, name, cleanName(m.Account)} {
		if isIdentity(found) {
			return found
		}
	}
	return ""
}

// cleanName returns a name in one line, without characters that are not printed.
func cleanName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError || invisible.Is(r) || !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// isIdentity reports a name that can be recorded: within its limit, printable, and not like a secret.
func isIdentity(s string) bool {
	return s != "" && len(s) <= limits.ActorRefMax && utf8.ValidString(s) && cleanName(s) == s &&
		redact.Text(s, nil) == s
}

// checkIdentity checks the default identity.
func checkIdentity(v canon.Value) *mismatch {
	if v.Kind() == canon.String && (v.Text() == "" || isIdentity(v.Text())) {
		return nil
	}
	return mismatched("", "a name of 1 to 128 bytes in one line, which is no secret", v)
}
