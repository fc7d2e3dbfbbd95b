package criteria

import (
	"strings"

	"github.com/waybill/waybill/durable/problem"
)

// regex compiles the pattern once, when the workflow is read: an invalid one is found
// before a run can depend on it.
func (p *parser) regex(at problem.Place, message said) rule {
	r := regexRule{said: message, pattern: p.text(at, "pattern", "Write a regular expression (RE2)."), flags: p.flags(at)}
	if r.pattern != "" {
		r.re = p.compile(at.Member("pattern"), r.flags)
	}
	return r
}

// flags are those that change what a pattern means in RE2. Others, such as g, mean
// nothing for a check and are refused, so that nobody relies on them.
func (p *parser) flags(at problem.Place) string {
	if !at.Has("flags") {
		return ""
	}
	member := at.Member("flags")
	flags := member.Value.Text()
	for i, c := range flags {
		if !strings.ContainsRune("ims", c) || strings.ContainsRune(flags[:i], c) {
			p.fail(member, "Use any of i (ignore case), m (lines), s (dot matches newline), each once.", "flag %q is not known or stands twice", c)
			return ""
		}
	}
	if flags == "" {
		p.fail(member, "Remove it, or use any of i, m, s.", "flags must be a string of i, m, s")
	}
	return flags
}
