package snapshot

import "testing"

// TestInWords: rounds are counted from one, and other texts stay as they are.
func TestInWords(t *testing.T) {
	for key, want := range map[string]string{
		"plan":                   "plan",
		"again@0::inner":         "inner, round 1 of again",
		"outer@9/again@1::inner": "inner, round 2 of again, round 10 of outer",
		"again@-1::inner":        "again@-1::inner",
		"again@::inner\x1b[31m":  "again@::inner\x1b[31m",
	} {
		if got := InWords(key); got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
}
