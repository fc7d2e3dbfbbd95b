// Package nearest finds the known name that is most similar to a misspelled one, for
// suggestions in messages ("Did you mean …?"). It is not a lookup: a caller never acts on
// the result without the user.
package nearest

import (
	"fmt"
	"strings"
)

// Of returns the candidate nearest to word, or "" when none is similar. A candidate is
// similar if its edit distance is at most a third of the length of word (at least 1), or if
// one of the two is a prefix of the other. Letter case is ignored. Among equally near
// candidates the first is returned. Words longer than 64 bytes have no similar name.
func Of(word string, candidates []string) string {
	best, budget := "", max(1, len(word)/3)
	if word == "" || len(word) > 64 {
		return ""
	}
	for _, c := range candidates {
		if gap := len(word) - len(c); gap > budget || -gap > budget {
			continue // too far by length alone; avoids the cost of distance
		}
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d <= budget {
			best, budget = c, d-1
		}
	}
	if best == "" {
		return sharesPrefix(strings.ToLower(word), candidates)
	}
	return best
}

// Suggest returns format with the candidate nearest to word as its argument, such as
// "Did you mean %q?", or otherwise if no candidate is similar.
func Suggest(word string, candidates []string, format, otherwise string) string {
	if near := Of(word, candidates); near != "" {
		return fmt.Sprintf(format, near)
	}
	return otherwise
}

// sharesPrefix returns the first candidate that starts with word or that word starts with,
// "" for none. Both must be longer than 3 bytes.
func sharesPrefix(word string, candidates []string) string {
	for _, c := range candidates {
		low := strings.ToLower(c)
		if min(len(word), len(low)) > 3 && (strings.HasPrefix(low, word) || strings.HasPrefix(word, low)) {
			return c
		}
	}
	return ""
}

// distance is the optimal string alignment distance in bytes: the number of insertions,
// deletions, replacements and exchanges of neighbours that turn a into b.
func distance(a, b string) int {
	before, row := []int(nil), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j+1]+1, next[j]+1, row[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
