package page

import (
	"fmt"
	"strings"
	"unicode/utf16"
)

// EscapeJSON replaces the characters of a JSON text that are not printed by escapes, except line
// feeds, which are only between its values. The value of the text stays the same.
func EscapeJSON(text string) string {
	if isPlain(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || !Unprintable(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
