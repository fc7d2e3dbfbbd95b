package contract

import "strings"

// wordsMax is how many mismatches a sentence names; the rest is counted.
const wordsMax = 5

// Words says mismatches in one sentence part: "/decision: expected …, got …; …".
func Words(all []Mismatch) string {
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
