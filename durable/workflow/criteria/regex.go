package criteria

import (
	"regexp"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// parseRegex parses a rule that requires a match of a regular expression. The pattern is
// compiled when the workflow is parsed, so that an invalid one is reported before a run depends
// on it. RE2 matches every pattern in linear time.
func parseRegex(at problem.SourceValue, report problem.Report) rule {
	pattern := parseText(at, "pattern", "Write a regular expression (RE2).", report)
	flags := parseFlags(at, report)
	r := rule{operand: pattern, value: shape.JSONOf("pattern", pattern)}
	if flags != "" {
		r.value = r.value.With("flags", canon.OfString(flags))
	}
	// RE2 has no flag y, which allows a match at the start of the text only: if any match
	// starts there, the leftmost one does.
	where, sticky := "", strings.Contains(flags, "y")
	if sticky {
		where = " at the start"
	}
	r.requires, r.forbids = "Must match pattern"+where+": "+pattern, "Must not match pattern"+where+": "+pattern
	if pattern == "" {
		return r // reported above
	}
	re := compile(at.Member("pattern"), strings.ReplaceAll(flags, "y", ""), report)
	if re != nil {
		r.passing, r.empty = shortMatches(re.String()), re.MatchString("")
	}
	r.accepts = func(notes string) (string, bool) {
		found := re.FindStringIndex(notes)
		return "", found != nil && (found[0] == 0 || !sticky)
	}
	return r
}

// ignoredFlags are the flags of JavaScript that have no effect here: g, because a check
// needs one match only, and u, because RE2 always matches whole characters.
const ignoredFlags = "gu"

// parseFlags parses the flags of a regex rule and returns those that have an effect. Ignored
// flags are dropped with a warning. The flag y is accepted with a warning, because readers
// easily overlook it after a long pattern.
func parseFlags(at problem.SourceValue, report problem.Report) string {
	if !at.Has("flags") {
		return ""
	}
	member := at.Member("flags")
	report.Expect(member, canon.String, "Remove it, or use any of i, m, s.", "flags must be a string of i, m, s")
	flags := member.Value.Text()
	var out strings.Builder
	for i, c := range flags {
		switch {
		case !strings.ContainsRune("imsy"+ignoredFlags, c) || strings.ContainsRune(flags[:i], c):
			report.Error(member, "Use any of i (ignore case), m (lines), s (dot matches newline), each once.",
				"flag %q is unknown or repeated", c)
			return ""
		case strings.ContainsRune(ignoredFlags, c):
			report.Warn(member, "Remove the flag.", "flag %q has no effect in a check", c)
			continue
		case c == 'y':
			report.Warn(member, `Start the pattern with \A instead.`,
				"flag %q lets the pattern match at the start only", c)
		}
		out.WriteRune(c)
	}
	return out.String()
}

// compile compiles a pattern. On failure it reports every construct that RE2 does not
// support and returns nil.
func compile(at problem.SourceValue, flags string, report problem.Report) *regexp.Regexp {
	if !report.Expect(at, canon.String, "Write a regular expression (RE2).", "a pattern must be a string") {
		return nil
	}
	expr := translate(at.Value.Text()).expr
	if flags != "" {
		expr = "(?" + flags + ")" + expr
	}
	re, err := regexp.Compile(expr)
	if err == nil {
		return re
	}
	for _, c := range explainPattern(at.Value.Text(), err) {
		report.Error(at, c.fix, "the pattern is not valid: %s", c.what)
	}
	return nil
}
