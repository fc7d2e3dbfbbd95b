package redact

import (
	"strings"

	"github.com/waybill/waybill/durable/redact/blob"
)

// jwt returns the end of the JWT at i, 0 where there is none: a part of base64url that decodes to
// text beginning with {", and two more parts.
func (sc *scanner) jwt(i int) (to int) {
	s := sc.text
	if i < sc.noJWTBefore || !strings.HasPrefix(s[i:], "eyJ") {
		return 0
	}
	one := span(s, i, dashed)
	// The shortest header and payload are longer than these bounds.
	if one-i >= 8 && strings.HasPrefix(s[one:], ".") {
		if two := span(s, one+1, dashed); two-one > 5 && strings.HasPrefix(s[two:], ".") {
			to = max(two+1, trimDots(s, two, span(s, two, dotted))) // the signature may be empty
			return max(to, splitJWT(s, i, to))
		}
	}
	if to = splitJWT(s, i, 0); to > 0 {
		return to
	}
	sc.noJWTBefore = one // later starts in the same run end at the same byte, and fail as well
	return 0
}

// hasFold reports that s begins with a word in any case, and that more text follows.
func hasFold(s, word string) bool {
	return len(s) > len(word) && strings.EqualFold(s[:len(word)], word)
}

// bearerByte is the class of the bytes of a bearer credential.
var bearerByte = classOf(letters + digits + "_-.~+/=%")

// bearer returns the credential behind the word Bearer at i, unless it reads like a word.
func bearer(s string, i int) (from, to int) {
	const name, gapMax = "bearer", 6
	if !hasFold(s[i:], name) {
		return 0, 0
	}
	gap := i + len(name)
	from = span(s[:min(len(s), gap+gapMax)], gap, blank)
	to = span(s[:min(len(s), from+classifiedMax)], from, bearerByte)
	near := s[from:trimDots(s, from, to)]
	// A credential is long, or has a digit or an inner capital; a path is neither.
	if from == gap || len(near) < 6 ||
		(len(near) < 20 || strings.Contains(near, "/")) && !strings.ContainsAny(near, digits) && !innerUpper(near) {
		return 0, 0
	}
	if to = span(s, from, bearerByte); marker(s[to:]) > 0 {
		return 0, 0 // it was replaced before
	}
	return from, trimDots(s, from, to)
}

// innerUpper reports a text that has small letters, and a capital behind its first letter. Words
// and all-capital headings do not.
func innerUpper(s string) bool {
	return strings.ContainsAny(s[1:], capitals) && strings.ContainsAny(s, letters[:len(capitals)])
}

// anyBase64 is the class of the bytes of both alphabets of base64.
var anyBase64 = classOf(letters + digits + "+/=-_")

// basic returns the credential behind the word Basic at i, if it is base64 of user:password.
// Words of sentences decode to unprintable bytes.
func basic(s string, i int) (from, to int) {
	name := "basic "
	if s[i]|' ' == 'a' {
		name = "apikey "
	}
	if !hasFold(s[i:], name) {
		return 0, 0
	}
	from = span(s, i+len(name), blank)
	to = span(s, from, anyBase64)
	if v := s[from:to]; !blob.UserPassword(v) || strings.Trim(v[1:], letters[:len(capitals)]) == "" && len(v) < 16 {
		return 0, 0 // a word of a heading
	}
	return from, to
}
