package view_test

import (
	"testing"

	"github.com/waybill/waybill/durable/redact/view"
)

// A view shows a text without what is hidden and with its escapes read, and each part of it has its source.
func TestViewHasSourceOfEachPart(t *testing.T) {
	for _, c := range []struct{ text, shown, part, source string }{
		{"plain text", "plain text", "text", "text"},
		{"a\x1b[31mbc\x1b[0md", "abcd", "bc", "bc"},
		{"a\x1b[31mb\x1b[0mc", "abc", "bc", "b\x1b[0mc"},
		{"to\u200bken", "token", "token", "to\u200bken"},
		{`a\u002db`, "a-b", "-", `\u002d`},
		{`a\u0022b`, `a\u0022b`, "a", "a"}, // a quote structures the text
		{"a&#45;b", "a-b", "-b", "&#45;b"},
		{"a\u00a0b", "a b", " ", "\u00a0"},
		{`a\e[1mb`, "ab", "b", "b"},
	} {
		v := view.Shown(c.text)
		if v.Shown != c.shown {
			t.Errorf("%q is shown as %q, not %q", c.text, v.Shown, c.shown)
			continue
		}
		checkSource(t, &v, c.part, c.source)
	}
}

// A percent-decoded text has the encoded characters as its source, and says which bytes were decoded.
func TestPercentDecodesOnce(t *testing.T) {
	v, ok := view.Percent("a%3Db%253D%zz")
	if !ok || v.Shown != "a=b%3D%zz" {
		t.Fatalf("got %q, %v", v.Shown, ok)
	}
	checkSource(t, &v, "=", "%3D")
	checkSource(t, &v, "=b%", "%3Db%25")
	if !v.DecodedAt(1) || v.DecodedAt(2) {
		t.Error("the equals sign was decoded, and the letter was not")
	}
	for _, s := range []string{"", "100%", "100% of a", "%00", "%C3%BC"} {
		if v, ok := view.Percent(s); ok {
			t.Errorf("%q has nothing to decode: got %q", s, v.Shown)
		}
	}
}

func checkSource(t *testing.T, v *view.View, part, want string) {
	t.Helper()
	for from := range v.Shown {
		if len(v.Shown)-from >= len(part) && v.Shown[from:from+len(part)] == part {
			if got := v.Text[v.Begin(from):v.End(from+len(part))]; got != want {
				t.Errorf("%q in %q is from %q, not %q", part, v.Text, got, want)
			}
			return
		}
	}
	t.Errorf("%q is not in %q", part, v.Shown)
}
