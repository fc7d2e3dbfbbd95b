package redact_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/redact"
)

// corpusText is one text of the corpus, and the kind of document it comes from.
type corpusText struct {
	Where string `json:"where"`
	Text  string `json:"text"`
}

// secretMark matches ⟦rule|secret⟧, which marks a secret in a positive text. The text around it
// must not change.
var secretMark = regexp.MustCompile(`(?s)⟦([a-z_]+)\|(.*?)⟧`)

func corpus(t testing.TB, name string) (samples []corpusText) {
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
			t.Errorf("%s: %q is listed twice", name, s.Text)
		}
		seen[s.Text] = true
	}
	if len(samples) < 220 {
		t.Errorf("%s: %d texts, at least 220 are needed", name, len(samples))
	}
	return samples
}

// Text replaces each secret of the corpus by the marker of its rule, and keeps the text around
// it. Each rule that is not the one of a row of the table has at least eight texts; the table has a
// test of its own.
func TestTextReplacesSecretsOfCorpus(t *testing.T) {
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
		checkIdempotent(t, in)
	}
	for _, rule := range redact.Rules() {
		if shown[rule] < 8 && !slices.ContainsFunc(redact.Tokens(), func(t redact.Token) bool { return t.ID == string(rule) }) {
			t.Errorf("%s has %d texts, at least 8 are needed", rule, shown[rule])
		}
		delete(shown, rule)
	}
	for rule := range shown {
		t.Errorf("%s is not a rule", rule)
	}
}

// Text returns texts that only look like secrets byte for byte.
func TestTextKeepsNegativeCorpus(t *testing.T) {
	for _, s := range corpus(t, "negative.json") {
		counts := redact.Counts{}
		if got := redact.Text(s.Text, counts); got != s.Text || counts.Total() != 0 {
			t.Errorf("%s\n  of %q\n got %q (%v)", s.Where, s.Text, got, counts)
		}
	}
}

// A line of the corpus has the same result between other lines, with Windows line ends, and
// next to bytes that are not UTF-8, which are kept.
func TestCorpusInOtherContexts(t *testing.T) {
	for _, around := range [][2]string{{"one line\n", "\nanother"}, {"", "\r\n"}, {"\ufeff", ""},
		{"\xff\xfe\x80 x\n", "\n\xc3"}} {
		for _, s := range corpus(t, "positive.json") {
			in := secretMark.ReplaceAllString(s.Text, "$2")
			want := secretMark.ReplaceAllString(s.Text, "[REDACTED:$1]")
			if got := redact.Text(around[0]+in+around[1], nil); got != around[0]+want+around[1] {
				t.Errorf("%s between %q\n got %q\nwant %q", s.Where, around, got, want)
			}
			checkIdempotent(t, around[0]+in+around[1])
		}
		for _, s := range corpus(t, "negative.json") {
			if in := around[0] + s.Text + around[1]; redact.Text(in, nil) != in {
				t.Errorf("%s between %q: %q became %q", s.Where, around, in, redact.Text(in, nil))
			}
		}
	}
}
