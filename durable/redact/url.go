package redact

import (
	"strings"

	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/redact/words"
)

// urlSearchMax bounds how many bytes behind a slash are searched for an @.
const urlSearchMax = 128

// authorityByte is the class of the bytes of a URL in a text before its first slash, question mark
// or hash.
var authorityByte = visibleBut("\"'`<>\\/?#")

var (
	// notPassword matches the text behind a colon that is a port, empty, or a placeholder.
	notPassword = pattern.New(`^(?:(?i:port)|[0-9]*)$|[,;()\[\]{}*]`)
	// toHost matches the text from a slash inside a password to the host: // would begin another URL.
	toHost = pattern.New("^(?:/?[^/@\\x00-\\x20\\x7f\"'`<>\\\\])*/?@[A-Za-z0-9]")
)

// exampleUser matches the user and the password that documentation shows.
var exampleUser = pattern.New(`^(?i:user|username|usr|login|admin)[:](?i:pass|password|passwd|pwd|secret)$`)

// url schedules the password of user:password@host behind the :// that ends before i. A user
// without a password is no secret, and the text behind the colon of a host is a port.
func (sc *scanner) url(i int) {
	s := sc.text
	end := span(s, i, authorityByte)
	// The first colon outside of markers, and the last @: the password may contain both.
	colon := i
	for colon < end && s[colon] != ':' {
		colon += max(1, marker(s[colon:end]))
	}
	at := i + strings.LastIndexByte(s[i:end], '@')
	if at < i && colon < end && !notPassword.MatchString(s[colon+1:end]) {
		// The password contains a slash, which should have been written %2F.
		if rest := toHost.FindString(s[end:min(len(s), end+urlSearchMax)]); rest != "" {
			at = end + len(rest) - len("@h")
		}
	}
	if colon >= at {
		return // no password: the colon is that of a port
	}
	// Documentation and configuration templates show placeholders in URLs.
	if password := s[colon+1 : at]; !strings.Contains(password, markerStart) && !words.Placeholder(password) &&
		!exampleUser.MatchString(s[i:at]) {
		sc.schedule(colon+1, at, URLPassword)
	}
}
