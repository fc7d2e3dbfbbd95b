package redact

import "strings"

// family is one shape of token: how it begins, and where it ends. end is given where the
// token begins and where its start ends, and gives 0 where what follows is no secret.
type family struct {
	start string
	rule  Rule
	end   func(s string, from, i int) int
}

// families are those shapes by their first byte.
var families = [256][]family{
	's': {{"sk-", SecretKey, keyish}, {"st.v1.", WaybillToken, handle}},
	'A': {{"AKIA", AWSKey, awsKey}, {"ASIA", AWSKey, awsKey}, {"AIza", GoogleKey, atLeast(10, dashed)}},
	'x': {{"xoxb-", SlackToken, slack}, {"xoxa-", SlackToken, slack}, {"xoxp-", SlackToken, slack},
		{"xoxr-", SlackToken, slack}, {"xoxs-", SlackToken, slack}},
	'g': {{"ghp_", GitHubToken, gitHub}, {"gho_", GitHubToken, gitHub}, {"ghu_", GitHubToken, gitHub},
		{"ghs_", GitHubToken, gitHub}, {"ghr_", GitHubToken, gitHub},
		{"github_pat_", GitHubToken, atLeast(6, word)}},
	'c': {{"cred_", Credential, keyish}, {"chk.v1.", WaybillToken, handle}},
	'a': {{"ack.v1.", WaybillToken, handle}},
}

var (
	slack  = atLeast(4, dashed)
	gitHub = atLeast(6, word)
)

// ofFamily reports a token of a family at i, which says by itself what it is.
func ofFamily(s string, i int) bool {
	for _, f := range families[s[i]] {
		if strings.HasPrefix(s[i:], f.start) && f.end(s, i, i+len(f.start)) > 0 {
			return true
		}
	}
	return false
}

func atLeast(n int, is func(byte) bool) func(string, int, int) int {
	return func(s string, _, i int) int {
		if to := span(s, i, is); to-i >= n {
			return to
		}
		return 0
	}
}

// handle is the rest of a token of ours, without the end of a sentence.
func handle(s string, _, i int) int {
	to := span(s, i, dotted)
	for to > i && s[to-1] == '.' {
		to--
	}
	if to-i < 6 {
		return 0
	}
	return to
}

// awsKey is exactly 16 capitals and digits, and no word around them.
func awsKey(s string, _, i int) int {
	to := span(s, i, func(c byte) bool { return upper(c) || digit(c) })
	if to-i != 16 || to < len(s) && word(s[to]) {
		return 0
	}
	return to
}

// issuers are the words that providers put between sk- and the key itself.
var issuers = []string{"proj-", "ant-", "svcacct-", "admin-", "or-", "live_", "live-", "test_", "test-"}

// looked is how much of a token decides what it is: enough for any, and a bound for
// text that was made to be looked at again and again.
const looked = 256

