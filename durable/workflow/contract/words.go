package contract

import "strings"

// wordsMax is the number of mismatches that JoinMismatches lists; the others are counted.
const wordsMax = 5

// JoinMismatches joins mismatches into one part of a sentence: "/decision: expected …, got …; …".
// The result is stored in blockers, so its form must not change.
func JoinMismatches(all []Mismatch) string {
	var out []string
	rest := Mismatch{}
	for i, m := range all {
		switch {
		case i >= wordsMax:
			rest.More += max(1, m.More)
		case m.Pointer == "" && m.More == 0:
			out = append(out, "the artifact: "+m.String())
		default:
			out = append(out, m.String())
		}
	}
	if rest.More > 0 {
		out = append(out, rest.String())
	}
	return strings.Join(out, "; ")
}
