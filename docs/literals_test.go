package docs

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// scan is an expression that is searched for only where one of its literals occurs: most texts have none, and looking
// for a literal is much faster than matching.
type scan struct {
	*regexp.Regexp
	literals []string // in lower case; a match contains one of them. None: every text may match
}

// newScan compiles an expression that ignores case.
func newScan(words string) scan {
	words = "(?i)" + words
	parsed, err := syntax.Parse(words, syntax.Perl)
	if err != nil {
		panic(err)
	}
	return scan{regexp.MustCompile(words), literalsOf(parsed)}
}

// may reports whether text, in lower case, has a literal of the expression.
func (s scan) may(lower string) bool {
	return s.literals == nil || slices.ContainsFunc(s.literals, func(l string) bool { return strings.Contains(lower, l) })
}

// literalsOf are literals of which every match has one, or nil where there are none.
func literalsOf(re *syntax.Regexp) (out []string) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return literalsOf(re.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			l := literalsOf(sub)
			if l == nil {
				return nil
			}
			out = append(out, l...)
		}
	case syntax.OpConcat: // the part whose shortest literal is the longest
		for _, sub := range re.Sub {
			if l := literalsOf(sub); l != nil && (out == nil || shortest(l) > shortest(out)) {
				out = l
			}
		}
	}
	return out
}

func shortest(all []string) int {
	return len(slices.MinFunc(all, func(a, b string) int { return len(a) - len(b) }))
}

// TestLiterals: the literals of an expression decide where it is searched for; each rule has some.
func TestLiterals(t *testing.T) {
	for words, want := range map[string]string{
		`\bab(?:c|d)\b`: "ab", `x?Long|(?:y)+`: "long y", `(a|bc)def`: "def", `[a-z]+`: "", `a*`: "", `ab|[cd]`: "", `a{2}bc`: "bc",
	} {
		if got := strings.Join(newScan(words).literals, " "); got != want {
			t.Errorf("%s: %q instead of %q", words, got, want)
		}
	}
	if !newScan(`[a-z]+`).may("") || newScan(`ab`).may("b") || !newScan(`AB`).may("cab") {
		t.Error("the literals do not decide")
	}
	for _, r := range compiledRules() {
		if r.literals == nil {
			t.Errorf("%s: no literal", r.Regexp)
		}
	}
	for _, w := range forbiddenWords() {
		if w.literals == nil {
			t.Errorf("%s: no literal", w.Regexp)
		}
	}
}
