package redact_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/redact"
)

// document is one file of the corpus of providers: texts as their documentation shows them, with the
// secrets in ⟦ ⟧, and texts without secrets.
type document struct {
	Provider string `json:"provider"`
	Topic    string `json:"topic"`
	Source   string `json:"source"`
	Samples  []json.RawMessage
}

// documents reads a folder of the corpus.
func documents(t testing.TB, folder string) map[string]document {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "corpus", folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s, %v", folder, err)
	}
	all := map[string]document{}
	for _, file := range files {
		var d document
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &d)
		}
		if err != nil || len(d.Samples) == 0 {
			t.Fatalf("%s: %v", file, err)
		}
		all[filepath.Base(file)] = d
	}
	return all
}

// tokenBreak is in the middle of made-up tokens, so that no scanner of repositories takes them for real ones.
const tokenBreak = "⟨⟩"

// providerSecret matches a marked secret.
var providerSecret = regexp.MustCompile(`(?s)⟦(.*?)⟧`)

var anyMarker = regexp.MustCompile(`\[REDACTED:[a-z_]+\]`)

// leftMax is the longest part of a secret that may remain: a prefix, or what it shares with the text
// around it.
const leftMax = 5

// remains reports that a part of a secret is in a redacted text, and was not in the text around the
// secret before.
func remains(secret, redacted, around string) bool {
	redacted = anyMarker.ReplaceAllString(redacted, "")
	for i := 0; i+leftMax < len(secret); i++ {
		if part := secret[i : i+leftMax+1]; strings.Contains(redacted, part) && !strings.Contains(around, part) {
			return true
		}
	}
	return len(secret) <= leftMax && strings.Contains(redacted, secret) && !strings.Contains(around, secret)
}

// keyFrame matches what is replaced with a private key: the lines around it, and line ends.
var keyFrame = regexp.MustCompile(`-----(?:BEGIN|END) [A-Z ]+-----|\\r|\\n|^[ +|]*$`)

// keeps reports that the text around the secrets is in the redacted text, in its order.
func keeps(redacted string, around []string) bool {
	for _, part := range around {
		part = strings.TrimSpace(keyFrame.ReplaceAllString(part, ""))
		at := strings.Index(redacted, part)
		if at < 0 {
			return false
		}
		redacted = redacted[at+len(part):]
	}
	return true
}

// TestProviders: of the samples of the corpus, at least 95 % lose all of each secret, and nearly all
// of these keep the text around.
func TestProviders(t *testing.T) {
	total, found, kept := 0, 0, 0
	for name, d := range documents(t, "positive") {
		for _, raw := range d.Samples {
			var s struct{ Form, Text string }
			if err := json.Unmarshal(raw, &s); err != nil || !providerSecret.MatchString(s.Text) {
				t.Fatalf("%s: %s: %v", name, raw, err)
			}
			s.Text = strings.ReplaceAll(s.Text, tokenBreak, "")
			in := providerSecret.ReplaceAllString(s.Text, "$1")
			around := providerSecret.Split(s.Text, -1)
			got := redact.Text(in, nil)
			total++
			missed := false
			for _, m := range providerSecret.FindAllStringSubmatch(s.Text, -1) {
				missed = missed || remains(m[1], got, strings.Join(around, "\n"))
			}
			switch {
			case missed:
				t.Logf("missed: %s, %s\n  of %q\n got %q", name, s.Form, in, got)
				continue
			case keeps(got, around):
				kept++
			default:
				t.Logf("around: %s, %s\n  of %q\n got %q", name, s.Form, in, got)
			}
			found++
			checkIdempotent(t, in)
		}
	}
	t.Logf("%d samples, %d found (%.1f %%), %d of them with the text around", total, found, 100*float64(found)/float64(total), kept)
	if found*100 < total*95 || kept*100 < found*97 {
		t.Errorf("%d of %d samples are found, %d with the text around", found, total, kept)
	}
}

// TestTextKeepsProviderNegatives: texts that only look like secrets stay byte for byte.
func TestTextKeepsProviderNegatives(t *testing.T) {
	for name, d := range documents(t, "negative") {
		for _, raw := range d.Samples {
			var text string
			if err := json.Unmarshal(raw, &text); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			counts := redact.Counts{}
			if got := redact.Text(text, counts); got != text || counts.Total() != 0 {
				t.Errorf("%s\n  of %q\n got %q", name, text, got)
			}
		}
	}
}
