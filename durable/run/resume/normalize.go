// Package resume ranks runs for a caller that wants to continue one and has no token
// (docs/design.md#resume-ranking). The order is a function of recorded facts and the query
// alone: tiers and no scores, so that the same store gives the same answer.
//
// It reads no store and renders nothing. Callers collect one Candidate for each run that can
// be continued and show what Rank returns.
package resume

import (
	"iter"
	"slices"
)

// Normalize splits text into the tokens that are compared (docs/design.md#resume-ranking):
// NFKC, lower case independent of locale, then [a-z0-9_-]+ in order of occurrence. All other
// characters separate tokens, so that text in other scripts has none.
func Normalize(text string) []string { return slices.Collect(tokens(text)) }

// tokens yields the tokens of a text one by one: most texts are scanned for only a few words,
// and a store can hold thousands of texts.
func tokens(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		s := normalized(text)
		start := -1
		for i := range len(s) {
			switch inToken := tokenByte(s[i]); {
			case inToken && start < 0:
				start = i
			case !inToken && start >= 0:
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

// tokenByte reports the bytes of [a-z0-9_-]. Scanning bytes is safe: no byte of a multi-byte
// character is in the set.
func tokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
