package redact_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/redact/forms"
)

// TestTokenTable checks the rows: unique ids that are words of markers, an https source, examples.
func TestTokenTable(t *testing.T) {
	ids, providers := map[string]bool{}, map[string]bool{}
	for _, row := range redact.Tokens() {
		source, err := url.Parse(row.Source)
		if err != nil || source.Scheme != "https" || !strings.Contains(source.Host, ".") {
			t.Errorf("%s: the source is %q, not an https URL", row.ID, row.Source)
		}
		if marker := redact.Marker(redact.Rule(row.ID)); redact.Text(marker+" sk-abcdef", nil) != marker+" [REDACTED:secret_key]" {
			t.Errorf("%s is no word of a marker", row.ID)
		}
		if ids[row.ID] || row.Provider == "" || row.Yes == "" || row.No == "" {
			t.Errorf("%s is listed twice, or is not complete", row.ID)
		}
		ids[row.ID], providers[row.Provider] = true, true
		counts := redact.Counts{}
		if got := redact.Text("see "+row.No+" and", counts); counts.Total() != 0 {
			t.Errorf("%s: %q became %q", row.ID, row.No, got)
		}
	}
	if len(ids) < 120 || len(providers) < 80 {
		t.Errorf("%d rows of %d providers, at least 120 of 80 are needed", len(ids), len(providers))
	}
}

// wrapped returns a token with a line break in its middle, and what is before its second half.
func wrapped(token, lineBreak string) string {
	return token[:len(token)/2] + lineBreak + token[len(token)/2:]
}

// contexts are texts around a token. The token is %s there, and all of it is to be replaced.
var contexts = []struct {
	name, before, after string
	write               func(token string) string
}{
	{"alone", "", "", nil},
	{"prose", "the new one is ", ", use it.", nil},
	{"the end of a sentence", "I pasted ", ".\nThen I went home", nil},
	{"JSON", `{"a":"`, `","n":1}`, nil},
	{"escaped JSON", `{"a":"{\"b\":\"`, `\"}"}`, nil},
	{"escaped line ends", `"one\n`, `\ntwo"`, nil},
	{"brackets", "(", ")", nil},
	{"a tag", "<b>", "</b>", nil},
	{"other letters", "密钥是", "，请更换", nil},
	{"Windows lines", "a\r\n", "\r\nb", nil},
	{"an environment file", "X=", "\nNEXT_NAME2=abc", nil},
	{"colors around it", "\x1b[1;31m", "\x1b[0m", nil},
	{"colors inside", "see ", " there", func(s string) string { return wrapped(s, "\x1b[0m\x1b[38;5;196m") }},
	{"written colors inside", `{"log":"\u001b[1m`, `\u001b[0m"}`, func(s string) string { return wrapped(s, `\u001b[32m`) }},
	{"zero-width characters", "see ", " there", func(s string) string {
		return wrapped(s, "\u200b\u2060\u00ad\ufeff\u200d")
	}},
	{"written zero-width characters", "see ", " there", func(s string) string { return wrapped(s, `\u200b`) }},
	{"Unicode escapes", `{"a":"`, `"}`, func(s string) string {
		return strings.NewReplacer("-", `\u002d`, "_", `\u005F`, "a", `\u0061`, "=", `\u003d`, "+", `\u002B`).Replace(s)
	}},
	{"percent-encoded", "https://h.test/?u=", "&page=2", func(s string) string {
		return strings.NewReplacer("-", "%2D", "_", "%5f", ".", "%2E", "/", "%2F", ":", "%3A", "=", "%3D").Replace(s)
	}},
	{"percent-encoded behind a name", "next=%2Fcb%3Fa%3D", "%26b%3D2", url.QueryEscape},
	{"base64", "see ", " there", func(s string) string {
		return base64.StdEncoding.EncodeToString([]byte("the key: " + s + "\n"))
	}},
	{"base64 without padding", `{"data":"`, `"}`, func(s string) string {
		return base64.RawURLEncoding.EncodeToString([]byte("key = " + s + ""))
	}},
	{"base64 over lines", "data:\n  ", "\nnext: 1", func(s string) string {
		text := base64.StdEncoding.EncodeToString([]byte("a file with several lines,\nand the key = " + s + "\n"))
		return text[:44] + "\n  " + text[44:]
	}},
}

