package page

import (
	"slices"
	"strings"
	"testing"
)

func TestList(t *testing.T) {
	if strings.Join([]string{List(nil, "and"), List([]string{"a"}, "and"), List([]string{"a", "b"}, "or"),
		List([]string{"a", "b", "c"}, "and")}, "|") != "|a|a or b|a, b and c" {
		t.Error("want words joined by commas and a final conjunction")
	}
}

// TestWordsWithoutACommand: a text without a command has the words that the pattern finds, with any separator.
func TestWordsWithoutACommand(t *testing.T) {
	for _, text := range []string{"one two", "  a\tb\r\nc\f", "a\u00a0b\u2028c\u3000d", "a\vb\u0085c", "\xff \xfe", "", " ", "'way bill' \"waybill\"", "日本 語"} {
		if got, want := words(text, 80), wordOrCommand.FindAllString(text, -1); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if !isLetter((text + " ")[0]) {
			continue
		}
		if prefix := linePrefix.FindString(text); prefix != "" {
			t.Errorf("%q begins with a letter and has the prefix %q", text, prefix)
		}
	}
}
