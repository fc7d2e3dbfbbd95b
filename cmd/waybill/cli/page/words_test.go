package page

import (
	"strings"
	"testing"
)

func TestList(t *testing.T) {
	if strings.Join([]string{List(nil), List([]string{"a"}), List([]string{"a", "b"}), List([]string{"a", "b", "c"})},
		"|") != "|a|a and b|a, b and c" {
		t.Error("want words joined by commas and a final and")
	}
}
