package compile

import (
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
)

// arguments returns the args of a call as texts: strings with the caller's own arguments and
// bindings filled in, other values as JCS.
func (u *unit) arguments(at problem.SourceValue) map[string]string {
	out := map[string]string{}
	for _, name := range at.Names() {
		out[name] = u.value(at.Member(name).Value)
	}
	return out
}

// value returns an authored value as text: a string as other authored text, others as JCS.
func (p *placeholders) value(v canon.Value) string {
	if v.Kind() == canon.String {
		return p.text(v.Text())
	}
	return string(v.JCS())
}

// fillArgs replaces {name} in a text of the routine by the call's argument. A name that is
// not an argument remains, since prompts often contain braces. It records used arguments
// for unusedArgs.
func (p *placeholders) fillArgs(s string) string {
	if len(p.args) == 0 {
		return s
	}
	return substitute(s, func(name string) (string, bool) {
		value, ok := p.args[name]
		if ok {
			p.used[name] = true
		}
		return value, ok && p.b.spend(len(value))
	})
}

// braced matches a {name}, and a {{path}} as a whole, so that its inside is not a match.
var braced = pattern.New(`\{\{[^{}]*\}\}|\{([A-Za-z_][A-Za-z0-9_.-]*)\}`)

// substitute replaces each {name} by value(name), or leaves it if that returns false.
// {{path}} is not changed: it is filled during the run. Placeholders in values are not
// replaced.
func substitute(s string, value func(name string) (string, bool)) string {
	return braced.ReplaceAllStringFunc(s, func(token string) string {
		name := braced.FindStringSubmatch(token)[1]
		if name == "" {
			return token // {{path}}
		}
		if text, ok := value(name); ok {
			return text
		}
		return token
	})
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
