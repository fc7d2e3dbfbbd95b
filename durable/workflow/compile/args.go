package compile

import (
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
)

// arguments returns the args of a call as texts: strings with the caller's own arguments and
// bindings filled in, other values as JCS.
func (u *unit) arguments(at problem.SourceValue) map[string]string {
	out := map[string]string{}
	for _, name := range at.Names() {
		if v := at.Member(name).Value; v.Kind() == canon.String {
			out[name] = u.text(v.Text())
		} else {
			out[name] = string(v.JCS())
		}
	}
	return out
}

// fillArgs replaces {name} in a text of the routine by the call's argument. A name that is
// not an argument remains, since prompts often contain braces. It records used arguments
// for unusedArgs.
func (u *unit) fillArgs(s string) string {
	if len(u.args) == 0 {
		return s
	}
	return substitute(s, func(name string) (string, bool) {
		value, ok := u.args[name]
		if ok {
			u.used[name] = true
		}
		if !ok || !u.b.spend(len(value)) {
			return "", false
		}
		return value, true
	})
}

// substitute replaces each {name} by value(name), or leaves it if that returns false.
// {{path}} is not changed: it is filled during the run. Placeholders in values are not
// replaced.
func substitute(s string, value func(name string) (string, bool)) string {
	var b strings.Builder
	for {
		open := strings.IndexByte(s, '{')
		if open < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:open])
		s = s[open:]
		if n := doubleBraced(s); n > 0 {
			b.WriteString(s[:n])
			s = s[n:]
			continue
		}
		name := identifier(s[1:])
		if rest := s[1+len(name):]; name != "" && strings.HasPrefix(rest, "}") {
			if text, ok := value(name); ok {
				b.WriteString(text)
				s = rest[1:]
				continue
			}
		}
		b.WriteByte('{')
		s = s[1:]
	}
}

// doubleBraced returns the length of the {{…}} at the start of s, 0 if s has none.
func doubleBraced(s string) int {
	if !strings.HasPrefix(s, "{{") {
		return 0
	}
	n := strings.IndexAny(s[2:], "{}")
	if n < 0 || !strings.HasPrefix(s[2+n:], "}}") {
		return 0
	}
	return 2 + n + 2
}

// identifier returns the longest prefix of s that is a name, "" if none is.
func identifier(s string) string {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		case i > 0 && (c >= '0' && c <= '9' || c == '-' || c == '.'):
		default:
			return s[:i]
		}
	}
	return s
}

// unusedArgs warns of arguments that no text of the routine uses; most are misspelled. at is
// the place of the args in the caller. It must run after the routine was compiled.
func (u *unit) unusedArgs(stepID string, at problem.SourceValue, caller *unit) {
	for _, name := range slices.Sorted(maps.Keys(u.args)) {
		if !u.used[name] {
			u.b.warn(ArgumentUnused, stepID)
			caller.report.Warn(at.Member(name), "Remove it, or write {"+name+"} where the routine should show it.",
				"%s has no {%s} in its texts, so the argument changes nothing", u.where, name)
		}
	}
}
