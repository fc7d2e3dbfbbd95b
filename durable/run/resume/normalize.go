// Package resume ranks runs for somebody who wants to go on and holds no token
// (locks section 2.3; R26). Its order is a plain function of what is on record and
// of the query: tiers, never scores, so that the same store always gives the same
// answer. It reads no store and renders nothing; who offers the runs collects the
// facts and asks only about sessions that can be gone on with.
package resume

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Normalize is the one way in which text is compared (locks 2.3): NFKC, lowercase
// whatever the locale, then the tokens [a-z0-9_-]+ in their order. Everything else
// stands between tokens, so that text in another script has none.
func Normalize(text string) []string {
	var out []string
	for token := range tokens(text) {
		out = append(out, token)
	}
	return out
}

// tokens hands out the tokens one by one: most texts are only looked through for a
// few, and a store may hold thousands of them.
func tokens(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		s := strings.ToLower(norm.NFKC.String(text))
		start := -1
		for i := range len(s) {
			switch inside := tokenByte(s[i]); {
			case inside && start < 0:
				start = i
			case !inside && start >= 0:
				if !yield(s[start:i]) {
					return
				}
				start = -1
			}
		}
		if start >= 0 {
			yield(s[start:])
		}
	}
}

func tokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// words is the set of tokens of a query.
type words map[string]bool

func wordsOf(text string) words {
	out := words{}
	for token := range tokens(text) {
		out[token] = true
	}
	return out
}

// allIn reports that every word is a token of one of the texts together: a whole
// token, never a part of one. A query without words asks for nothing that a text
// could have; then none is looked through at all.
func (w words) allIn(texts ...string) bool {
	if len(w) == 0 {
		return false
	}
	found := make(words, len(w))
	for _, text := range texts {
		for token := range tokens(text) {
			if w[token] && !found[token] {
				found[token] = true
				if len(found) == len(w) {
					return true
				}
			}
		}
	}
	return false
}
