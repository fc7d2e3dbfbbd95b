package redact

import "strings"

// family is one form of token: its fixed prefix, and a function that finds its end. end gets the
// offset of the token and that behind its prefix, and returns 0 where no token follows.
type family struct {
	start string
	rule  Rule
	end   func(s string, from, i int) int
}

// families lists those forms by their first byte.
var families = [256][]family{
	's': {{"sk-", SecretKey, prefixedKey}, {"st.v1.", WaybillToken, waybillToken}},
	'A': {{"AKIA", AWSKey, awsKey}, {"ASIA", AWSKey, awsKey}, {"AIza", GoogleKey, atLeast(10, dashed)}},
	'x': {{"xoxb-", SlackToken, slack}, {"xoxa-", SlackToken, slack}, {"xoxp-", SlackToken, slack},
		{"xoxr-", SlackToken, slack}, {"xoxs-", SlackToken, slack}},
	'g': {{"ghp_", GitHubToken, gitHub}, {"gho_", GitHubToken, gitHub}, {"ghu_", GitHubToken, gitHub},
		{"ghs_", GitHubToken, gitHub}, {"ghr_", GitHubToken, gitHub},
		{"github_pat_", GitHubToken, atLeast(6, word)}},
	'c': {{"cred_", Credential, prefixedKey}, {"chk.v1.", WaybillToken, waybillToken}},
	'a': {{"ack.v1.", WaybillToken, waybillToken}},
}

// The ends of tokens that several prefixes share.
var (
	slack  = atLeast(4, dashed)
	gitHub = atLeast(6, word)
)

// ofFamily reports a token of a family at i. Such a token is replaced under its own rule, also
// where it is the value of a secret name.
func ofFamily(s string, i int) bool {
	for _, f := range families[s[i]] {
		if strings.HasPrefix(s[i:], f.start) && f.end(s, i, i+len(f.start)) > 0 {
			return true
		}
	}
	return false
}

// atLeast returns an end function for a run of at least n bytes of a class.
func atLeast(n int, is func(byte) bool) func(string, int, int) int {
	return func(s string, _, i int) int {
		if to := span(s, i, is); to-i >= n {
			return to
		}
		return 0
	}
}

// waybillToken is the end function of Waybill tokens; the dot at the end of a sentence is not
// part of one.
func waybillToken(s string, _, i int) int {
	to := span(s, i, dotted)
	for to > i && s[to-1] == '.' {
		to--
	}
	if to-i < 6 {
		return 0
	}
	return to
}

// awsKey is the end function of AWS keys: exactly 16 capitals and digits, not followed by a word.
func awsKey(s string, _, i int) int {
	to := span(s, i, func(c byte) bool { return upper(c) || digit(c) })
	// A longer run, or one that continues in lower case, is another identifier.
	if to-i != 16 || to < len(s) && word(s[to]) {
		return 0
	}
	return to
}

// issuers are the words that providers put between sk- and the key itself.
var issuers = []string{"proj-", "ant-", "svcacct-", "admin-", "or-", "live_", "live-", "test_", "test-"}

// classifiedMax bounds how many bytes of a token are classified: enough for all real tokens, and
// a bound for hostile text.
const classifiedMax = 256

