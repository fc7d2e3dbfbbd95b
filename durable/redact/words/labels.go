package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Nouns that name secrets in other languages. They end the label before a secret, and are the text of a
// label themselves.
var Nouns = []string{"contraseña", "contrasena", "senha", "пароль", "密码", "密碼", "パスワード", "비밀번호", "wachtwoord", "hasło",
	"parola", "lösenord", "heslo", "şifre", "passwort", "kennwort", "mot de passe", "adgangskode", "jelszó", "salasana"}

// nouns name secrets in the text of a label.
var nouns = Set("password passwort passcode passphrase token key keys secret credentials credential passe contraseña senha " +
	"wachtwoord kennwort")

// labelMax bounds the length of a label.
const labelMax = 120

// Label reports the text of a label or of a message, as in the files of translations: one of Nouns, or words
// that begin with a capital, of which one names secrets, or five words without digits that end in a period or
// question mark.
func Label(v string) bool {
	first, n := utf8.DecodeRuneInString(v)
	if len(v) < 3 || len(v) > labelMax || n == 1 && (first < 'A' || first > 'Z') && first < utf8.RuneSelf {
		return false
	}
	lower := strings.ToLower(strings.TrimRight(v, ":?.!… "))
	for _, noun := range Nouns {
		if lower == noun {
			return true
		}
	}
	if strings.ContainsAny(v, "0123456789_=+/@#$%^&*{}<>|\\") {
		return false
	}
	all := strings.FieldsFunc(v, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' && r != '-' })
	named := false
	for _, w := range all {
		named = named || nouns.Has(strings.ToLower(w))
	}
	capital := unicode.IsUpper(first) && strings.ToLower(v[n:]) == v[n:] || strings.Contains(v, "API")
	return named && capital || len(all) >= 5 && unicode.IsUpper(first) && strings.ContainsAny(v[len(v)-1:], ".?!")
}

// keywords are values of settings and of grammars with a name like that of a secret.
var keywords = Set("if else for include omit same-origin string ident")

// Calls maps a function that takes credentials, in lower case, to the number of the argument with the secret.
var Calls = map[string]int{"login": 2, "setbasicauth": 2, "networkcredential": 2, "basicawscredentials": 2, "mysqli_connect": 3,
	"pdo": 3, "authenticationheadervalue": 2, "basic_auth": 2, "basicauth": 2, "httpbasicauth": 2}

// Reader reports the name of a function that reads or tests a value: getToken.
func Reader(name string) bool {
	lower := strings.ToLower(name)
	for _, w := range []string{"get", "has", "is", "find", "read", "load", "fetch", "hash", "test", "parse", "check", "new", "create", "generate"} {
		if strings.HasPrefix(lower, w) {
			return true
		}
	}
	return false
}

// Keyword reports a word of a setting or grammar.
func Keyword(v string) bool { return keywords.Has(v) }

// dummies are the beginnings and ends of texts in the place of a secret.
var (
	dummyBegins = []string{"changeme", "change-me", "change_me", "changethis", "replaceme", "replace-me", "replace_me", "insert-", "insert_",
		"fixme", "your-", "your_"}
	dummyEnds = []string{"placeholder", "_here", "-here", "_goes_here"}
)

// Dummy reports a text in the place of a secret: changeme, API_KEY_HERE, abc...xyz.
func Dummy(v string) bool {
	if len(v) < 5 || len(v) > labelMax {
		return false
	}
	for _, w := range dummyBegins {
		if len(v) >= len(w) && strings.EqualFold(v[:len(w)], w) && !strings.ContainsAny(v[len(w):], "0123456789") {
			return true
		}
	}
	for _, w := range dummyEnds {
		if len(v) > len(w) && strings.EqualFold(v[len(v)-len(w):], w) && !strings.ContainsAny(v, "0123456789") {
			return true
		}
	}
	return strings.Contains(v, "...") && len(v) < 16
}
