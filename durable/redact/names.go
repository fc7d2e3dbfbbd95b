package redact

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/pattern"
)

// Names of secrets end in one of secretWords, in one of keyWords and "key", or in one of
// passWords and "pass"; "pass" alone is the result of a test.
var (
	secretWords = wordSet("password passwords passwd passphrase pwd secret secrets token apikey apikeys credential " +
		"credentials authorization secretkey accesskey privatekey passcode pw psk")
	keyWords = wordSet("api access private secret signing encryption auth master account session client hmac shared app " +
		"application subscription service deploy fastly admin functions function preshared")
	passWords = wordSet("db database mysql postgres pg redis smtp mail email admin root user ftp ssh proxy login become sudo " +
		"ldap bind imap http vault default rabbitmq amqp mongo mongodb postgresql sql wifi vpn sasl elastic jenkins")
	// publicTokens qualify tokens that are not credentials: page tokens, tokens of a text model.
	publicTokens = wordSet("page cursor cancellation pad eos bos unk sep mask stop")
	// joinedEndings are the endings of secret names that are written as one lower case word.
	joinedEndings = []string{
		"password", "passwd", "passphrase", "secret", "apikey", "secretkey", "accesskey", "privatekey",
		"accesstoken", "authtoken",
		"storepass", "keypass", "apitoken", "refreshtoken", "bearertoken", "sessiontoken", "idtoken", "bottoken", "identitytoken", "registrytoken",
	}
	// pairNames are the names of the member of a pair that holds a name, valueNames those of the
	// member that holds the value.
	pairNames  = wordSet("name key header variable field parameter")
	valueNames = wordSet("value val")
)

// wordSet returns the set of words, which are separated by spaces.
func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// SecretName reports whether a name alone shows that its value is a secret: password, apiToken,
// DB_PASSWORD, x-api-key, token2. It reports false for names about secrets, such as tokenCount,
// passwordPolicy and max_tokens, and for a name that contains a marker.
func SecretName(name string) bool {
	if strings.Contains(name, markerStart) {
		return false
	}
	last, rest := lastWord(name)
	// Numbered names, token2 and token_2, are judged without the number.
	if last = strings.TrimRight(last, "0123456789"); last == "" {
		last, rest = lastWord(rest)
	}
	before, rest := lastWord(rest)
	switch {
	// page_token, cancellation token; and names without letters.
	case last == "token" && publicTokens[before], last == "":
		return false
	case last == "base" && before == "key": // SECRET_KEY_BASE
		last = "key"
		before, _ = lastWord(rest)
	}
	return secretWords[last] || (last == "key" || last == "keys") && keyWords[before] ||
		last == "pass" && passWords[before] ||
		// dbpassword, myapitoken: suffixes of a word, which must be specific enough.
		slices.ContainsFunc(joinedEndings, func(end string) bool { return strings.HasSuffix(last, end) })
}

// lastWord returns the last word of a name in lower case, and the text before it. Words are
// separated by a change of case or by any byte that is no letter or digit.
func lastWord(name string) (lower, rest string) {
	end := len(name)
	for end > 0 && !alnum[name[end-1]] {
		end--
	}
	start := end
	for start > 0 && alnum[name[start-1]] {
		start--
		// apiToken and HTTPToken are both split before the T.
		if start > 0 && upper[name[start]] && (!upper[name[start-1]] || start+1 < end && letter[name[start+1]] &&
			!upper[name[start+1]]) {
			break
		}
	}
	return strings.ToLower(name[start:end]), name[:start]
}

// nameMax bounds how many bytes before its colon a name may begin. It keeps the scan linear.
const nameMax = 64

// nameContext is the name before a colon or equals sign, with its context.
type nameContext struct {
	name   string
	before string // the last bytes before the name
	quoted bool   // it is in quotes: JSON, YAML or code
	index  bool   // it is the index of a variable: environ["TOKEN"]
}

// What precedes a name.
var (
	// startsLine matches the indentation, list marks and quotes before a name that begins its line.
	startsLine = pattern.New("(?:^\ufeff?|\n)[ \t*#>\"'`\\\\{,-]{0,28}$")
	// callBegins matches the beginning of a call, of which the name is the first argument.
	callBegins = pattern.New(`\w\($`)
	// declares matches a keyword that declares a variable, in the languages that agents mostly write.
	declares = pattern.New(`(?:^|[^A-Za-z])(?:const|let|var|val|auto|final|String|string|char) +$`)
)

// beforeMax is the length of nameContext.before, more than startsLine matches behind a line's start.
const beforeMax = 32

// nameBefore returns the name that ends before offset i. "api key" is one name of two words.
func nameBefore(s string, i int) (n nameContext) {
	floor := max(0, i-2*nameMax)
	// Skip spaces and emphasis before the colon, then the closing quote, escaped or not.
	end := i
	for end > floor && (s[end-1] == ' ' || s[end-1] == '*' || s[end-1] == '`') && i-end < 4 {
		end--
	}
	if end-1 > floor && s[end-1] == ']' && (s[end-2] == '"' || s[end-2] == '\'') {
		end, n.index = end-1, true
	}
	for end > floor && (s[end-1] == '"' || s[end-1] == '\'' || s[end-1] == '\\') && i-end < 8 {
		end, n.quoted = end-1, true
	}
	start := end
	for start > floor && dotted[s[start-1]] && end-start < nameMax {
		start--
	}
	// "key" alone is too common: it counts with the word before it.
	if strings.EqualFold(s[start:end], "key") && start > floor && s[start-1] == ' ' {
		for start--; start > floor && alnum[s[start-1]]; {
			start--
		}
	}
	// An escape such as \n or %20 may precede it, whose letters are not part of the name.
	for cut := start + 1; cut < end && cut <= start+5; cut++ {
		if escapeEnds(s, cut) {
			start = cut
			break
		}
	}
	n.name, n.before = s[start:end], s[max(0, start-beforeMax):start]
	return n
}