// prefixedKey is the end function of sk- and cred_: at least six characters of a key. Hyphens
// occur in keys and between words, so a sequence of short words is not a key (sk-learn-contrib),
// nor is a single word in a path or before a parenthesis.
func prefixedKey(s string, from, i int) int {
	// Only the beginning is classified; the token itself may be longer.
	near := s[i:min(len(s), i+classifiedMax)]
	near = near[:span(near, 0, dashed)]
	if len(near) < 6 {
		return 0
	}
	first := span(near, 0, alnum)
	// A capital, many digits or an issuer's prefix show that the text is random, not words.
	random := strings.ContainsAny(near, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") || strongRun(near)
	for _, issuer := range issuers {
		random = random || strings.HasPrefix(near, issuer)
	}
	if !random && (first < 6 || inPath(s, from, i+len(near))) {
		return 0
	}
	return span(s, i, dashed)
}

// strongRun reports a text that is not made of words: it has five digits, or a run of six letters
// and digits with at least one digit.
func strongRun(s string) bool {
	digits, run, inRun := 0, 0, 0 // digits in all; length of the run, and digits in it
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

// inPath reports a word that is part of a path, or the name of a function that is called.
func inPath(s string, from, to int) bool {
	before := from > 0 && (s[from-1] == '/' || s[from-1] == '\\')
	return before || to < len(s) && (s[to] == '/' || s[to] == '\\' || s[to] == '(')
}

// jwt returns the end of the JWT at i, 0 where there is none: a part of base64url that decodes to
// text beginning with {", and two more parts.
func (sc *scanner) jwt(i int) int {
	s := sc.text
	if i < sc.noJWTBefore || !strings.HasPrefix(s[i:], "eyJ") {
		return 0
	}
	one := span(s, i, dashed)
	// The shortest header and payload are longer than these bounds.
	if one-i >= 8 && one < len(s) && s[one] == '.' {
		if two := span(s, one+1, dashed); two-one > 5 && two < len(s) && s[two] == '.' {
			to := span(s, two, dotted)
			for to > two+1 && s[to-1] == '.' {
				to-- // the end of a sentence
			}
			return to
		}
	}
	sc.noJWTBefore = one // later starts in the same run end at the same byte, and fail as well
	return 0
}

// bearer returns the credential behind the word Bearer at i, unless it readCount like a word.
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
	near := s[from:min(len(s), from+classifiedMax)]
	near = strings.TrimRight(near[:span(near, 0, bearerByte)], ".")
	// A credential is long, or has a digit or an inner capital; a path is neither.
	if len(near) < 6 || !(len(near) >= 20 && !strings.Contains(near, "/") || strings.ContainsAny(near, "0123456789") ||
		innerUpper(near)) {
		return 0, 0
	}
	if to = span(s, from, bearerByte); marker(s[to:]) > 0 {
		return 0, 0 // it was replaced before
	}
	for s[to-1] == '.' {
		to--
	}
	return from, to
}

// innerUpper reports a text that has small letters, and a capital behind its first letter. Words
// and all-capital headings do not.
func innerUpper(s string) bool {
	capitals, small := false, false
	for i := range len(s) {
		capitals = capitals || i > 0 && upper(s[i])
		small = small || s[i] >= 'a' && s[i] <= 'z'
	}
	return capitals && small
}

// The lines around a PEM block.
const (
	pemBegin  = "-----BEGIN "
	pemEnd    = "-----END "
	pemDashes = "-----"
	pemLine   = 64 // the longest label, and what one line of base64 holds
)

// pem returns the end of the private key whose first line begins at i, 0 where there is none. A
// key without its last line ends where base64 ends; without base64, the line is a sentence about
// keys. A block that contains a marker is not a key, so that a redacted text stays unchanged.
func pem(s string, i int) int {
	label := s[i+len(pemBegin) : min(len(s), i+len(pemBegin)+pemLine)]
	// Certificates and public keys have the same frame, and are not secret.
	name, _, whole := strings.Cut(label, pemDashes)
	if !whole || !strings.HasSuffix(name, "PRIVATE KEY") && !strings.HasSuffix(name, "PRIVATE KEY BLOCK") {
		return 0
	}
	body := i + len(pemBegin) + len(name) + len(pemDashes)
	if at := strings.Index(s[body:], pemDashes); at >= 0 {
		countReads(at)
		inner, end := s[body:body+at], pemEnd+name+pemDashes
		if strings.HasPrefix(s[body+at:], end) && !strings.Contains(inner, markerStart) && hasKeyBody(inner) {
			return body + at + len(end)
		}
		return cutPEM(s[:body+at], body) // the dashes belong to something else
	}
	countReads(len(s) - body)
	return cutPEM(s, body)
}

// hasKeyBody reports whether inner is the body of a key: it has a long run of base64, or a line
// of only base64. Sentences about keys have neither.
func hasKeyBody(inner string) bool {
	for i := 0; i < len(inner); i++ {
		end := span(inner, i, base64Byte)
		if end-i >= 16 {
			return true
		}
		i = end
	}
	// A key inside a JSON string or a source file has escaped line ends.
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

// cutPEM returns where the lines of base64 that begin at i end; 0 where there are none.
func cutPEM(s string, i int) (to int) {
	for {
		// Lines are separated by real or escaped line ends, and may be indented.
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
			// The last line of a truncated key may be short.
			if to > 0 && end > at {
				return end
			}
			return to
		}
		i, to = end, end
	}
}
