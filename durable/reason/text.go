package reason

import (
	"unicode/utf8"

	"github.com/waybill/waybill/durable/limits"
)

// Clip returns the longest prefix of s of at most n bytes that does not split a rune. It is for
// texts that Waybill composes. A caller's text over its budget is refused, or shortened with
// Truncate, which marks it.
//
//go:noinline
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if n < 0 {
		n = 0
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Truncate shortens s to at most n bytes that end in limits.TruncationMarker. The marker counts
// towards n, and is itself clipped where n is shorter. Text of at most n bytes is returned
// unchanged.
func Truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return Clip(Clip(s, n-len(limits.TruncationMarker))+limits.TruncationMarker, n)
}
