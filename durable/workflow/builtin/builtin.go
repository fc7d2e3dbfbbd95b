// Package builtin holds the texts that Waybill itself brings for authors to use by
// name: references, features and probes (locks section 9, R21). They are closed
// sets; a workflow names one and the compiler embeds its text, so that a run keeps
// what it was started with, whatever a later version says.
//
// It holds text only: where a text goes, and whether it fits, is the compiler's.
// No text has braces that rendering or a template would take for a placeholder.
package builtin

import "slices"

// sorted lists the ids of one of the tables.
func sorted[T any](list []T, id func(T) string) []string {
	out := make([]string, len(list))
	for i, item := range list {
		out[i] = id(item)
	}
	slices.Sort(out)
	return out
}

// find looks an id up in one of the tables: they are short.
func find[T any](list []T, id func(T) string, want string) (T, bool) {
	i := slices.IndexFunc(list, func(item T) bool { return id(item) == want })
	if i < 0 {
		var none T
		return none, false
	}
	return list[i], true
}
