// Package words has the words by which the scanner of secrets recognizes the name of a secret, and texts
// in the place of one. Its functions read a short text and nothing around it.
//
// The entry point is SecretName. Start reading there.
package words

import (
	"slices"
	"strings"
	"sync"
)

// Names of secrets end in one of secretWords, in one of keyWords and "key", or in one of
// passWords and "pass"; "pass" alone is the result of a test.
var (
	secretWords = Set("password passwords passwd passphrase pwd secret secrets token apikey apikeys credential " +
		"credentials authorization secretkey accesskey privatekey passcode pw psk")
	keyWords = Set("api access private secret signing encryption auth master account session client hmac shared app " +
		"application subscription service deploy fastly write fernet ingestion license licence webhook sas cosmos rapidapi search stripe kaggle sendgrid sdk aio personal admin functions function preshared")
	passWords = Set("db database mysql postgres pg redis smtp mail email admin root user ftp ssh proxy login become sudo " +
		"ldap bind imap http vault default rabbitmq amqp mongo mongodb postgresql sql wifi vpn sasl elastic jenkins")
	// publicTokens qualify tokens that are not credentials: page tokens, tokens of a text model.
	publicTokens = Set("page cursor cancellation pad eos bos unk sep mask stop")
	// stages end the names of secrets of which there are several.
	stages = Set("sandbox production prod staging")
	// messages qualify names of messages about secrets: invalid_token.
	messages = Set("invalid missing expired incorrect wrong weak forgot forgotten mismatched")
	// joinedEndings are the endings of secret names that are written as one lower case word.
	joinedEndings = []string{
		"password", "passwd", "passphrase", "secret", "apikey", "secretkey", "accesskey", "privatekey",
		"accesstoken", "authtoken",
		"storepass", "keypass", "apitoken", "refreshtoken", "bearertoken", "sessiontoken", "idtoken", "bottoken", "identitytoken", "registrytoken",
	}
)

// Words is a set of words. It is split when it is first asked: no start of the program pays for it.
type Words struct {
	text  string // the words, separated by spaces
	split sync.Once
	all   map[string]bool
}

// Set returns the set of words, which are separated by spaces.
func Set(words string) *Words { return &Words{text: words} }

// Has reports that a word is in the set.
func (w *Words) Has(word string) bool {
	w.split.Do(func() {
		w.all = map[string]bool{}
		for word := range strings.FieldsSeq(w.text) {
			w.all[word] = true
		}
	})
	return w.all[word]
}

// SecretName reports whether a name alone shows that its value is a secret: password, apiToken,
// DB_PASSWORD, x-api-key, token2. It reports false for names about secrets, such as tokenCount,
// passwordPolicy and max_tokens.
func SecretName(name string) bool {
	last, rest := lastWord(name)
	// Numbered names, token2 and token_2, are judged without the number.
	if last = strings.TrimRight(last, "0123456789"); last == "" {
		last, rest = lastWord(rest)
	}
	before, rest := lastWord(rest)
	switch {
	case last == "private" && (before == "apikey" || before == "key"): // APIKEY_PRIVATE
		return true
	// page_token, cancellation token; and names without letters.
	case last == "token" && publicTokens.Has(before), last == "", messages.Has(before):
		return false
	case last == "cookie" && before == "erlang":
		return true
	case stages.Has(last): // PLAID_SECRET_SANDBOX
		last = before
		before, _ = lastWord(rest)
	case last == "base" && before == "key": // SECRET_KEY_BASE
		last = "key"
		before, _ = lastWord(rest)
	}
	return secretWords.Has(last) || (last == "key" || last == "keys") && keyWords.Has(before) ||
		last == "pass" && passWords.Has(before) ||
		// dbpassword, myapitoken: suffixes of a word, which must be specific enough.
		slices.ContainsFunc(joinedEndings, func(end string) bool { return strings.HasSuffix(last, end) })
}

// publicKeys qualify keys that are no secret: of caches, tables, messages, and public ones.
var publicKeys = Set("public publishable pub site cache idempotency dedup partition sort primary message translation host ssh gpg pgp " +
	"kms object foreign verify verifying verification peer identity trace group row restore artifact build hash file " +
	"blob image bucket map dict event entity s3 i18n label order search registry lookup query author context " +
	"x11 desktop login socket")

// KeyName reports a name that alone does not show that its value is a secret, and with a value like a key does:
// MAPS_KEY, CI_PAT, APP_SESSION. digits states that the value may consist of hexadecimal digits, as in a
// variable of the environment.
func KeyName(name string) (key, digits bool) {
	last, rest := lastWord(name)
	before, _ := lastWord(rest)
	switch last {
	case "key", "keys", "pat", "skey", "session", "auth", "writekey", "keystring", "login", "appid":
	case "salt": // of WordPress and Strapi: no hash has it
		if !saltedWords.Has(before) {
			return false, false
		}
	default:
		if last == "id" && before == "reporter" || last == "certificate" && before == "app" || last == "api" && before == "art" {
			return true, true
		}
		return false, false
	}
	if before == "" || strings.Contains(name, " ") || publicKeys.Has(before) || messages.Has(before) {
		return false, false
	}
	return true, last != "session" && last != "auth" && last != "appid" && strings.ToUpper(name) == name && strings.Contains(name, "_")
}

// saltedWords precede "salt" in the names of secrets.
var saltedWords = Set("token auth nonce in")

// lastWord returns the last word of a name in lower case, and the text before it. Words are
// separated by a change of case or by any byte that is no letter or digit.
func lastWord(name string) (lower, rest string) {
	end := len(name)
	for end > 0 && !alnum(name[end-1]) {
		end--
	}
	start := end
	for start > 0 && alnum(name[start-1]) {
		start--
		// apiToken and HTTPToken are both split before the T.
		if start > 0 && upper(name[start]) && (!upper(name[start-1]) || start+1 < end && letter(name[start+1]) &&
			!upper(name[start+1])) {
			break
		}
	}
	return strings.ToLower(name[start:end]), name[:start]
}

func upper(b byte) bool { return b >= 'A' && b <= 'Z' }

func letter(b byte) bool { return upper(b) || b >= 'a' && b <= 'z' }

func alnum(b byte) bool { return letter(b) || b >= '0' && b <= '9' }
