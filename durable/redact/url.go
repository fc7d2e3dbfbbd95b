package redact

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"
)

// urlLooked bounds how far an @ is looked for behind a slash.
const urlLooked = 128

// urlByte is what goes on in a URL in the middle of a text.
func urlByte(c byte) bool {
	return c > ' ' && c != 0x7f && strings.IndexByte("\"'`<>\\", c) < 0
}

// url notes the password of user:password@host behind the :// that ends before i. A user
// alone is no secret, and what follows the host's colon is a port.
func (sc *scanner) url(i int) {
	s := sc.text
	end := span(s, i, func(c byte) bool { return urlByte(c) && c != '/' && c != '?' && c != '#' })
	at := strings.LastIndexByte(s[i:end], '@')
	colon := userEnds(s[i:end])
	switch {
	case colon < 0 || at >= 0 && colon > at:
		return
	case at < 0:
		if at = slashed(s, i+colon+1, end); at < 0 {
			return
		}
		at -= i
	}
	password := s[i+colon+1 : i+at]
	if password == "" || strings.Contains(password, markerStart) || placeholder(password) {
		return
	}
	sc.later(i+colon+1, i+at, URLPassword)
}

// userEnds is where the first colon stands that is none of a marker's; -1 without one.
func userEnds(s string) int {
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

// slashed is where the @ behind a password stands that has a slash in it, which should
// have been written %2F; -1 where what begins at i and goes to the slash is a port.
func slashed(s string, i, slash int) int {
	first := s[i:slash]
	if first == "" || slash == len(s) || strings.IndexByte("/?#", s[slash]) < 0 || strings.EqualFold(first, "port") ||
		opens(first) || strings.ContainsAny(first, ",;()[]{}*") ||
		span(first, 0, digit) == len(first) {
		return -1
	}
	near := s[slash:min(len(s), slash+urlLooked)]
	near = near[:span(near, 0, urlByte)]
	at := strings.IndexByte(near, '@')
	if at < 0 || strings.Contains(near[:at], "//") || at+1 == len(near) || !alnum(near[at+1]) {
		return -1
	}
	return slash + at
}

// basic is what follows the word Basic where it is base64 of user:password. Words of
// sentences decode to noise.
func basic(s string, i int) (from, to int) {
	const name = "basic "
	if len(s)-i <= len(name) || !strings.EqualFold(s[i:i+len(name)], name) {
		return 0, 0
	}
	from = span(s, i+len(name), blank)
	to = span(s, from, func(c byte) bool { return base64Byte(c) || c == '-' || c == '_' })
	near := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(s[from:min(to, from+looked)], "="))
	plain, err := base64.RawStdEncoding.DecodeString(near)
	if err != nil || len(near) < 6 || !strings.Contains(string(plain), ":") || !readable(string(plain)) {
		return 0, 0
	}
	return from, to
}

// readable reports text without control characters. What was cut may end in half of one.
func readable(s string) bool {
	for i, r := range s {
		if r == utf8.RuneError && i < len(s)-utf8.UTFMax || r < ' ' || !unicode.IsPrint(r) && r != utf8.RuneError {
			return false
		}
	}
	return !strings.HasPrefix(s, string(utf8.RuneError))
}
