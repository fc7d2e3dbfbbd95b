package nearest

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	keys := []string{"id", "name", "steps", "description", "requireConfirmation", "runCondition", "prompt"}
	for word, want := range map[string]string{
		"stpes": "steps", "stepsxx": "steps", "stepsxxx": "steps", "step": "steps", "Steps": "steps",
		"descripton": "description", "decsription": "description",
		"requiresConfirmation": "requireConfirmation", "confirmation": "", "run_condition": "runCondition",
		"promt": "prompt",
		"di":    "id", "i": "id", "x": "", "": "", "entirelyOther": "", strings.Repeat("steps", 100): "",
	} {
		if got := Of(word, keys); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

func TestOfPrefixes(t *testing.T) {
	names := []string{"decision", "loopId", "metadata", "summary"}
	for word, want := range map[string]string{
		"decison": "decision", "Decision": "decision", "loop_id": "loopId", "loopid": "loopId", "meta": "metadata",
		"summaryText": "summary", "": "", "x": "", "reason": "", strings.Repeat("summary", 10): "",
	} {
		if got := Of(word, names); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"abc", "", 3}, {"", "ab", 2}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "ab", 1},
		{"ab", "abc", 1},
		{"abc", "acb", 1}, {"ab", "ba", 1}, {"kitten", "sitting", 3}, {"stpes", "steps", 1}, {"abcd", "badc", 2},
		{"abc", "xyz", 3},
	} {
		if got := distance(row.a, row.b); got != row.want {
			t.Errorf("%q to %q: got %d, want %d", row.a, row.b, got, row.want)
		}
	}
}

// FuzzDistance checks that distance is 0 for equal words only, symmetric and bounded.
func FuzzDistance(f *testing.F) {
	f.Add("steps", "stpes")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 50 || len(b) > 50 {
			return
		}
		d := distance(a, b)
		if d != distance(b, a) || (d == 0) != (a == b) || d > max(len(a), len(b)) {
			t.Fatalf("distance(%q, %q) is %d", a, b, d)
		}
	})
}

func TestSuggest(t *testing.T) {
	names := []string{"title", "prompt"}
	if got := Suggest("titel", names, "Did you mean %q?", "Remove it."); got != `Did you mean "title"?` {
		t.Error(got)
	}
	if got := Suggest("colour", names, "Did you mean %q?", "Remove it."); got != "Remove it." {
		t.Error(got)
	}
}
