package redact

import (
	"strings"

	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/redact/forms"
	"github.com/waybill/waybill/durable/redact/words"
)

// Sentences that state a secret: "the password for root is hunter2". A value is taken if it is
// quoted, if it looks like no word, or if it is the last word of the sentence and no ordinary one:
// "the password is wrong" states none.

// sentenceMax bounds how much of the text the subject and the verb of a sentence have.
const sentenceMax = 160

// statement matches a noun that names secrets, what the secret is for, and a verb.
var statement = pattern.New(`^(?i:(?:(password|passphrase|passcode|passwd)|(?:api|access|secret|secret access)[ _-]?key|` +
	`(?:(?:api|access|client|bearer|auth|refresh)[ _-])?(?:token|secret)|credential)s?` +
	`(?:[ \t]+(?:for|of|to|on|in|at|from)(?:[ \t]+[^ \t\r\n:;.!?"=]+(?:\.[a-z0-9][^ \t\r\n:;.!?"=]*)*){1,6}?)?` +
	`[ \t]+(is|was|are|were|will be|becomes|should be|has been changed to|changed to|set to|to)` +
	`(?:[ \t]+(?:now|currently|still|simply|just|again|actually|always|set to|changed to))*:?[ \t]+)`)

// sentence schedules the secret that a sentence beginning at i states.
func (sc *scanner) sentence(i int) {
	s := sc.text
	if !namesSecretAt(s, i) {
		return
	}
	near := s[i:min(len(s), i+sentenceMax)]
	countReads(len(near))
	var m []string
	if words.HasVerb(near) {
		m = statement.FindStringSubmatch(near)
	}
	if m == nil {
		colon := strings.IndexByte(near, ':') >= 0
		if near[0]|' ' == 'p' && (colon || strings.Contains(near, "->") || strings.Contains(near, "→") || near[4]|' ' != 'w') {
			if m := labeled.FindString(near); m != "" {
				sc.label(i+len(m), 0)
				return
			}
		}
		if colon && near[0]|' ' != 'p' {
			if m := labeledKey.FindString(near); m != "" {
				sc.label(i+len(m), keyMin)
				return
			}
		}
		sc.apposition(i, near)
		return
	}
	from, password := i+len(m[0]), m[1] != ""
	for from < len(s) && s[from] == '*' { // emphasis
		from++
	}
	from += len(markup.FindString(s[from:min(len(s), from+escapeMax)]))
	if to, open := words.QuotedWord(s, from); to > 0 {
		v := s[from+open : to]
		if !words.Ordinary(v) && !words.NonValue(v) && !strings.ContainsAny(v, "()[]{}") && (password || strings.Trim(v, capitals) != "") && !strings.Contains(v, markerStart) && (password || !strings.Contains(v, " ")) {
			sc.schedule(from+open, to, NamedSecret)
		}
		return
	}
	to := sc.bareEnd(from)
	if to <= from || to-from > classifiedMax {
		return
	}
	v := s[from:to]
	rest := s[to:min(len(s), to+nameMax)]
	switch {
	case words.NonValue(v), words.IsCount(s, to, v), SecretName(v), strings.Contains(v, "://"), strings.ContainsAny(v, "()<>"):
	case words.Stated(v), password && len(v) >= 6 && !words.Ordinary(v) && !words.NotStated.MatchString(v) && sentenceEnds.MatchString(rest):
		sc.schedule(from, sc.whole(from, to), NamedSecret)
	}
}

// labeled matches a noun that names secrets, what the secret is for, and a colon or an arrow; and
// the same in other languages, with a verb.
var labeled = pattern.New(`^(?i:(?:password|passphrase|passcode|passwd)(?:[ \t]+(?:for|of|to|on|in|at)(?:[ \t]+[^ \t\r\n:"=]{1,40}){1,6}?` +
	`|[ \t]*\([^()\n:=]{1,40}\))?[ \t]*(?::|->|→)[ \t]+|(?:passwort|passe)[ \t]*(?::|lautet|ist|est)[ \t]+)`)

// labeledKey matches a noun that names keys, what the key is for, and a colon.
var labeledKey = pattern.New(`^(?i:(?:(?:api|access|secret|auth)[ _-]?)?(?:key|token|secret)` +
	`[ \t]+(?:for|of|to|on)(?:[ \t]+[^ \t\r\n:="]{1,40}){1,5}?[ \t]*:[ \t]+)`)

// keyMin is the shortest key behind such a label.
const keyMin = 16

// label schedules a secret behind a label, which must be unlike a word, and no shorter than least.
func (sc *scanner) label(from, least int) {
	s := sc.text
	to, open := words.QuotedWord(s, from)
	if to == 0 {
		to = sc.bareEnd(from)
	}
	if from += open; to <= from || to-from > classifiedMax || to-from < least {
		return
	}
	if v := s[from:to]; words.Stated(v) && v[0] != '!' && !words.NonValue(v) && !words.IsCount(s, to, v) && !strings.ContainsAny(v, "()<>/") &&
		!strings.Contains(v, markerStart) {
		sc.schedule(from, to, NamedSecret)
	}
}

// noun matches a noun that names secrets, or a clause of SQL, directly before the secret.
var noun = pattern.New(`^(?i:password|passphrase|passcode|token|identified by|(?:api|access|secret)[ _-]?key)[ \t]+`)

// apposition schedules a secret that follows its noun: the token a1B2…, PASSWORD 'x1'.
func (sc *scanner) apposition(i int, near string) {
	s := sc.text
	m := noun.FindString(near)
	if m == "" {
		return
	}
	from := i + len(m)
	if to, open := words.QuotedWord(s, from); to > 0 {
		if v := s[from+open : to]; len(v) >= 8 && (words.Stated(v) || open == 1 && innerUpper(v) && strings.HasPrefix(m, "PASSWORD")) && !strings.ContainsAny(v, " []") {
			sc.schedule(from+open, to, NamedSecret)
		}
		return
	}
	if v := s[from:max(from, min(sc.bareEnd(from), from+classifiedMax))]; strings.HasPrefix(strings.ToLower(m), "password") && len(v) >= 8 &&
		words.Stated(v) && forms.Mixed.Match(v) && !strings.ContainsAny(v, "-_./()<>[]{}:;,") {
		sc.schedule(from, from+len(v), NamedSecret)
		return
	}
	if to := span(s, from, dashed); to-from >= 20 && forms.Mixed.Match(s[from:to]) && keyPiece(s[from:to]) && endsPiece(s, to) {
		sc.schedule(from, to, NamedSecret)
	}
}

// namesSecretAt reports a word with which statement may begin, and that another one follows, without a
// regular expression.
func namesSecretAt(s string, i int) bool {
	for _, w := range words.SecretNouns[s[i]&0x1f] {
		if hasFold(s[i:], w) {
			end := i + len(w)
			if s[end] == 's' {
				end++
			}
			return end < len(s) && strings.IndexByte(" \t_-:(", s[end]) >= 0
		}
	}
	return false
}

// sentenceEnds matches the end of a sentence behind a word.
var sentenceEnds = pattern.New(`^[.!]?["')\]*]*(?:[ \t]*(?:\r*\n|$)|[.!]?[ \t]+[A-Z])`)
