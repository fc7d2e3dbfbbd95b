package redact

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/pattern"
)

// form is one form of token: a prefix at the start of a word, and bytes of an alphabet behind it.
type form struct {
	prefix   string
	rule     Rule
	alphabet *class
	// least and most bound the bytes behind the prefix. A most of 0 is no bound; otherwise no word
	// may continue behind the token: a longer run is another identifier.
	least, most int
	// key requires that the bytes look like a key (see keyLike).
	key bool
}

// forms lists the forms of tokens. A token is replaced under the rule of its form, also where it
// is the value of a secret name.
var forms = []form{
	{prefix: "sk-", rule: SecretKey, alphabet: dashed, least: 6, key: true},
	{prefix: "cred_", rule: Credential, alphabet: dashed, least: 6, key: true},
	{prefix: "AKIA", rule: AWSKey, alphabet: upperDigit, least: 16, most: 16},
	{prefix: "ASIA", rule: AWSKey, alphabet: upperDigit, least: 16, most: 16},
	{prefix: "AIza", rule: GoogleKey, alphabet: dashed, least: 10},
	{prefix: "xoxb-", rule: SlackToken, alphabet: dashed, least: 4},
	{prefix: "xoxa-", rule: SlackToken, alphabet: dashed, least: 4},
	{prefix: "xoxp-", rule: SlackToken, alphabet: dashed, least: 4},
	{prefix: "xoxr-", rule: SlackToken, alphabet: dashed, least: 4},
	{prefix: "xoxs-", rule: SlackToken, alphabet: dashed, least: 4},
	{prefix: "ghp_", rule: GitHubToken, alphabet: word, least: 6},
	{prefix: "gho_", rule: GitHubToken, alphabet: word, least: 6},
	{prefix: "ghu_", rule: GitHubToken, alphabet: word, least: 6},
	{prefix: "ghs_", rule: GitHubToken, alphabet: word, least: 6},
	{prefix: "ghr_", rule: GitHubToken, alphabet: word, least: 6},
	{prefix: "github_pat_", rule: GitHubToken, alphabet: word, least: 6},
	{prefix: "st.v1.", rule: WaybillToken, alphabet: dotted, least: 6},
	{prefix: "ack.v1.", rule: WaybillToken, alphabet: dotted, least: 6},
	{prefix: "chk.v1.", rule: WaybillToken, alphabet: dotted, least: 6},
	{prefix: "wbk_", rule: WaybillToken, alphabet: base32Lower, least: 32},
}

// formsByByte holds the forms by the first byte of their prefix.
var formsByByte = func() (t [256][]form) {
	for _, f := range forms {
		t[f.prefix[0]] = append(t[f.prefix[0]], f)
	}
	return t
}()

// formAt returns the form of the token at i, and where the token ends: 0 where there is none.
func formAt(s string, i int) (f form, to int) {
	for _, f := range formsByByte[s[i]] {
		if strings.HasPrefix(s[i:], f.prefix) {
			if to := f.end(s, i); to > 0 {
				return f, to
			}
		}
	}
	return form{}, 0
}

// isToken reports a token of one of the forms at i.
func isToken(s string, i int) bool {
	_, to := formAt(s, i)
	return to > 0
}

// end returns where the token at from ends, 0 where it is none. A dot at the end of a sentence is
// not part of it.
func (f form) end(s string, from int) int {
	i := from + len(f.prefix)
	if f.key && !keyLike(s, from, i) {
		return 0
	}
	to := span(s, i, f.alphabet)
	if f.most > 0 && (to-i > f.most || to < len(s) && word[s[to]]) {
		return 0
	}
	if to = trimDots(s, i, to); to-i < f.least {
		return 0
	}
	return to
}

// trimDots returns where s[from:to] ends without dots at its end.
func trimDots(s string, from, to int) int { return from + len(strings.TrimRight(s[from:to], ".")) }

// classifiedMax bounds how many bytes of a token are classified: enough for all real tokens, and
// a bound for hostile text.
const classifiedMax = 256

// issuer is the word that providers put between the prefix and the key itself.
var issuer = pattern.New(`^(?:(?:proj|ant|svcacct|admin|or)-|(?:live|test)[_-])`)

// keyLike reports whether the run at i, behind the prefix of the token at from, is a key. Hyphens
// occur in keys and between words, so a sequence of short words is not a key (sk-learn-contrib),
// nor is a single word in a path or before a parenthesis.
func keyLike(s string, from, i int) bool {
	to := span(s[:min(len(s), i+classifiedMax)], i, dashed) // the token itself may be longer
	near := s[i:to]
	// A capital, many digits or an issuer's word show that the text is random, not words.
	if strings.ContainsAny(near, capitals) || strongRun(near) || issuer.MatchString(near) {
		return true
	}
	inPath := from > 0 && (s[from-1] == '/' || s[from-1] == '\\') ||
		to < len(s) && (s[to] == '/' || s[to] == '\\' || s[to] == '(')
	return !inPath && span(near, 0, alnum) >= 6
}

// strongRun reports a text that is not made of words: it has five digits, or a run of six letters
// and digits with at least one digit.
func strongRun(s string) bool {
	digits, run, inRun := 0, 0, 0 // digits in all; length of the run, and digits in it
	for i := range len(s) {
		switch {
		case digit[s[i]]:
			digits, run, inRun = digits+1, run+1, inRun+1
		case letter[s[i]]:
			run++
		default:
			run, inRun = 0, 0
		}
		if run >= 6 && inRun > 0 || digits >= 5 {
			return true
		}
	}
	return false
}

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
			return max(two+1, trimDots(s, two, span(s, two, dotted))) // the signature may be empty
		}
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

// Both alphabets of base64, and the replacer from one to the other.
var (
	anyBase64 = classOf(letters + digits + "+/=-_")
	toBase64  = strings.NewReplacer("-", "+", "_", "/")
)

// basic returns the credential behind the word Basic at i, if it is base64 of user:password.
// Words of sentences decode to unprintable bytes.
func basic(s string, i int) (from, to int) {
	const name = "basic "
	if !hasFold(s[i:], name) {
		return 0, 0
	}
	from = span(s, i+len(name), blank)
	to = span(s, from, anyBase64)
	// The beginning is enough to see whether it is readable.
	near := toBase64.Replace(strings.TrimRight(s[from:min(to, from+classifiedMax)], "="))
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
