package contract

import (
	"fmt"
	"strings"
)

// wordsMax is how many mismatches a sentence names; the rest is counted.
const wordsMax = 5

// Words says mismatches in one sentence part: "/decision: expected …, got …; …".
func Words(all []Mismatch) string {
	var out []string
	for i, m := range all {
		if i == wordsMax {
			out = append(out, fmt.Sprintf("and %d more", len(all)-wordsMax))
			break
		}
		at := m.Pointer
		if at == "" {
			at = "the artifact"
		}
		out = append(out, fmt.Sprintf("%s: expected %s, got %s", at, m.Expected, m.Got))
	}
	return strings.Join(out, "; ")
}
