package criteria

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
)

// regex parses a regex rule. The pattern is compiled when the workflow is parsed, so that an
// invalid one is reported before a run depends on it.
func (p *parser) regex(at problem.SourceValue, message authorMessage) rule {
	r := regexRule{authorMessage: message, pattern: p.text(at, "pattern", "Write a regular expression (RE2)."),
		flags: p.flags(at)}
	if r.pattern != "" {
		// RE2 has no flag y; regexRule.accepts implements it.
		r.re = p.compile(at.Member("pattern"), strings.ReplaceAll(r.flags, "y", ""))
	}
	return r
}

// ignoredFlags are the flags of JavaScript that have no effect here: g, because a check
// needs one match only, and u, because RE2 always matches whole characters.
const ignoredFlags = "gu"

// flags parses the flags of a regex rule and returns those that have an effect. Ignored
// flags are dropped with a warning. The flag y is accepted with a warning, because readers
// easily overlook it after a long pattern.
func (p *parser) flags(at problem.SourceValue) string {
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
		case !strings.ContainsRune("imsy"+ignoredFlags, c) || strings.ContainsRune(flags[:i], c):
			p.fail(member, "Use any of i (ignore case), m (lines), s (dot matches newline), each once.",
				"flag %q is unknown or repeated", c)
			return ""
		case strings.ContainsRune(ignoredFlags, c):
			p.report.Warn(member, "Remove the flag.", "flag %q has no effect in a check", c)
			continue
		case c == 'y':
			p.report.Warn(member, `Start the pattern with \A instead.`,
				"flag %q lets the pattern match at the start only", c)
		}
		out.WriteRune(c)
	}
	return out.String()
}
