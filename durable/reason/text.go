package reason

import (
	"unicode/utf8"

	"github.com/waybill/waybill/durable/limits"
)

// Clip cuts s to at most n bytes without splitting a rune. It is for texts that
// Waybill itself composes; what a caller sent is refused over budget, or cut with
// Truncate where the locks say so.
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

// Truncate cuts s to at most n bytes and ends it with the locks' marker, which
// is part of the n bytes and itself cut where it has no room. Shorter text is
// returned as it is.
func Truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return Clip(Clip(s, n-len(limits.TruncationMarker))+limits.TruncationMarker, n)
}
