package criteria

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
)

// regex compiles the pattern once, when the workflow is read: an invalid one is found
// before a run can depend on it.
func (p *parser) regex(at problem.Place, message said) rule {
	r := regexRule{said: message, pattern: p.text(at, "pattern", "Write a regular expression (RE2)."),
		flags: p.flags(at)}
	if r.pattern != "" {
		r.re = p.compile(at.Member("pattern"), strings.ReplaceAll(r.flags, "y", ""))
	}
	return r
}

// idleFlags are those of other engines that make no difference here: a check needs
// one match, and RE2 always reads whole characters.
const idleFlags = "gu"

// flags are those that change what is matched. Idle ones are dropped with a warning,
// so that nobody relies on them; y works, but is easily overlooked behind a pattern.
func (p *parser) flags(at problem.Place) string {
	if !at.Has("flags") {
		return ""
	}
	member := at.Member("flags")
	if member.Value.Kind() != canon.String {
		p.fail(member, "Remove it, or use any of i, m, s.", "flags must be a string of i, m, s, got %s",
			member.Value.Kind())
	}
	flags := member.Value.Text()
	var out strings.Builder
	for i, c := range flags {
		switch {
		case !strings.ContainsRune("imsy"+idleFlags, c) || strings.ContainsRune(flags[:i], c):
			p.fail(member, "Use any of i (ignore case), m (lines), s (dot matches newline), each once.",
				"flag %q is not known or stands twice", c)
			return ""
		case strings.ContainsRune(idleFlags, c):
			p.report.Warn(member, "Remove the flag.", "flag %q changes nothing in a check", c)
			continue
		case c == 'y':
			p.report.Warn(member, `Start the pattern with \A instead.`,
				"flag %q lets the pattern match at the start only", c)
		}
		out.WriteRune(c)
	}
	return out.String()
}
