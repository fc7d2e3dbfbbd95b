package criteria

import (
	"errors"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"
)

// complaint is one thing wrong with a pattern.
type complaint struct{ what, fix string }

// foreign is what patterns written for other engines use and RE2 leaves out: what
// no linear-time matcher can offer, and some spellings.
type foreign struct{ marker, name, fix string }

// groups start with "(", escapes with a backslash. Of two markers that fit, the
// first counts.
var (
	groups = []foreign{
		{"(?<=", "lookbehind", "Match what stands before it as part of the pattern."},
		{"(?<!", "lookbehind", "Put what must not stand before it into a rule of its own under not."},
		{"(?=", "lookahead", "Split the pattern into several rules: all of them must hold."},
		{"(?!", "lookahead", "Put what must not follow into a rule of its own under not."},
		{"(?>", "an atomic group", "Use a plain group; matching takes linear time anyway."},
		{"(?P=", "a backreference", "Write the repeated text out."},
		{"(?P>", "a subroutine call", "Write the repeated pattern out."},
		{"(?&", "a subroutine call", "Write the repeated pattern out."},
		{"(?R", "recursion", "Ask for each level in a rule of its own."},
		{"(?0", "recursion", "Ask for each level in a rule of its own."},
		{"(?(", "a condition", "Write the alternatives as rules under or."},
		{"(?|", "a branch reset", "Use a plain group, (?:…)."},
		{"(?#", "a comment", "Say it in the rule's message."},
		{"(?'", "a group named in quotes", "Write (?<name>…)."},
		{"(?x", "the flag x", "Write the pattern without blanks and comments."},
	}
	escapes = []foreign{
		{`\k`, "a backreference", "Write the repeated text out."},
		{`\g`, "a backreference", "Write the repeated text out."},
		{`\u`, `a \u escape of no whole character`,
			`Write \uXXXX or \u{X…} with its hexadecimal code; [\u{10000}-\u{10FFFF}] is every character that has two halves.`},
		{`\Z`, `the anchor \Z`, `Write \z, the end of the text.`},
		{`\G`, `the anchor \G`, `Write \A, the start of the text.`},
		{`\K`, "a reset of the match", "Match what stands before it as part of the pattern."},
		{`\R`, "any line break", `Write \r?\n.`},
		{`\h`, "a horizontal blank", `Write [ \t].`},
		{`\H`, "no horizontal blank", `Write [^ \t].`},
		{`\N`, "no line break", `Write [^\n].`},
		{`\X`, "a whole character", `Write a dot, or name the characters.`},
		{`\e`, "the escape character", `Write \x1b.`},
		{`\c`, "a control character", `Write \x{…} with the hexadecimal code.`},
	}
)

// explain names what is wrong with a pattern that does not compile, with positions
// in characters: everything that RE2 lacks, else what its parser says.
func explain(pattern string, err error) []complaint {
	var out []complaint
	inClass := false
	for i := 0; i < len(pattern); {
		f, width := foreignAt(pattern[i:], inClass)
		if f.name != "" {
			out = append(out, complaint{f.name + " (" + f.marker + position(pattern, i) + ") is not in RE2", f.fix})
		}
		switch pattern[i] {
		case '[':
			if rest := strings.TrimPrefix(pattern[i+1:], "^"); !inClass && strings.HasPrefix(rest, "]") {
				width = len(pattern) - i - len(rest) + 1 // a ] that stands first is a member
			}
			inClass = true
		case ']':
			inClass = false
		}
		i += width
	}
	if len(out) > 0 {
		return out
	}
	return []complaint{broken(pattern, err)}
}

// foreignAt is what stands at the start of a rest of a pattern and is not RE2's, and
// how many bytes to go on. Inside a class only escapes mean something.
func foreignAt(rest string, inClass bool) (f foreign, width int) {
	switch c := rest[0]; {
	case c == '\\' && len(rest) > 1:
		_, n := utf8.DecodeRuneInString(rest[1:])
		if !inClass && rest[1] >= '1' && rest[1] <= '9' {
			return foreign{rest[:2], "a backreference", "Write the repeated text out."}, 2
		}
		if strings.HasPrefix(rest, `\Q`) && !inClass {
			quoted, _, closed := strings.Cut(rest[2:], `\E`)
			if n = 1 + len(quoted); closed {
				n += 2
			}
			return foreign{}, 1 + n
		}
		if _, width := codePoint(rest); width > 0 {
			return foreign{}, width
		}
		return marked(escapes, rest), 1 + n
	case inClass:
		return foreign{}, 1
	case c == '(':
		if len(rest) > 2 && rest[1] == '*' && rest[2] >= 'A' && rest[2] <= 'Z' {
			return foreign{"(*", "a control verb", "Leave it out."}, 2
		}
		if f = marked(groups, rest); f.name != "" {
			return f, len(f.marker)
		}
	case strings.IndexByte("*+?}", c) >= 0 && strings.HasPrefix(rest[1:], "+"):
		return foreign{rest[:2], "a possessive quantifier", "Use a single " + string(c) +
			"; matching takes linear time anyway."}, 2
	}
	return foreign{}, 1
}

// marked finds the row whose marker stands there. What follows \k and \g says
// whether they refer to anything at all.
func marked(rows []foreign, rest string) foreign {
	for _, f := range rows {
		if strings.HasPrefix(rest, f.marker) {
			if (f.marker == `\k` || f.marker == `\g`) && len(rest) > 2 && strings.IndexByte("<{'", rest[2]) >= 0 {
				f.marker = rest[:3]
			}
			return f
		}
	}
	return foreign{}
}

// broken is a mistake in any engine's eyes, in the words of RE2's parser.
func broken(pattern string, err error) complaint {
	var se *syntax.Error
	if !errors.As(err, &se) {
		return complaint{err.Error(), "Correct the regular expression."}
	}
	at, expr, read := "", se.Expr, spell(pattern)
	if i := strings.Index(read.expr, expr); i >= 0 && expr != "" {
		at, expr = position(pattern, read.from[i]), pattern[read.from[i]:read.from[i+len(expr)]]
	}
	fix := "Correct the regular expression; its syntax is RE2's."
	switch se.Code {
	case syntax.ErrInvalidRepeatSize:
		fix = "RE2's syntax repeats at most 1000 times, and the smaller number stands first."
	case syntax.ErrLarge:
		fix = "Make it smaller: repeat less, or split it into several rules. The syntax is RE2's."
	}
	return complaint{se.Code.String() + ": " + expr + at, fix}
}

// position counts characters, as editors do.
func position(pattern string, i int) string {
	return " at character " + strconv.Itoa(utf8.RuneCountInString(pattern[:i])+1)
}
