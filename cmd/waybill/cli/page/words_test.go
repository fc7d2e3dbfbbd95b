package page

import (
	"strings"
	"testing"
)

func TestListsJoin(t *testing.T) {
	if strings.Join([]string{List(nil), List([]string{"a"}), List([]string{"a", "b"}), List([]string{"a", "b", "c"})},
		"|") != "|a|a and b|a, b and c" {
		t.Error("lists are not joined as sentences have them")
	}
}
