package prompt

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/limits"
)

// TestLengths: a path that ends in .length gives the number of items of a list, unless the context
// holds a value at the path itself.
func TestLengths(t *testing.T) {
	const vars = `{"files": ["a", "b", "c"], "none": [], "deep": {"list": [1], "length": "own"}, "text": "four", "n": 4,
		"a.length": "dotted", "a": [1, 2], "rows": [[1, 2], {"length": 7}]}`
	for in, want := range map[string]string{
		"{{files.length}} of {{ files.length }}": "3 of 3",
		"{{none.length}}":                        "0",
		"{{deep.list.length}}":                   "1",
		"{{deep.length}}":                        "own",
		"{{a.length}}":                           "dotted",
		"{{rows.0.length}} {{rows.1.length}}":    "2 7",
		"{{rows.length}}":                        "2",
	} {
		f := newFiller(value(t, vars), 1<<10)
		if got := f.fill(in); got != want || f.absent != nil {
			t.Errorf("%q: got %q with %q, want %q", in, got, f.absent, want)
		}
	}
	for _, in := range []string{"{{text.length}}", "{{n.length}}", "{{gone.length}}", "{{length}}", "{{files.length.x}}",
		"{{files.Length}}", "{{files.size}}"} {
		f := newFiller(value(t, vars), 1<<10)
		if got := f.fill(in); got != in || len(f.absent) != 1 {
			t.Errorf("%q: got %q with %q", in, got, f.absent)
		}
	}
}

func TestTitle(t *testing.T) {
	const vars = `{"name": "Ogden\n\n# Injected", "list": ["a", "b"], "o": {"k": "{{name}}"}}`
	for in, want := range map[string]string{
		"Only":                           "Only",
		"City {{name}}":                  "City Ogden # Injected",
		"{{list.length}} of {{list}}":    `2 of ["a","b"]`,
		"{{o.k}}":                        "{{name}}", // values are not expanded
		"{{wr.bindings.x}} {{1}} {{a b}": "{{wr.bindings.x}} {{1}} {{a b}",
	} {
		if h := Title(in, value(t, vars)); h.Text != want || h.Warnings != nil || h.Truncated {
			t.Errorf("%q: got %+v, want %q", in, h, want)
		}
	}
	h := Title("Step {{gone}} and {{gone}}", value(t, vars))
	if h.Text != "Step {{gone}} and {{gone}}" || len(h.Warnings) != 1 ||
		!strings.HasPrefix(h.Warnings[0], "The title asks for {{gone}}") {
		t.Errorf("got %+v", h)
	}
}

// TestTitleIsBounded: values that are too long end in the marker, and short ones beside them stay
// whole.
func TestTitleIsBounded(t *testing.T) {
	vars := value(t, `{"long": "`+strings.Repeat("x", 4096)+`", "short": "yes"}`)
	h := Title("{{short}}: {{long}} and {{long}}", vars)
	if len(h.Text) > limits.StepTitleBytesMax || !h.Truncated || !strings.HasPrefix(h.Text, "yes: xxx") ||
		!strings.HasSuffix(h.Text, limits.TruncationMarker) {
		t.Errorf("%d bytes, %v: %q", len(h.Text), h.Truncated, h.Text)
	}
	h = Title(strings.Repeat("y", limits.StepTitleBytesMax+1)+"{{long}}", vars)
	if len(h.Text) > limits.StepTitleBytesMax || !h.Truncated {
		t.Errorf("an authored title that is too long: %d bytes, %v", len(h.Text), h.Truncated)
	}
}
