package criteria

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/pattern"
)

// completionFlags match texts that can be written without doing the work: an assignment of
// a truth value to a name, or a name that claims completion, such as "review_done".
var completionFlags = []*pattern.Pattern{
	// reviewed: yes, done = true
	pattern.New(`(?i)^\W*\w+\s*[=:]\s*(?:true|false|yes|no|done|ok|completed?)\W*$`),
	// review_completed, finished, tests_ok
	pattern.New(`(?i)^\W*(?:\w*(?:completed?|finished)|(?:\w*_)?(?:done|ready|ok))\W*$`),
	// reviewDone, testsOK
	pattern.New(`^\W*[a-z0-9]+(?:Done|Ready|Ok|OK)\W*$`),
}

// isCompletionFlag reports whether text is a completion flag. It prefers false negatives: a
// wrong warning makes authors ignore the correct ones.
func isCompletionFlag(text string) bool {
	return slices.ContainsFunc(completionFlags, func(f *pattern.Pattern) bool { return f.MatchString(text) })
}

// FlagOnly reports whether the criteria require no more than completion flags or a few characters
// (docs/design.md#authoring). A performer, who sees the criteria in the prompt, can pass
// them by writing the flag. Package source warns of such criteria.
func (c Criteria) FlagOnly() bool { return c.Weakness() != "" }

// Weakness describes, after "the criteria", why they can be passed without doing the work; "" if
// they ask for more than a completion flag or a few characters.
func (c Criteria) Weakness() string {
	if c.root == nil {
		return ""
	}
	return map[strength]string{
		needsCharacters: "accept a few characters, which can be written without doing the work",
		needsFlag:       "only check a completion flag, which can be set without doing the work",
	}[c.root.strength()]
}

// strength is what the notes must contain to pass a node, from least to most.
type strength uint8

const (
	needsNothing    strength = iota // a prohibition, or an upper bound: empty notes pass
	needsCharacters                 // a single letter or digit, or a length that any word has
	needsFlag                       // a completion flag
	needsEvidence                   // anything else
)

// shortNotesMax is the largest minimum length, in characters, that asks for no evidence.
const shortNotesMax = 8

// strength classifies a node. The conditions of rules are ignored.
func (n *node) strength() strength {
	switch n.kind {
	case kindNot:
		return needsNothing
	case kindRule:
		return n.rule.strength()
	}
	// In an "and" the strongest part counts; in an "or" one part that needs only a flag is
	// sufficient to pass.
	out, weakest := needsNothing, needsEvidence
	for i := range n.parts {
		d := n.parts[i].strength()
		out = max(out, d)
		if d != needsNothing {
			weakest = min(weakest, d)
		}
	}
	if n.kind == kindOr && weakest < out {
		return weakest
	}
	return out
}

// strength classifies a rule by the weakest of the texts that pass it.
func (r rule) strength() strength {
	switch {
	case r.empty:
		return needsNothing
	case r.short:
		return needsCharacters
	}
	out := needsEvidence
	for _, text := range r.passing {
		switch words := strings.FieldsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }); {
		case len(words) == 0 && strings.TrimSpace(text) == "", len(words) == 1 && utf8.RuneCountInString(words[0]) == 1 &&
			utf8.RuneCountInString(text) <= 2:
			out = min(out, needsCharacters)
		case isCompletionFlag(text):
			out = min(out, needsFlag)
		}
	}
	return out
}

// matchesMax bounds the texts that are tried of one pattern, and matchRunesMax their length.
const matchesMax, matchRunesMax = 32, 256

// shortMatches returns short texts that match an expression: one for each alternative, up to
// matchesMax, with nothing where the expression allows that. They classify the expression and are
// never shown. Assertions are taken as met.
func shortMatches(expr string) []string {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	return matchesOf(re.Simplify())
}

// memberOf returns a character of a class, given as pairs of bounds: a letter or a digit if it has
// one of these.
func memberOf(class []rune) string {
	for _, c := range "xX0" {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= c && c <= class[i+1] {
				return string(c)
			}
		}
	}
	if len(class) == 0 {
		return ""
	}
	return string(class[0])
}

// matchesOf is shortMatches for a part of an expression.
func matchesOf(re *syntax.Regexp) []string {
	out := []string{""}
	switch re.Op {
	case syntax.OpLiteral:
		out[0] = string(re.Rune)
	case syntax.OpCharClass:
		out[0] = memberOf(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out[0] = "x"
	case syntax.OpCapture, syntax.OpPlus:
		return matchesOf(re.Sub[0])
	case syntax.OpRepeat:
		if one := matchesOf(re.Sub[0])[0]; re.Min > 0 && len(one) > 0 {
			out[0] = strings.Repeat(one, min(re.Min, matchRunesMax/len(one)+1))
		}
	case syntax.OpConcat:
		for _, part := range re.Sub {
			var longer []string
			for _, end := range matchesOf(part) {
				for _, start := range out {
					if len(longer) < matchesMax && len(start)+len(end) <= matchRunesMax {
						longer = append(longer, start+end)
					}
				}
			}
			out = longer
		}
	case syntax.OpAlternate:
		out = nil
		for _, part := range re.Sub {
			out = append(out, matchesOf(part)...)
		}
		out = out[:min(len(out), matchesMax)]
	}
	if len(out) == 0 {
		return []string{strings.Repeat("x", matchRunesMax)} // longer than any flag
	}
	return out
}
