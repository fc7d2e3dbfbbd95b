// Package redact replaces secrets in texts and documents by markers, before they are stored or
// leave the machine (docs/design.md#redaction). It is deterministic and idempotent: equal texts
// give equal results, and redacting a redacted text changes nothing.
//
// It recognizes secrets by their form and by the names of the fields that hold them. It does not
// find all secrets: a password in the middle of a sentence reads like a word. It does not
// decide which documents are redacted; the packages that store or export them do.
//
// The entry points are Text, Value and Bytes. Start reading at scanner.
package redact

import (
	"strings"

	"github.com/waybill/waybill/durable/redact/forms"
	"github.com/waybill/waybill/durable/redact/view"
)

// Rule is the closed set of kinds of secrets. Its words are part of markers in stored texts.
type Rule string

// The rules that are not those of one row of the table of tokens (docs/redaction.md). The last one
// covers Waybill's own tokens. The set is closed by Rules, not by these constants.
const (
	SecretKey    = Rule("secret_key")    // sk-…
	AWSKey       = Rule("aws_key")       // AKIA…, ASIA…
	SlackToken   = Rule("slack_token")   // xoxb-…
	GitHubToken  = Rule("github_token")  // ghp_…, github_pat_…
	GoogleKey    = Rule("google_key")    // AIza…
	Credential   = Rule("credential")    // cred_…
	JWT          = Rule("jwt")           // three parts of base64url, of which the first starts with {"
	PrivateKey   = Rule("private_key")   // a whole PEM block
	Bearer       = Rule("bearer")        // the credential behind the word Bearer
	Basic        = Rule("basic")         // base64 of user:password behind the word Basic
	URLPassword  = Rule("url_password")  // scheme://user:password@host
	NamedSecret  = Rule("named_secret")  // the value of a name such as password
	WaybillToken = Rule("waybill_token") // st.v1.…, ack.v1.…, chk.v1.…, wbk_…: each authorizes calls
)

// Rules lists the closed set, for documentation and schemas: the rules above, and one for each
// other row of the table of tokens.
func Rules() []Rule {
	rules := []Rule{SecretKey, AWSKey, SlackToken, GitHubToken, GoogleKey, Credential, JWT, PrivateKey, Bearer, Basic,
		URLPassword, NamedSecret, WaybillToken}
	for _, row := range forms.Rows() {
		if row.Rule == "" {
			rules = append(rules, Rule(row.ID))
		}
	}
	return rules
}

const markerStart = "[REDACTED:"

// markerWord is the class of the bytes of a rule in a marker, and markerMax their greatest number. A
// marker of any rule is one, also of one that this version does not know: texts that another version
// redacted stay unchanged.
var markerWord = classOf(letters + "_")

const markerMax = 31

// Marker returns the text that replaces a secret found by rule r. It is stored: never changed.
func Marker(r Rule) string { return markerStart + string(r) + "]" }

// marker returns the length of the marker that s begins with, 0 where it begins with none.
func marker(s string) int {
	if !strings.HasPrefix(s, markerStart) { // the usual case
		return 0
	}
	to := span(s[:min(len(s), len(markerStart)+markerMax)], len(markerStart), markerWord)
	if to == len(markerStart) || to == len(s) || s[to] != ']' {
		return 0
	}
	return to + 1
}

// Counts is the number of replacements by rule. A nil Counts counts nothing.
type Counts map[string]int64

// add counts replacements.
func (c Counts) add(r Rule, n int64) {
	if c != nil {
		c[string(r)] += n
	}
}

// Total returns the number of replacements of all rules.
func (c Counts) Total() (n int64) {
	for _, hits := range c {
		n += hits
	}
	return n
}

// Text returns s with each secret replaced by a marker, and s itself where it has none. Bytes that
// are not UTF-8 separate words like punctuation, and are kept.
func Text(s string, c Counts) string {
	// A replacement may complete the context of another one. The loop ends with the first pass that
	// replaces nothing, which is nearly always the second one.
	for range passesMax {
		next := pass(s, c)
		if next == s {
			break
		}
		s = next
	}
	return s
}

// passesMax bounds the passes over one text.
const passesMax = 8

// pass redacts what is readable in s, what is readable after percent-decoding, and base64.
func pass(s string, c Counts) string {
	shown := view.Shown(s)
	s = (&scanner{text: shown.Shown, source: &shown, counts: c}).run()
	if decoded, ok := view.Percent(s); ok {
		s = (&scanner{text: decoded.Shown, source: &decoded, counts: c, encoded: true}).run()
	}
	return base64Text(s, c)
}
