package redact

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

// urlSearchMax bounds how many bytes behind a slash are searched for an @.
const urlSearchMax = 128

// urlByte reports a byte that may be part of a URL in a text.
func urlByte(c byte) bool {
	return c > ' ' && c != 0x7f && strings.IndexByte("\"'`<>\\", c) < 0
}

// url schedules the password of user:password@host behind the :// that ends before i. A user
// without a password is no secret, and the text behind the colon of a host is a port.
func (sc *scanner) url(i int) {
	s := sc.text
	// The authority ends at the first slash, question mark or hash; the password may contain @.
	end := span(s, i, func(c byte) bool { return urlByte(c) && c != '/' && c != '?' && c != '#' })
	at := strings.LastIndexByte(s[i:end], '@')
	colon := userEnd(s[i:end])
	switch {
	case colon < 0 || at >= 0 && colon > at: // no password: the colon is that of a port
		return
	case at < 0:
		if at = slashInPassword(s, i+colon+1, end); at < 0 {
			return
		}
		at -= i
	}
	password := s[i+colon+1 : i+at]
	// Documentation and configuration templates show placeholders in URLs.
	if password == "" || strings.Contains(password, markerStart) || placeholder(password) {
		return
	}
	sc.schedule(i+colon+1, i+at, URLPassword)
}

// userEnd returns the offset of the first colon outside of markers; -1 without one.
func userEnd(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ':':
			return i
		case '[':
			i += max(0, marker(s[i:])-1)
		}
	}
	return -1
}

// slashInPassword returns the offset of the @ behind a password that contains a slash, which
// should have been written %2F. It returns -1 where the text from i to the slash is a port or a
// placeholder.
func slashInPassword(s string, i, slash int) int {
	first := s[i:slash]
	if first == "" || slash == len(s) || strings.IndexByte("/?#", s[slash]) < 0 || strings.EqualFold(first, "port") ||
		templateBegins(first) || strings.ContainsAny(first, ",;()[]{}*") ||
		span(first, 0, digit) == len(first) {
		return -1
	}
	// Behind the slash an @ must follow, and a host behind it; // would begin another URL.
	near := s[slash:min(len(s), slash+urlSearchMax)]
	near = near[:span(near, 0, urlByte)]
	at := strings.IndexByte(near, '@')
	if at < 0 || strings.Contains(near[:at], "//") || at+1 == len(near) || !alnum(near[at+1]) {
		return -1
	}
	return slash + at
}

// basic returns the credential behind the word Basic at i, if it is base64 of user:password.
// Words of sentences decode to unprintable bytes.
func basic(s string, i int) (from, to int) {
	const name = "basic "
	if len(s)-i <= len(name) || !strings.EqualFold(s[i:i+len(name)], name) {
		return 0, 0
	}
	from = span(s, i+len(name), blank)
	to = span(s, from, func(c byte) bool { return base64Byte(c) || c == '-' || c == '_' })
	// Accept both alphabets of base64; a prefix is enough to see whether it is readable.
	near := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(s[from:min(to, from+classifiedMax)], "="))
	plain, err := base64.RawStdEncoding.DecodeString(near)
	if err != nil || len(near) < 6 || !strings.Contains(string(plain), ":") || !readable(string(plain)) {
		return 0, 0
	}
	return from, to
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
