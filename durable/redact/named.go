package redact

import "strings"

// secretWords end the name of a secret; keyWords do with "key" behind them.
var (
	secretWords = map[string]bool{"password": true, "passwords": true, "passwd": true, "passphrase": true, "pwd": true, "secret": true, "secrets": true,
		"token": true, "apikey": true, "apikeys": true, "credential": true, "credentials": true, "authorization": true, "secretkey": true,
		"accesskey": true, "privatekey": true, "passcode": true}
	keyWords = map[string]bool{"api": true, "access": true, "private": true, "secret": true, "signing": true, "encryption": true, "auth": true,
		"master": true, "account": true, "session": true, "client": true}
	// joined are the words that names without case or hyphen end with.
	joined = []string{"password", "passwd", "passphrase", "secret", "apikey", "secretkey", "accesskey", "privatekey", "accesstoken", "authtoken",
		"apitoken", "refreshtoken", "bearertoken", "sessiontoken", "idtoken", "bottoken"}
)

// SecretName reports whether what stands under a name is a secret by that name alone:
// password, apiToken, DB_PASSWORD, x-api-key. A name that only speaks of one is none:
// tokenCount, passwordPolicy, max_tokens; nor is one that something was taken out of.
func SecretName(name string) bool {
	if strings.Contains(name, markerStart) {
		return false
	}
	last, before := lastWords(name)
	if secretWords[last] || (last == "key" || last == "keys") && keyWords[before] {
		return true
	}
	for _, end := range joined {
		if strings.HasSuffix(last, end) {
			return true
		}
	}
	return false
}

// lastWords are the last two words of a name in small letters, wherever it is parted:
// at a case, a hyphen, a dot or a space.
func lastWords(name string) (last, before string) {
	last, rest := lastWord(name)
	before, _ = lastWord(rest)
	return last, before
}

func lastWord(name string) (lower, rest string) {
	end := len(name)
	for end > 0 && !alnum(name[end-1]) {
		end--
	}
	start := end
	for start > 0 && alnum(name[start-1]) {
		start--
		// apiToken parts before the T, and so does HTTPToken.
		if start > 0 && upper(name[start]) && (!upper(name[start-1]) || start+1 < end && name[start+1] >= 'a' && name[start+1] <= 'z') {
			break
		}
	}
	return strings.ToLower(name[start:end]), name[:start]
}

// nameMax bounds how far back a name is looked for.
const nameMax = 64

// named is the value that follows the colon or equals sign at i, where a secret's name
// stands before it; from is to where there is nothing to take out.
func (sc *scanner) named(i int) (from, to int) {
	s := sc.text
	name, begins, quoted := sc.nameBefore(i)
	if name == "" || !SecretName(name) {
		return 0, 0
	}
	from = i + 1
	switch {
	case s[i] == '=' && from < len(s) && s[from] == '=', s[i] == ':' && from < len(s) && s[from] == ':':
		return 0, 0 // a comparison, or a path of names
	case from < len(s) && (s[i] == '=' && s[from] == '>' || s[i] == ':' && s[from] == '='):
		from++
	}
	gap := from
	for from < len(s) && (s[from] == ' ' || s[from] == '\t' || s[from] == '*' || s[from] == '`' || quoted && (s[from] == '\n' || s[from] == '\r')) {
		from++
	}
	if from = scheme(s, from); from == len(s) {
		return 0, 0
	}
	if open := opening(s, from); open > 0 {
		return sc.quoted(from, open)
	}
	return sc.bare(from, bareness{equals: s[i] == '=', spaced: from > gap, begins: begins, quoted: quoted})
}

// nameBefore is the name that ends before i, in quotes or not; begins says that nothing
// but marks of lists stands before it on its line. "api key" is a name of two words.
func (sc *scanner) nameBefore(i int) (name string, begins, quoted bool) {
	s, floor := sc.text, max(0, i-2*nameMax)
	end := i
	for end > floor && (s[end-1] == ' ' || s[end-1] == '*' || s[end-1] == '`') && i-end < 4 {
		end--
	}
	for end > floor && (s[end-1] == '"' || s[end-1] == '\'' || s[end-1] == '\\') && i-end < 8 {
		end, quoted = end-1, true
	}
	start := end
	for start > floor && dotted(s[start-1]) && end-start < nameMax {
		start--
	}
	if strings.EqualFold(s[start:end], "key") && start > floor && s[start-1] == ' ' {
		for start--; start > floor && alnum(s[start-1]); {
			start--
		}
	}
	at := start
	for at > 0 && start-at < 8 && strings.IndexByte(" \t-*#>\"'`\\{,", s[at-1]) >= 0 {
		at--
	}
	return s[start:end], at == 0 || s[at-1] == '\n', quoted
}

// scheme passes over the word that says how a credential is presented.
func scheme(s string, i int) int {
	for _, w := range []string{"Bearer ", "Basic ", "Token ", "Digest "} {
		if len(s)-i > len(w) && strings.EqualFold(s[i:i+len(w)], w) {
			return span(s, i+len(w), func(c byte) bool { return c == ' ' })
		}
	}
	return i
}

