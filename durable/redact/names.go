package redact

import "strings"

// secretWords end the name of a secret; keyWords do with "key" behind them, and
// passWords with "pass", which alone is what a test does.
var (
	secretWords = wordSet("password passwords passwd passphrase pwd secret secrets token apikey apikeys credential " +
		"credentials authorization secretkey accesskey privatekey passcode")
	keyWords  = wordSet("api access private secret signing encryption auth master account session client hmac shared")
	passWords = wordSet("db database mysql postgres pg redis smtp mail email admin root user ftp ssh proxy login")
	// plainTokens say what a token is for that opens nothing: a page of a list, or a
	// sign that parts texts.
	plainTokens = wordSet("page cursor cancellation pad eos bos unk sep mask stop")
	// joined are the words that names without case or hyphen end with.
	joined = []string{"password", "passwd", "passphrase", "secret", "apikey", "secretkey", "accesskey", "privatekey",
		"accesstoken", "authtoken",
		"apitoken", "refreshtoken", "bearertoken", "sessiontoken", "idtoken", "bottoken"}
	// pairNames name the member of a pair that says what the other one is, valueNames the other.
	pairNames  = wordSet("name key header variable field parameter")
	valueNames = wordSet("value val")
)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// SecretName reports whether what stands under a name is a secret by that name alone:
// password, apiToken, DB_PASSWORD, x-api-key, token2. A name that only speaks of one is
// none: tokenCount, passwordPolicy, max_tokens; nor is one that something was taken out of.
func SecretName(name string) bool {
	if strings.Contains(name, markerStart) {
		return false
	}
	last, rest := lastWord(name)
	if last = strings.TrimRight(last, "0123456789"); last == "" {
		last, rest = lastWord(rest)
	}
	before, rest := lastWord(rest)
	switch {
	case last == "token" && plainTokens[before], last == "":
		return false
	case last == "base" && before == "key": // SECRET_KEY_BASE
		last = "key"
		before, _ = lastWord(rest)
	}
	if secretWords[last] || (last == "key" || last == "keys") && keyWords[before] || last == "pass" &&
		passWords[before] {
		return true
	}
	for _, end := range joined {
		if strings.HasSuffix(last, end) {
			return true
		}
	}
	return false
}

// lastWord is the last word of a name in small letters, wherever it is parted: at a
// case, a hyphen, a dot or a space; and what stands before it.
func lastWord(name string) (lower, rest string) {
	end := len(name)
	for end > 0 && !alnum(name[end-1]) {
		end--
	}
	start := end
	for start > 0 && alnum(name[start-1]) {
		start--
		// apiToken parts before the T, and so does HTTPToken.
		if start > 0 && upper(name[start]) && (!upper(name[start-1]) || start+1 < end && name[start+1] >= 'a' &&
			name[start+1] <= 'z') {
			break
		}
	}
	return strings.ToLower(name[start:end]), name[:start]
}

// nameMax bounds how far back a name is looked for.
const nameMax = 64

// naming is the name before a colon or equals sign, and how it stands there.
type naming struct {
	name   string
	begins bool // nothing but marks of lists stands before it on its line
	quoted bool // in quotes: this is JSON, YAML or code
	argued bool // in the brackets of a call
	code   bool // behind a word that declares something
}

// nameBefore is the name that ends before i. "api key" is a name of two words.
func nameBefore(s string, i int) (n naming) {
	floor := max(0, i-2*nameMax)
	end := i
	for end > floor && (s[end-1] == ' ' || s[end-1] == '*' || s[end-1] == '`') && i-end < 4 {
		end--
	}
	for end > floor && (s[end-1] == '"' || s[end-1] == '\'' || s[end-1] == '\\') && i-end < 8 {
		end, n.quoted = end-1, true
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
	// \n and %20 may stand before it, and their letters are none of its own.
	for cut := start + 1; cut < end && cut <= start+5; cut++ {
		if escapeEnds(s, cut) {
			start = cut
			break
		}
	}
	n.name = s[start:end]
	at := start
	for at > 0 && start-at < 8 && strings.IndexByte(" \t-*#>\"'`\\{,", s[at-1]) >= 0 {
		at--
	}
	n.begins = at == 0 || s[at-1] == '\n' || s[:at] == "\ufeff"
	n.argued = start >= 2 && s[start-1] == '(' && word(s[start-2])
	n.code = declares(s[max(0, start-16):start])
	return n
}

// declares reports code that names a variable: const token = t.
func declares(before string) bool {
	trimmed := strings.TrimRight(before, " ")
	if trimmed == before {
		return false
	}
	at := len(trimmed)
	for at > 0 && letter(trimmed[at-1]) {
		at--
	}
	return declaring[trimmed[at:]]
}

var declaring = wordSet("const let var val auto final String string char")
