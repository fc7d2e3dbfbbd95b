package criteria

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/problem"
)

// regex compiles the pattern once, when the workflow is read: an invalid one is found
// before a run can depend on it.
func (p *parser) regex(at problem.Place, message said) rule {
	r := regexRule{said: message, pattern: p.text(at, "pattern", "Write a regular expression (RE2)."), flags: p.flags(at)}
	expr := r.pattern
	if r.flags != "" {
		expr = "(?" + r.flags + ")" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		what, fix := explain(r.pattern, err)
		p.fail(at.Member("pattern"), fix, "the pattern is not valid: %s", what)
	}
	r.re = re
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

// lacking lists what patterns written for other engines use and RE2 leaves out,
// because no linear-time matcher can offer it, with the way around.
var lacking = []struct{ marker, name, fix string }{
	{"(?<=", "lookbehind", "Match what stands before it as part of the pattern."},
	{"(?<!", "lookbehind", "Put what must not stand before it into a rule of its own under not."},
	{"(?=", "lookahead", "Split the pattern into several rules: all of them must hold."},
	{"(?!", "lookahead", "Put what must not follow into a rule of its own under not."},
	{"(?>", "an atomic group", "Use a plain group; matching takes linear time anyway."},
	{`\k<`, "a backreference", "Write the repeated text out."},
	{`\1`, "a backreference", "Write the repeated text out."},
	{`\2`, "a backreference", "Write the repeated text out."},
	{`\u`, `\u escapes`, `Write \x{…} with the hexadecimal code.`},
	{"++", "a possessive quantifier", "Use a single +; matching takes linear time anyway."},
	{"*+", "a possessive quantifier", "Use a single *; matching takes linear time anyway."},
}

// explain names what is wrong with pattern, with its position in characters.
func explain(pattern string, err error) (what, fix string) {
	for _, l := range lacking {
		if i := strings.Index(pattern, l.marker); i >= 0 {
			return l.name + " (" + l.marker + position(pattern, i) + ") is not in RE2", l.fix
		}
	}
	var se *syntax.Error
	if !errors.As(err, &se) {
		return err.Error(), "Correct the regular expression."
	}
	at := ""
	if i := strings.Index(pattern, se.Expr); i >= 0 && se.Expr != "" {
		at = position(pattern, i)
	}
	return se.Code.String() + ": " + se.Expr + at, "Correct the regular expression; its syntax is RE2's."
}

// position counts characters, as editors do.
func position(pattern string, i int) string {
	return " at character " + strconv.Itoa(utf8.RuneCountInString(pattern[:i])+1)
}