// opening is the length of the quote at i, with the backslashes that it has inside of
// another text; 0 where there is none.
func opening(s string, i int) int {
	n := 0
	for n < 3 && i+n < len(s) && s[i+n] == '\\' {
		n++
	}
	if i+n < len(s) && (s[i+n] == '"' || s[i+n] == '\'') {
		return n + 1
	}
	return 0
}

// quoted takes all that stands in quotes. Without a closing one it is the line.
func (sc *scanner) quoted(i, open int) (from, to int) {
	s, quote := sc.text, sc.text[i:i+open]
	from = i + open
	to = from
	for {
		n := strings.IndexAny(s[to:], quote[open-1:]+"\n")
		if n < 0 {
			to = len(s)
			break
		}
		if to += n; s[to] == '\n' {
			break
		}
		slashes := 0
		for to-slashes > from && s[to-slashes-1] == '\\' {
			slashes++
		}
		if slashes == open-1 || open > 1 && slashes < open-1 || slashes%2 == 0 && open == 1 {
			to -= slashes * min(1, open-1)
			break
		}
		to++
	}
	if in := s[from:to]; in == "" || strings.Contains(in, markerStart) || placeholder(in) {
		return 0, 0
	}
	return from, to
}

// bareness is what is known of a value without quotes.
type bareness struct {
	equals bool // name=value, not name: value
	spaced bool // there is a space before it
	begins bool // the name begins its line
	quoted bool // the name is in quotes: this is JSON or YAML
}

// stops end a value without quotes.
func bareByte(c byte) bool {
	return c > ' ' && c != '"' && c != '\'' && c != '`' && c != '<' && c != '>' && c != 0x7f
}

// bare takes a value up to white space. Behind a colon it has to look like one: people
// write "the token: is sent", and the word is none.
func (sc *scanner) bare(from int, b bareness) (_, to int) {
	s := sc.text
	if from < sc.valueDead || opens(s[from:]) {
		return 0, 0
	}
	for to = from; to < len(s) && bareByte(s[to]); to++ {
		if s[to] == '[' && marker(s[to:]) > 0 {
			sc.valueDead = to
			return 0, 0
		}
		if s[to] == '&' && parameter(s[to+1:]) {
			break
		}
	}
	for to > from && strings.IndexByte(".,;:!?)]}\\", s[to-1]) >= 0 {
		to--
	}
	v := s[from:to]
	switch {
	case v == "" || nothing[strings.ToLower(v)] || placeholder(v) || isDigest(v):
		return 0, 0
	case b.equals && b.spaced && called(v):
		return 0, 0
	case b.equals, telling(v), b.begins && lineEnds(s, to) && !strings.ContainsAny(v, "/("):
		return from, to
	}
	return 0, 0
}

// telling reports what words do not have: digits, capitals inside, signs that do not
// stand in sentences.
func telling(v string) bool {
	return len(v) >= 3 && (strings.ContainsAny(v, "0123456789!@#$%^&*+=_~|:;?[]{}") || innerUpper(v))
}

// lineEnds reports that nothing but closing marks follows on the line.
func lineEnds(s string, i int) bool {
	for ; i < len(s) && s[i] != '\n'; i++ {
		if strings.IndexByte(" \t\r.,;:!?)]}*`\\", s[i]) < 0 || marker(s[i:]) > 0 {
			return false
		}
	}
	return true
}

// parameter reports the beginning of name=, as behind the & of a query.
func parameter(s string) bool {
	n := span(s[:min(len(s), nameMax)], 0, dotted)
	return n > 0 && n < len(s) && s[n] == '='
}

// called reports the call of a function: code says where a secret comes from.
func called(v string) bool {
	n := span(v, 0, func(c byte) bool { return word(c) || c == '.' })
	return n > 0 && n < len(v) && v[n] == '('
}

// nothing lists the words that stand where a value is told about, not given.
var nothing = map[string]bool{"required": true, "optional": true, "missing": true, "none": true, "null": true, "nil": true, "true": true,
	"false": true, "empty": true, "string": true, "unknown": true, "invalid": true, "expired": true, "hidden": true, "set": true, "unset": true,
	"yes": true, "no": true, "ok": true, "undefined": true, "await": true, "redacted": true, "default": true, "valid": true, "todo": true, "tbd": true}

// opens reports what stands for a value that is filled in elsewhere, by its beginning.
func opens(v string) bool {
	return strings.HasPrefix(v, "${") || strings.HasPrefix(v, "$(") || strings.HasPrefix(v, "{{") || strings.HasPrefix(v, "***")
}

// placeholder reports such a value, or the name of a variable.
func placeholder(v string) bool {
	if opens(v) {
		return true
	}
	if strings.HasPrefix(v, "<") && strings.IndexByte(v, '>') == len(v)-1 {
		return true
	}
	return strings.HasPrefix(v, "$") && len(v) > 1 && span(v, 1, func(c byte) bool { return upper(c) || c == '_' }) == len(v)
}

func isDigest(v string) bool {
	hex, ok := strings.CutPrefix(v, "sha256:")
	return ok && len(hex) == 64 && span(hex, 0, func(c byte) bool { return digit(c) || c >= 'a' && c <= 'f' }) == 64
}
