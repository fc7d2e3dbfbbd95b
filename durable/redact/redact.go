// Package redact takes secrets out of texts and documents before they reach a disk or
// leave the machine (R30). It is one function of a document: the same text gives the
// same text wherever it stands, and redacting twice is redacting once.
//
// It knows secrets by their shape and by the names of what holds them, so it is a net
// and not a proof: a password in the middle of a sentence looks like a word.
package redact

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
)

// Rule is the closed set of what is taken out.
type Rule string

// The rules of R30, and one of ours: the handles that Waybill itself hands out.
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
	NamedSecret  Rule = "named_secret"  // the value of a name such as password
	WaybillToken Rule = "waybill_token" // st.v1.…, ack.v1.…, chk.v1.…: whoever holds one may act
)

// Rules lists the closed set.
func Rules() []Rule {
	return []Rule{SecretKey, AWSKey, SlackToken, GitHubToken, GoogleKey, Credential, JWT, PrivateKey, Bearer, NamedSecret, WaybillToken}
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
func Text(s string, c Counts) string {
	sc := scanner{text: s, counts: c}
	return sc.run()
}

// Value is v with Text in the place of every string, names of members too, and with
// the whole of every string and number that a secret name holds replaced, however deep
// below the name it stands. What is true, false or null is no secret.
func Value(v canon.Value, c Counts) canon.Value { return value(v, c, false) }

func value(v canon.Value, c Counts, named bool) canon.Value {
	switch v.Kind() {
	case canon.String:
		if !named {
			return keepLine(canon.OfString(Text(v.Text(), c)), v)
		}
		if s := v.Text(); s == "" || marker(s) == len(s) {
			return v
		}
	case canon.Number:
		if !named {
			return v
		}
	case canon.Array:
		items := make([]canon.Value, v.Len())
		for i := range items {
			items[i] = value(v.Item(i), c, named)
		}
		return keepLine(canon.OfList(items...), v)
	case canon.Object:
		return keepLine(object(v, c, named), v)
	default:
		return v
	}
	c.hit(NamedSecret)
	return keepLine(canon.OfString(Marker(NamedSecret)), v)
}

func keepLine(now, was canon.Value) canon.Value { return now.AtLine(was.Line()) }

// object redacts names as well. Of those that come out the same, or differ in case
// alone, the later get a number: no member is lost, and the document can be read.
func object(v canon.Value, c Counts, named bool) canon.Value {
	members := make([]canon.Member, v.Len())
	changed := false
	for i := range members {
		name := Text(v.Key(i), c)
		changed = changed || name != v.Key(i)
		members[i] = canon.Member{Name: name, Value: value(v.Item(i), c, named || SecretName(name))}
	}
	if !changed {
		return canon.OfMembers(members...)
	}
	taken := map[string]int{}
	for i := range members {
		if members[i].Name == v.Key(i) {
			taken[strings.ToLower(v.Key(i))] = 1 // names that stay keep their spelling
		}
	}
	for i := range members {
		if members[i].Name != v.Key(i) {
			members[i].Name = free(members[i].Name, taken)
		}
	}
	return canon.OfMembers(members...)
}

// free is name, or name with the first number that nothing has yet.
func free(name string, taken map[string]int) string {
	low := strings.ToLower(name)
	out := name
	for n := taken[low]; n > 0; n++ {
		out = name + "#" + strconv.Itoa(n+1)
		if taken[strings.ToLower(out)] == 0 {
			taken[low] = n + 1
			break
		}
	}
	taken[strings.ToLower(out)] = max(1, taken[strings.ToLower(out)])
	return out
}

// Bytes is an artifact without its secrets: JSON as Value has it, in JCS; other UTF-8
// as Text; anything else untouched. Where nothing was taken out it is b itself.
func Bytes(b []byte, contentType string, c Counts) []byte {
	own := Counts{}
	var out []byte
	if v, err := canon.Parse(b); isJSON(contentType) && err == nil {
		out = Value(v, own).JCS()
	} else if utf8.Valid(b) {
		out = []byte(Text(string(b), own))
	}
	if len(own) == 0 {
		return b
	}
	for rule, hits := range own {
		if c != nil {
			c[rule] += hits
		}
	}
	return out
}

// isJSON reports a content type of JSON, parameters aside.
func isJSON(contentType string) bool {
	essence, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	essence = strings.TrimSpace(essence)
	return essence == "application/json" || strings.HasSuffix(essence, "+json")
}
