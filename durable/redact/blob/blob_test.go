package blob_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/redact/blob"
)

func TestUserAndPassword(t *testing.T) {
	encode := base64.StdEncoding.EncodeToString
	for s, want := range map[string]bool{
		encode([]byte("joe:secret")): true, encode([]byte("joe-secret")): false, encode([]byte("a:\x00\x01\x02bcd")): false,
		"": false, "YTpi": false, base64.RawURLEncoding.EncodeToString([]byte("joe:??>>~~")): true,
	} {
		if got := blob.UserPassword(s); got != want {
			t.Errorf("%q: got %v", s, got)
		}
	}
}

func TestAfterDigest(t *testing.T) {
	for s, want := range map[string]bool{"sha512-": true, "x h1:": true, "sha-": false, "": false} {
		if got := blob.AfterDigest(s+"abc", len(s)); got != want {
			t.Errorf("behind %q: got %v", s, got)
		}
	}
}

// A token in the lines of a base64 text, or before a sign of base64, is a part of that text; a token with a sign that
// standard base64 does not have is none.
func TestContains(t *testing.T) {
	line := strings.Repeat("Ab1x", 16)
	text := line + "\n" + line + "\n" + line + "\n" + line
	for _, c := range []struct {
		s        string
		from, to int
		want     bool
	}{
		{text, 0, 64, true},
		{text, 65, 129, true},
		{"key " + line + " end", 4, 68, false},
		{line[:20] + "+" + line, 0, 20, true},
		{line[:20] + "+ab", 0, 20, false},
		{"ab-" + line[:17] + "+" + line, 0, 20, false},
	} {
		if got := blob.Contains(c.s, c.from, c.to); got != c.want {
			t.Errorf("[%d:%d] of %q: got %v", c.from, c.to, c.s, got)
		}
	}
}

func TestTooLong(t *testing.T) {
	for s, want := range map[string]bool{strings.Repeat("aB+/", 50): true, strings.Repeat("aB1c", 50): false, "aB+/": false,
		strings.Repeat("aB+-", 50): false} {
		if got := blob.TooLong(s); got != want {
			t.Errorf("%.20q and %d bytes: got %v", s, len(s), got)
		}
	}
}
