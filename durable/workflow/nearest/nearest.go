// Package nearest guesses which of some names somebody meant who typed another. It
// is for suggestions only: nothing is looked up by a guess.
package nearest

import "strings"

// Of is the candidate that someone who typed word most likely meant, "" when
// none is close: at most a third of the letters are wrong, or one is the start of the
// other. Of equally close ones the first counts.
func Of(word string, candidates []string) string {
	// A third of the letters may be wrong; in short words one.
	best, budget := "", max(1, len(word)/3)
	if word == "" || len(word) > 64 {
		return ""
	}
	for _, c := range candidates {
		if gap := len(word) - len(c); gap > budget || -gap > budget {
			continue // cannot be close; a hostile file may ask a million times
		}
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d <= budget {
			best, budget = c, d-1
		}
	}
	if best == "" {
		return begun(strings.ToLower(word), candidates)
	}
	return best
}

// begun is the first candidate that begins with word, or word with it: somebody wrote
// part of a name, or more than it.
func begun(word string, candidates []string) string {
	for _, c := range candidates {
		low := strings.ToLower(c)
		if min(len(word), len(low)) > 3 && (strings.HasPrefix(low, word) || strings.HasPrefix(word, low)) {
			return c
		}
	}
	return ""
}

// distance counts the letters to insert, delete, replace or exchange with their
// neighbour to turn a into b.
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
