// Package blob recognizes base64 texts: digests, files, and pairs of a user and a password. Its functions read a
// bounded part of a text.
//
// The entry point is Contains. Start reading there.
package blob

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

// blobLine is the shortest line of a base64 text of several lines, blobLineMax the longest that is read.
const (
	blobLine    = 56
	blobLineMax = 128
	classified  = 256 // bytes of a token that are read
)

// blobByte is the class of the bytes of standard base64, which the tokens of most providers do not have.
func blobByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '='
}

// span returns where the run of such bytes that begins at i ends.
func span(s string, i int) int {
	for i < len(s) && blobByte(s[i]) {
		i++
	}
	return i
}

// digestNames are what precedes a digest in base64, in lock files and attributes of integrity.
var digestNames = []string{"sha512-", "sha384-", "sha256-", "sha1-", "h1:", "sha512:", "sha256:"}

// AfterDigest reports that the name of a digest ends at an offset.
func AfterDigest(s string, from int) bool {
	for _, name := range digestNames {
		if strings.HasSuffix(s[max(0, from-len(name)):from], name) {
			return true
		}
	}
	return false
}

// Contains reports that the token s[from:to] is a part of a base64 text: before a sign of base64 that the token
// cannot have, or in a text of several lines. Such a text begins with the prefix of a token by chance.
func Contains(s string, from, to int) bool {
	if strings.ContainsAny(s[from:min(to, from+Prefix)], "-_.:") {
		return false // no standard base64, or a prefix that no base64 text has by chance
	}
	if to < len(s) && (s[to] == '+' || s[to] == '/') && span(s[:min(len(s), to+blobLineMax)], to) > to+20 {
		return true
	}
	end := span(s[:min(len(s), to+2*blobLineMax)], to)
	if strings.ContainsAny(s[from:min(to, from+classified)], "-_.:") {
		return false
	}
	lines := strings.Count(s[from:min(to, from+2*blobLineMax)], "\n")
	if from > 0 && s[from-1] == '\n' && blobEnds(s, from-1) {
		lines += 2
	}
	for at := end; at < len(s) && at-from < 4*blobLineMax && at-from >= blobLine && s[at] == '\n'; lines++ {
		next := span(s[:min(len(s), at+1+blobLineMax)], at+1)
		if next-at <= blobLine {
			break
		}
		at = next
	}
	return lines >= 2
}

// Prefix is the length of the longest prefix that base64 has by chance.
const Prefix = 5

// TooLong reports standard base64 that is longer than the key of a short prefix.
func TooLong(v string) bool {
	if len(v) <= blobMax {
		return false
	}
	signs := false // of standard base64
	for i := range blobMax {
		switch v[i] {
		case '-', '_', '.', ':', '%':
			return false
		case '+', '/':
			signs = true
		}
	}
	return signs
}

// blobMax is longer than such keys, and Longest is how much of a run shows that it is longer.
const (
	blobMax = 160
	Longest = blobMax + 1
)

// blobEnds reports that a line of base64 ends at i.
func blobEnds(s string, i int) bool {
	from := i
	for from > 0 && i-from < blobLineMax && blobByte(s[from-1]) {
		from--
	}
	return i-from >= blobLine && (from == 0 || s[from-1] == '\n' || s[from-1] == ' ')
}

// Standard replaces the signs of base64url.
var Standard = strings.NewReplacer("-", "+", "_", "/")

// UserPassword reports base64 of user:password. The beginning is enough to see whether it is readable.
func UserPassword(s string) bool {
	near := Standard.Replace(strings.TrimRight(s[:min(len(s), classified)], "="))
	plain, err := base64.RawStdEncoding.DecodeString(near)
	return err == nil && len(near) >= 6 && strings.Contains(string(plain), ":") && readable(string(plain))
}

// readable reports text without control characters. Its last character may be incomplete, since
// the input was truncated.
func readable(s string) bool {
	for i, r := range s {
		if r == utf8.RuneError && i < len(s)-utf8.UTFMax || r < ' ' || !unicode.IsPrint(r) && r != utf8.RuneError {
			return false
		}
	}
	return !strings.HasPrefix(s, string(utf8.RuneError))
}
