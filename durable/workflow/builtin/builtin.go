// Package builtin holds the texts of Waybill that workflows refer to by name: references
// (Ref), features (Feature) and capability probes (Probe); see docs/design.md#authoring
// and docs/design.md#capabilities. Each is a closed set. The compiler embeds the text in
// the compiled workflow, so that a run keeps the text with which it was started when a
// later version changes it.
//
// The package contains text only. Package compile decides where a text is inserted and
// whether it fits the limits. The texts are hashed as part of compiled workflows: a changed
// word changes workflow hashes. No text contains braces that rendering or a template would
// treat as a placeholder.
package builtin

import "slices"

// sorted returns the ids of a table in sorted order.
func sorted[T any](list []T, id func(T) string) []string {
	out := make([]string, len(list))
	for i, item := range list {
		out[i] = id(item)
	}
	slices.Sort(out)
	return out
}

// find returns the entry of a table with an id; false if the table has none. Linear search
// suffices for tables of this size.
func find[T any](list []T, id func(T) string, want string) (T, bool) {
	i := slices.IndexFunc(list, func(item T) bool { return id(item) == want })
	if i < 0 {
		var none T
		return none, false
	}
	return list[i], true
}
