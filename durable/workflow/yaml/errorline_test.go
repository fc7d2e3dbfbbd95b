package yaml

import (
	"errors"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
)

// TestLineOfASyntaxError: an error of the library names the first line with which the text has it, and not the line
// before, that at which a value began, or the first.
func TestLineOfASyntaxError(t *testing.T) {
	for text, want := range map[string]int{
		"a: b\n}\n":                               2,
		"id: x\nsteps:\n  - id: y\n\ttitle: z\n":  4,
		"id: x\nname: y\n  bad: c: d\n":           3,
		"id: x\nsteps: [a, b\nname: c\n":          2,
		"id: x\nb:\n  - y\n c: d\n":               4,
		"id: x\nb: |\n a\n\x01\n":                 4,
		"id: x\nb: *y\n":                          2,
		"id: x\r\nb: 1\r\nc: @d\r\n":              3,
		"id: x\rsteps:\r  - id: y\r\ttitle: z\r":  4,
		"%YAML 9.9\n---\na: b\n":                  1,
		strings.Repeat("a: b\n", 99) + "c: \"d\n": 100,
		strings.Repeat("k: [\n1]\n", 50) + "}\n":  101,
	} {
		_, err := Parse([]byte(text))
		var at *canon.ParseError
		if !errors.As(err, &at) || at.Line != want {
			t.Errorf("%.40q: %v at line %d, want %d", text, err, at.Line, want)
		}
	}
}