// keyish is what follows sk- and cred_: at least six characters that are a key. Hyphens
// belong to keys and to words alike, so what is words all the way, each of them short, is
// passed over (sk-learn-contrib); and so is one word that stands in a path or is called.
func keyish(s string, from, i int) int {
	near := s[i:min(len(s), i+looked)]
	near = near[:span(near, 0, dashed)]
	if len(near) < 6 {
		return 0
	}
	first := span(near, 0, alnum)
	drawn := strings.ContainsAny(near, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") || strongRun(near)
	for _, issuer := range issuers {
		drawn = drawn || strings.HasPrefix(near, issuer)
	}
	if !drawn && (first < 6 || inPath(s, from, i+len(near))) {
		return 0
	}
	return span(s, i, dashed)
}

// strongRun reports five digits in all, or six letters and digits in a row with a digit
// among them: what words do not have.
func strongRun(s string) bool {
	digits, run, inRun := 0, 0, 0
	for i := range len(s) {
		switch {
		case digit(s[i]):
			digits, run, inRun = digits+1, run+1, inRun+1
		case letter(s[i]):
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

// inPath reports a word that is part of a path, or the name of something called.
func inPath(s string, from, to int) bool {
	before := from > 0 && (s[from-1] == '/' || s[from-1] == '\\')
	return before || to < len(s) && (s[to] == '/' || s[to] == '\\' || s[to] == '(')
}

// jwt is two parts or more of base64url behind the first, which spells {" at its start.
func (sc *scanner) jwt(i int) int {
	s := sc.text
	if i < sc.jwtDead || !strings.HasPrefix(s[i:], "eyJ") {
		return 0
	}
	one := span(s, i, dashed)
	if one-i >= 8 && one < len(s) && s[one] == '.' {
		if two := span(s, one+1, dashed); two-one > 5 && two < len(s) && s[two] == '.' {
			to := span(s, two, dotted)
			for to > two+1 && s[to-1] == '.' {
				to-- // the end of a sentence
			}
			return to
		}
	}
	sc.jwtDead = one
	return 0
}

// bearer is what follows the word, where that is no word itself.
func bearer(s string, i int) (from, to int) {
	const name = "bearer"
	if len(s)-i <= len(name) || !strings.EqualFold(s[i:i+len(name)], name) {
		return 0, 0
	}
	from = i + len(name)
	for from < len(s) && (s[from] == ' ' || s[from] == '\t') && from-i < 2*len(name) {
		from++
	}
	if from == i+len(name) {
		return 0, 0
	}
	near := s[from:min(len(s), from+looked)]
	near = strings.TrimRight(near[:span(near, 0, bearing)], ".")
	if len(near) < 6 || !(len(near) >= 20 && !strings.Contains(near, "/") || strings.ContainsAny(near, "0123456789") ||
		innerUpper(near)) {
		return 0, 0
	}
	if to = span(s, from, bearing); marker(s[to:]) > 0 {
		return 0, 0 // what is there was taken out
	}
	for s[to-1] == '.' {
		to--
	}
	return from, to
}

// innerUpper reports a capital behind the first letter, in what is not capitals all
// over: names and headings are written so, words are not.
func innerUpper(s string) bool {
	capitals, small := false, false
	for i := range len(s) {
		capitals = capitals || i > 0 && upper(s[i])
		small = small || s[i] >= 'a' && s[i] <= 'z'
	}
	return capitals && small
}

const (
	pemBegin  = "-----BEGIN "
	pemEnd    = "-----END "
	pemDashes = "-----"
	pemLine   = 64 // the longest label, and what one line of base64 holds
)

// pem is a private key from its first line to its last. One whose end was cut off is
// taken as far as it goes on in base64; without either, it is a line that somebody
// wrote about keys. Nothing that was taken out stands in a key, so what is refused once
// is refused again.
func pem(s string, i int) int {
	label := s[i+len(pemBegin) : min(len(s), i+len(pemBegin)+pemLine)]
	name, _, whole := strings.Cut(label, pemDashes)
	if !whole || !strings.HasSuffix(name, "PRIVATE KEY") && !strings.HasSuffix(name, "PRIVATE KEY BLOCK") {
		return 0
	}
	body := i + len(pemBegin) + len(name) + len(pemDashes)
	if at := strings.Index(s[body:], pemDashes); at >= 0 {
		look(at)
		inner, end := s[body:body+at], pemEnd+name+pemDashes
		if strings.HasPrefix(s[body+at:], end) && !strings.Contains(inner, markerStart) && keyed(inner) {
			return body + at + len(end)
		}
		return cutPEM(s[:body+at], body)
	}
	look(len(s) - body)
	return cutPEM(s, body)
}

// keyed reports what stands in a key between its first line and its last: a long run of
// base64, or a line of nothing else. Sentences about keys have neither.
func keyed(inner string) bool {
	for i := 0; i < len(inner); i++ {
		end := span(inner, i, base64Byte)
		if end-i >= 16 {
			return true
		}
		i = end
	}
	inner = strings.ReplaceAll(inner, `\n`, "\n")
	if !strings.Contains(inner, "\n") {
		return false
	}
	for line := range strings.Lines(inner) {
		line = strings.Trim(line, " \t\r\n>|\"',+;\\")
		if line != "" && span(line, 0, base64Byte) == len(line) {
			return true
		}
	}
	return false
}

// cutPEM is where lines of base64 end that begin at i; 0 where there is none.
func cutPEM(s string, i int) (to int) {
	for {
		at := i
		for at < len(s) && (s[at] == '\n' || s[at] == '\r' || s[at] == ' ' || s[at] == '\\' && at+1 < len(s) &&
			(s[at+1] == 'n' || s[at+1] == 'r')) {
			if s[at] == '\\' {
				at++
			}
			at++
		}
		end := span(s, at, base64Byte)
		if at == i || end-at < 16 {
			// The last line of what was cut may be short.
			if to > 0 && end > at {
				return end
			}
			return to
		}
		i, to = end, end
	}
}
