package redact

import (
	"strings"

	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/redact/words"
)

// classifiedMax bounds how many bytes of a token are classified: enough for all real tokens, and
// a bound for hostile text.
const classifiedMax = 256

// keyMax bounds how many bytes show that a run is a key.
const keyMax = 96

// issuer is the word that providers put between the prefix and the key itself.
var issuer = pattern.New(`^(?:(?:proj|ant|svcacct|admin|or)-|(?:live|test)[_-])`)

// sshType matches the beginning of the type of a public key that lives in a security key, which begins as keys of
// providers do. A redacted one would be none of the signers of a store. A dump of bytes may end in the middle of it.
var sshType = pattern.New(`^sk-(?:(?:ssh-ed25519|ecdsa-sha2-nistp256)(?:-cert-v01)?(?:@|[^\w-]|$)|ssh-ed[25]{0,3}1?\|)`)

// keyLike reports whether the run at i, behind the prefix of the token at from, is a key. Hyphens
// occur in keys and between words, so a sequence of short words is not a key (sk-learn-contrib),
// nor is a single word in a path or before a parenthesis.
func keyLike(s string, from, i int) bool {
	if sshType.MatchString(s[from:min(len(s), from+keyMax)]) {
		return false
	}
	to := span(s[:min(len(s), i+keyMax)], i, dashed) // the token itself may be longer
	near := s[i:to]
	// A capital, many digits or an issuer's word show that the text is random, not words.
	if strings.ContainsAny(near, capitals) || words.StrongRun(near) || issuer.MatchString(near) {
		return true
	}
	inPath := from > 0 && (s[from-1] == '/' || s[from-1] == '\\') ||
		to < len(s) && (s[to] == '/' || s[to] == '\\' || s[to] == '(')
	return !inPath && span(near, 0, alnum) >= 6
}
