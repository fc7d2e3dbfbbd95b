package id_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/id"
)

func TestTenantName(t *testing.T) {
	for name, ok := range map[string]bool{"local": true, "a": true, "a-b_c9": true, "": false, "-a": false, "_a": false,
		"..": false, "a/b": false, `a\b`: false, "A": false, "ä": false,
		"A1": false, "9": true, "a b": false, "a\x00": false, "a.": false, strings.Repeat("x", 64): true, strings.Repeat("x", 65): false} {
		if id.IsTenantName(name) != ok {
			t.Errorf("%q: %v", name, !ok)
		}
	}
}
