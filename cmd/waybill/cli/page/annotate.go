package page

import (
	"strings"
)

// List joins words as a sentence has them.
func List(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

func Plurally(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}
