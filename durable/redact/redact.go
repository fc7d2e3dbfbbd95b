// Package redact takes secrets out of texts and documents before they reach a disk or
// leave the machine (R30). It is one function of a document: the same text gives the
// same text wherever it stands, and redacting twice is redacting once.
//
// It knows secrets by their shape and by the names of what holds them, so it is a net
// and not a proof: a password in the middle of a sentence looks like a word.
package redact

import "strings"

// Rule is the closed set of what is taken out.
type Rule string

// The rules of R30, the password that a URL or a Basic header carries, and one of ours:
// the handles that Waybill itself hands out.
const (
	SecretKey    Rule = "secret_key"    // sk-…
	AWSKey       Rule = "aws_key"       // AKIA…, ASIA…
	SlackToken   Rule = "slack_token"   // xoxb-…
	GitHubToken  Rule = "github_token"  // ghp_…, github_pat_…
	GoogleKey    Rule = "google_key"    // AIza…
	Credential   Rule = "credential"    // cred_…
	JWT          Rule = "jwt"           // three parts of base64url, of which the first starts with {"
	PrivateKey   Rule = "private_key"   // a PEM block, all of it
	Bearer       Rule = "bearer"        // what follows the word
	Basic        Rule = "basic"         // base64 of user:password behind the word
	URLPassword  Rule = "url_password"  // scheme://user:password@host
	NamedSecret  Rule = "named_secret"  // the value of a name such as password
	WaybillToken Rule = "waybill_token" // st.v1.…, ack.v1.…, chk.v1.…: whoever holds one may act
)

// Rules lists the closed set.
func Rules() []Rule {
	return []Rule{SecretKey, AWSKey, SlackToken, GitHubToken, GoogleKey, Credential, JWT, PrivateKey, Bearer, Basic,
		URLPassword, NamedSecret, WaybillToken}
}

const (
	markerStart = "[REDACTED:"
	markerMax   = len(markerStart) + 32
)

// Marker is what stands in the place of what a rule took out.
func Marker(r Rule) string { return markerStart + string(r) + "]" }

// marker is the length of the marker that s begins with, 0 where there is none. Those
// of other versions count: what was redacted once stays as it is.
func marker(s string) int {
	if !strings.HasPrefix(s, markerStart) {
		return 0
	}
	for i := len(markerStart); i < len(s) && i < markerMax; i++ {
		switch c := s[i]; {
		case c == ']' && i > len(markerStart):
			return i + 1
		case c != '_' && !letter(c):
			return 0
		}
	}
	return 0
}

// Counts says how often each rule took something out. A nil Counts counts nothing.
type Counts map[string]int64

func (c Counts) hit(r Rule) {
	if c != nil {
		c[string(r)]++
	}
}

// Total is how much was taken out in all.
func (c Counts) Total() (n int64) {
	for _, hits := range c {
		n += hits
	}
	return n
}

// Text is s with a marker in the place of each secret; s itself where there is none.
// Bytes that are no UTF-8 part words like any sign, and stay as they are.
func Text(s string, c Counts) string {
	sc := scanner{text: s, counts: c}
	return sc.run()
}
