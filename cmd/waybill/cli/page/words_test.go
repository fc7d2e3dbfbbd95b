package page

import (
	"strings"
	"testing"
)

func TestList(t *testing.T) {
	if strings.Join([]string{List(nil, "and"), List([]string{"a"}, "and"), List([]string{"a", "b"}, "or"),
		List([]string{"a", "b", "c"}, "and")}, "|") != "|a|a or b|a, b and c" {
		t.Error("want words joined by commas and a final conjunction")
	}
}
