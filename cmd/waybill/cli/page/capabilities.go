package page

import (
	"strings"
)

// Words joins the words of a closed set.
func Words[T ~string](words []T) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}
