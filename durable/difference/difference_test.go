package difference_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/difference"
)

func TestLines(t *testing.T) {
	for name, tc := range map[string]struct{ before, after, want string }{
		"equal":         {"a\n", "a\n", ""},
		"one line":      {"a\nb\nc\n", "a\nx\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c"},
		"no line break": {"a", "b", "@@ -1,1 +1,1 @@\n-a\n+b"},
		"from nothing":  {"", "b", "@@ -0,0 +1,1 @@\n+b"},
		"only a break":  {"a", "a\n", "(changed in blanks only)"},
		"json":          {`{"a":1,"b":2}`, `{"a":1,"b":3}`, "@@ -1,4 +1,4 @@\n {\n   \"a\": 1,\n-  \"b\": 2\n+  \"b\": 3\n }"},
		"not text":      {"a\x00", "b", "(changed; it is not text)"},
		"not UTF-8":     {"a", "\xff", "(changed; it is not text)"},
	} {
		if got := strings.Join(difference.Lines([]byte(tc.before), []byte(tc.after)), "\n"); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestValues: a text of several lines is compared by its lines, and an escaped backslash breaks none.
func TestValues(t *testing.T) {
	before := `{"prompt":"one\ntwo\nthree","path":"a\\new"}`
	after := `{"prompt":"one\n2\nthree\n","path":"a\\new"}`
	want := " {\n   \"prompt\": \"one\\n\n-    two\\n\n-    three\",\n+    2\\n\n+    three\\n\",\n   \"path\": \"a\\\\new\"\n }"
	got := difference.Values([]byte(before), []byte(after))
	if len(got) == 0 || strings.Join(got[1:], "\n") != want {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}
