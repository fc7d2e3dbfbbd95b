package token_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/run/token"
)

// TestFingerprint pins fingerprints, which people write down.
func TestFingerprint(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range []token.Key{{}, {1}, {31: 1}} {
		f := k.Fingerprint()
		if len(f) != 8 || strings.Trim(f, "0123456789abcdef") != "" || seen[f] || k.Fingerprint() != f {
			t.Errorf("%x has the fingerprint %q", k, f)
		}
		seen[f] = true
	}
	if got, want := (token.Key{}).Fingerprint(), "fc697877"; got != want {
		t.Errorf("the fingerprint of the zero key is %s, want %s", got, want)
	}
}