// TestTokensInContexts: each token of the table is replaced as a whole, under its rule, wherever it
// is in a text, and what is around it stays.
func TestTokensInContexts(t *testing.T) {
	for _, row := range redact.Tokens() {
		for _, c := range contexts {
			in := row.Yes
			if c.write != nil {
				in = c.write(in)
			}
			if strings.HasPrefix(row.ID, "credential") && strings.HasPrefix(c.name, "base64") {
				continue // shorter than what is searched in base64
			}
			counts := redact.Counts{}
			want := c.before + redact.Marker(row.Rule) + c.after
			if row.Open != "" {
				if counts[string(row.Rule)] = 1; strings.Contains(redact.Text(c.before+in+c.after, nil), in[len(in)-8:]) {
					t.Errorf("%s, %s: %q stays", row.ID, c.name, in)
				}
				continue
			}
			got := redact.Text(c.before+in+c.after, counts)
			if got != want || counts[string(row.Rule)] != 1 {
				t.Errorf("%s, %s\n  of %q\n got %q\nwant %q", row.ID, c.name, c.before+in+c.after, got, want)
			}
			checkIdempotent(t, c.before+in+c.after)
		}
	}
}

// lineBreaks are what separates the halves of a token that is written over two lines.
var lineBreaks = []string{"\n", "\r\n", "\n    ", "\n> ", "\\\n  ", "\" +\n  \"", "'\n'", `\n`, "\n | "}

// TestTokensOverLines: the second half of a token is replaced with the first one, and the words
// that follow stay.
func TestTokensOverLines(t *testing.T) {
	for _, row := range redact.Tokens() {
		if len(row.Yes) < 24 {
			continue
		}
		for _, lineBreak := range lineBreaks {
			quote := ""
			if strings.ContainsAny(lineBreak, `"'`) {
				quote = lineBreak[:1]
			}
			in := fmt.Sprintf("it is %s%s%s and\nthe next line", quote, wrapped(row.Yes, lineBreak), quote)
			want := fmt.Sprintf("it is %s%s%s and\nthe next line", quote, redact.Marker(row.Rule), quote)
			if row.Open != "" {
				if got := redact.Text(in, nil); strings.Contains(got, row.Yes[len(row.Yes)-8:]) {
					t.Errorf("%s: %q stays", row.ID, got)
				}
				continue
			}
			if got := redact.Text(in, nil); got != want {
				t.Errorf("%s\n  of %q\n got %q\nwant %q", row.ID, in, got, want)
			}
			checkIdempotent(t, in)
		}
		// A whole token at the end of a line does not take the first word of the next one.
		for _, next := range []string{"Please", "JavaScript", "configuration", "v2.0.1", "2026-01-02", "DB_HOST2=x", "- item"} {
			in := "it is " + row.Yes + "\n" + next + " follows"
			want := "it is " + row.Open + redact.Marker(row.Rule) + "\n" + next + " follows"
			if got := redact.Text(in, nil); got != want {
				t.Errorf("%s\n  of %q\n got %q\nwant %q", row.ID, in, got, want)
			}
		}
	}
}

// TestKeysOfServices: beside the name of a service, a value that is no word is a key, in any notation of the name.
func TestKeysOfServices(t *testing.T) {
	const hex, plain = "8dfa2f14a9ac425e655360749bf0de50", "86c31fea0340651194a8"
	service := "" // the first one of the table
	for _, row := range forms.Rows() {
		if p := strings.ToLower(row.Provider); service == "" && forms.Service(p) && !strings.ContainsAny(p, " .;") {
			service = p
		}
	}
	for _, text := range []string{"%sKey = \"" + hex + "\"", "%s.key=" + plain + "\n", "tool --%s-key " + hex + " --region eu",
		"<%sKey>\n  " + hex + "\n</%[1]sKey>", "Set `%s_key` to `" + hex + "` first."} {
		of, other := fmt.Sprintf(text, service), fmt.Sprintf(text, "cache")
		if got := redact.Text(of, nil); strings.Contains(got, hex[:8]) || strings.Contains(got, plain[:8]) {
			t.Errorf("%q became %q", of, got)
		}
		if got := redact.Text(other, nil); got != other {
			t.Errorf("%q became %q", other, got)
		}
	}
	if text := service + `Key = "storageAccountKey1"`; redact.Text(text, nil) != text {
		t.Errorf("%q became %q", text, redact.Text(text, nil))
	}
	v, err := canon.Parse([]byte(`{"` + service + `Key":"` + hex + `","cacheKey":"` + hex + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(redact.Value(v, nil).JCS()); strings.Count(got, hex) != 1 {
		t.Errorf("got %s", got)
	}
}
