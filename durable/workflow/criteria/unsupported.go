package criteria

import (
	"errors"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"
)

// patternProblem is an error in a regular expression, with a suggested correction.
type patternProblem struct{ what, fix string }

// unsupported is a construct of other regular expression engines that RE2 does not have:
// those that a linear-time matcher cannot support, and some spellings.
//
// marker is the prefix by which the construct is recognized; name and fix are used in the
// message. A zero name means that no unsupported construct was found.
type unsupported struct{ marker, name, fix string }

// The tables of unsupported constructs. When two markers match, the first is used.
var (
	// groups lists the constructs that start with a parenthesis.
	groups = []unsupported{
		{"(?<=", "lookbehind", "Match what precedes it as part of the pattern."},
		{"(?<!", "lookbehind", "Put what must not precede it into a separate rule under not."},
		{"(?=", "lookahead", "Split the pattern into several rules: all of them must pass."},
		{"(?!", "lookahead", "Put what must not follow into a separate rule under not."},
		{"(?>", "an atomic group", "Use a plain group; matching takes linear time anyway."},
		{"(?P=", "a backreference", "Write the repeated text out."},
		{"(?P>", "a subroutine call", "Write the repeated pattern out."},
		{"(?&", "a subroutine call", "Write the repeated pattern out."},
		{"(?R", "recursion", "Check each level in a separate rule."},
		{"(?0", "recursion", "Check each level in a separate rule."},
		{"(?(", "a condition", "Write the alternatives as rules under or."},
		{"(?|", "a branch reset", "Use a plain group, (?:…)."},
		{"(?#", "a comment", "Write it in the rule's message."},
		{"(?'", "a group named in quotes", "Write (?<name>…)."},
		{"(?x", "the flag x", "Write the pattern without spaces and comments."},
	}
	// escapes lists the constructs that start with a backslash.
	escapes = []unsupported{
		{`\k`, "a backreference", "Write the repeated text out."},
		{`\g`, "a backreference", "Write the repeated text out."},
		{`\u`, `a \u escape of no whole character`,
			`Write \uXXXX or \u{X…} with its hexadecimal code; [\u{10000}-\u{10FFFF}] matches every character ` +
				`that is a surrogate pair.`},
		{`\Z`, `the anchor \Z`, `Write \z, the end of the text.`},
		{`\G`, `the anchor \G`, `Write \A, the start of the text.`},
		{`\K`, "a reset of the match", "Match what precedes it as part of the pattern."},
		{`\R`, "any line break", `Write \r?\n.`},
		{`\h`, "a horizontal blank", `Write [ \t].`},
		{`\H`, "no horizontal blank", `Write [^ \t].`},
		{`\N`, "no line break", `Write [^\n].`},
		{`\X`, "a whole character", `Write a dot, or name the characters.`},
		{`\e`, "the escape character", `Write \x1b.`},
		{`\c`, "a control character", `Write \x{…} with the hexadecimal code.`},
	}
)

// explainPattern describes why a pattern does not compile: every construct that RE2 does
// not support, or else the error of its parser. Positions are in characters, from 1.
func explainPattern(pattern string, err error) []patternProblem {
	var out []patternProblem
	inClass := false
	for i := 0; i < len(pattern); {
		f, width := unsupportedAt(pattern[i:], inClass)
		if f.name != "" {
			out = append(out,
				patternProblem{f.name + " (" + f.marker + position(pattern, i) + ") is not in RE2", f.fix})
		}
		// Inside a character class most constructs are plain characters.
		switch pattern[i] {
		case '[':
			if rest := strings.TrimPrefix(pattern[i+1:], "^"); !inClass && strings.HasPrefix(rest, "]") {
				width = len(pattern) - i - len(rest) + 1 // a ] at the start of a class is a member
			}
			inClass = true
		case ']':
			inClass = false
		}
		i += width
	}
	// Unsupported constructs explain the failure better than the parser's message.
	if len(out) > 0 {
		return out
	}
	return []patternProblem{syntaxProblem(pattern, err)}
}

// unsupportedAt returns the unsupported construct at the start of rest, if any, and how many
// bytes to advance in either case. Inside a character class only escapes are special.
func unsupportedAt(rest string, inClass bool) (f unsupported, width int) {
	switch c := rest[0]; {
	case c == '\\' && len(rest) > 1:
		_, n := utf8.DecodeRuneInString(rest[1:])
		// \1 to \9; inside a class RE2 reads them as octal escapes or rejects them itself.
		if !inClass && rest[1] >= '1' && rest[1] <= '9' {
			return unsupported{rest[:2], "a backreference", "Write the repeated text out."}, 2
		}
		// \Q…\E is literal text in RE2: nothing inside it is a construct.
		if strings.HasPrefix(rest, `\Q`) && !inClass {
			quoted, _, _ := strings.Cut(rest, `\E`)
			return unsupported{}, min(len(quoted)+len(`\E`), len(rest))
		}
		if _, width := codePoint(rest); width > 0 {
			return unsupported{}, width
		}
		return matchMarker(escapes, rest), 1 + n
	case inClass:
		return unsupported{}, 1
	case c == '(':
		// (*VERB)
		if len(rest) > 2 && rest[1] == '*' && rest[2] >= 'A' && rest[2] <= 'Z' {
			return unsupported{"(*", "a control verb", "Leave it out."}, 2
		}
		if f = matchMarker(groups, rest); f.name != "" {
			return f, len(f.marker)
		}
	// A quantifier followed by a plus: x*+, x++, x?+ or x{2}+.
	case strings.IndexByte("*+?}", c) >= 0 && strings.HasPrefix(rest[1:], "+"):
		return unsupported{rest[:2], "a possessive quantifier", "Use a single " + string(c) +
			"; matching takes linear time anyway."}, 2
	}
	return unsupported{}, 1
}

// matchMarker returns the first row whose marker is a prefix of rest, the zero value for
// none. For \k and \g the opening delimiter of the name becomes part of the marker.
func matchMarker(rows []unsupported, rest string) unsupported {
	for _, f := range rows {
		if strings.HasPrefix(rest, f.marker) {
			if (f.marker == `\k` || f.marker == `\g`) && len(rest) > 2 && strings.IndexByte("<{'", rest[2]) >= 0 {
				f.marker = rest[:3]
			}
			return f
		}
	}
	return unsupported{}
}

// syntaxProblem describes a pattern that is invalid in every engine, with the message of
// RE2's parser and the position in the author's pattern.
func syntaxProblem(pattern string, err error) patternProblem {
	var se *syntax.Error
	if !errors.As(err, &se) {
		return patternProblem{err.Error(), "Correct the regular expression."}
	}
	// The parser quotes the translated pattern. Map the quoted part back to the author's text
	// and find its position there.
	at, expr, re2 := "", se.Expr, translate(pattern)
	if i := strings.Index(re2.expr, expr); i >= 0 && expr != "" {
		at, expr = position(pattern, re2.from[i]), pattern[re2.from[i]:re2.from[i+len(expr)]]
	}
	fix := "Correct the regular expression; its syntax is RE2's."
	switch se.Code {
	case syntax.ErrInvalidRepeatSize:
		fix = "RE2's syntax repeats at most 1000 times, and the smaller number comes first."
	case syntax.ErrLarge:
		fix = "Make it smaller: repeat less, or split it into several rules. The syntax is RE2's."
	}
	return patternProblem{se.Code.String() + ": " + expr + at, fix}
}

// position renders a byte offset as a character position, as editors count.
func position(pattern string, i int) string {
	return " at character " + strconv.Itoa(utf8.RuneCountInString(pattern[:i])+1)
}
