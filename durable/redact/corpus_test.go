package redact_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/waybill/waybill/durable/redact"
)

// sample is one text of the corpus, and what kind of place it comes from.
type sample struct {
	Where string `json:"where"`
	Text  string `json:"text"`
}

// secretMark is how a positive text says what has to go: ⟦rule|secret⟧. All around it has
// to stay as it is.
var secretMark = regexp.MustCompile(`(?s)⟦([a-z_]+)\|(.*?)⟧`)

func corpus(t testing.TB, name string) (samples []sample) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		err = json.Unmarshal(data, &samples)
	}
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, s := range samples {
		if seen[s.Text] {
			t.Errorf("%s: %q is there twice", name, s.Text)
		}
		seen[s.Text] = true
	}
	if len(samples) < 220 {
		t.Errorf("%s: %d texts, at least 220 are needed", name, len(samples))
	}
	return samples
}

// TestSecretsGo: each secret is gone, the marker of its rule stands in its place, and the
// text around it survives. Each rule is shown in eight texts or more.
func TestSecretsGo(t *testing.T) {
	shown := map[redact.Rule]int{}
	for _, s := range corpus(t, "positive.json") {
		in := secretMark.ReplaceAllString(s.Text, "$2")
		want := secretMark.ReplaceAllString(s.Text, "[REDACTED:$1]")
		counts, inText := redact.Counts{}, map[redact.Rule]int64{}
		for _, m := range secretMark.FindAllStringSubmatch(s.Text, -1) {
			inText[redact.Rule(m[1])]++
		}
		if len(inText) == 0 {
			t.Errorf("%s: %q marks no secret", s.Where, s.Text)
		}
		if got := redact.Text(in, counts); got != want {
			t.Errorf("%s\n  of %q\n got %q\nwant %q", s.Where, in, got, want)
		}
		for rule, n := range inText {
			shown[rule]++
			if counts[string(rule)] != n {
				t.Errorf("%s: %q: %s was counted %d times, not %d", s.Where, in, rule, counts[string(rule)], n)
			}
		}
		twice(t, in)
	}
	for _, rule := range redact.Rules() {
		if shown[rule] < 8 {
			t.Errorf("%s is shown in %d texts", rule, shown[rule])
		}
		delete(shown, rule)
	}
	for rule := range shown {
		t.Errorf("%s is no rule", rule)
	}
}

// TestTheRestStays: what looks like a secret and is none comes back byte for byte.
func TestTheRestStays(t *testing.T) {
	for _, s := range corpus(t, "negative.json") {
		counts := redact.Counts{}
		if got := redact.Text(s.Text, counts); got != s.Text || counts.Total() != 0 {
			t.Errorf("%s\n  of %q\n got %q (%v)", s.Where, s.Text, got, counts)
		}
	}
}

// TestCorpusInOtherPlaces: a line of the corpus says the same with other lines around it,
// in Windows lines, and behind bytes that are no UTF-8, which stay.
func TestCorpusInOtherPlaces(t *testing.T) {
	for _, around := range [][2]string{{"one line\n", "\nanother"}, {"", "\r\n"}, {"\ufeff", ""},
		{"\xff\xfe\x80 x\n", "\n\xc3"}} {
		for _, s := range corpus(t, "positive.json") {
			in := secretMark.ReplaceAllString(s.Text, "$2")
			want := secretMark.ReplaceAllString(s.Text, "[REDACTED:$1]")
			if got := redact.Text(around[0]+in+around[1], nil); got != around[0]+want+around[1] {
				t.Errorf("%s between %q\n got %q\nwant %q", s.Where, around, got, want)
			}
			twice(t, around[0]+in+around[1])
		}
		for _, s := range corpus(t, "negative.json") {
			if in := around[0] + s.Text + around[1]; redact.Text(in, nil) != in {
				t.Errorf("%s between %q: %q became %q", s.Where, around, in, redact.Text(in, nil))
			}
		}
	}
}
