package words

import (
	"strings"

	"github.com/waybill/waybill/durable/pattern"
)

// Line is a form of a line with a secret at a fixed place: Begins matches its text up to the secret, and Last what follows the secret,
// nil where anything may.
type Line struct {
	Word         string // with which it begins
	Begins, Last *pattern.Pattern
	Stated       bool // the secret must look like no word
}

// Lines are these forms.
var Lines = []Line{
	{Word: "requirepass", Begins: pattern.New(`^requirepass[ \t]+`)},
	{Word: "masterauth", Begins: pattern.New(`^masterauth[ \t]+`)},
	{Word: "masteruser", Begins: pattern.New(`^masteruser[ \t]+\S{1,64}[ \t]*\r*\n[ \t]*masterauth[ \t]+`)},
	{Word: "AUTH", Begins: pattern.New(`^AUTH[ \t]+(?:[\w.@-]{1,64}[ \t]+)?`), Last: endOfLine, Stated: true},
	{Word: "echo", Begins: pattern.New(`^echo[ \t]+(?:-n[ \t]+)?`), Last: passwordPipe},
	{Word: "echo", Begins: pattern.New(`^echo[ \t]+(?:-n[ \t]+)?["']?[\w.-]{1,32}:`), Last: chpasswd},
	{Word: "printf", Begins: pattern.New(`^printf[ \t]+(?:["']?%s(?:\\n)?["']?[ \t]+)?`), Last: passwordPipe},
	{Word: "net use", Begins: pattern.New(`^net use (?:[A-Za-z]:|\*)?[ \t]*\\\\[^ \t\n]{1,200}[ \t]+(?:/user:[^ \t\n]{1,64}[ \t]+)?`), Stated: true},
	{Word: "htpasswd", Begins: pattern.New(`^htpasswd(?:[ \t]+-[A-Za-z]*b[A-Za-z]*|[ \t]+-[A-Za-z]+){1,4}(?:[ \t]+[^ \t\n-][^ \t\n]{0,100})?[ \t]+[^ \t\n-][^ \t\n]{0,64}[ \t]+`), Stated: true},
	{Word: "smbclient", Begins: pattern.New(`^smbclient[ \t][^\n%]{0,200}(?:-U|--user)[ \t=]?[^ \t\n%]{1,64}%`)},
	{Word: "snmp-server", Begins: pattern.New(`^snmp-server community[ \t]+`), Stated: true},
	{Word: "secret", Begins: pattern.New(`^secret [0-9] `), Stated: true},
	{Word: "password", Begins: pattern.New(`^password [0-9] `), Stated: true},
	{Word: "unseal", Begins: pattern.New(`^(?i:unseal) Key(?: [0-9])?:[ \t]+`)},
	{Word: "git config", Begins: pattern.New(`^git config(?:[ \t]+--[a-z-]+)*[ \t]+[\w.-]{0,64}(?i:token|password|secret|passwd)[ \t]+`), Stated: true},
	{Word: "WIFI", Begins: pattern.New(`^WIFI:[^\n]{0,120}?P:`), Last: pattern.New(`^;`)},
	{Word: "SSWS", Begins: pattern.New(`^SSWS[ \t]+`), Stated: true},
	{Word: "GenieKey", Begins: pattern.New(`^GenieKey[ \t]+`), Stated: true},
	{Word: "xfreerdp", Begins: freeRDP}, {Word: "wfreerdp", Begins: freeRDP},
}

var (
	endOfLine    = pattern.New(`^[ \t"']*(?:\r|\n|\\n|$)`)
	passwordPipe = pattern.New(`^["']?[ \t]*\|[^\n|]{0,160}(?:--password-stdin|sudo[ \t]+-S|-passin stdin|--with-token|passwd --stdin)`)
	chpasswd     = pattern.New(`^["']?[ \t]*\|[ \t]*(?:sudo[ \t]+)?chpasswd`)
	freeRDP      = pattern.New(`^[xw]freerdp[ \t][^\n]{0,200}?/p:`)
)

// StatedBy matches the verbs with which a sentence in another language states a secret behind its noun.
var StatedBy = pattern.New(`^[ \t]*(?:es|é|è|e'|ist|lautet|est|is|to|är|er|je|=|是|為|为|は|는|은)[ \t]*[:：]?[ \t]*`)

// NounAt is a noun in another language by two bytes in it that few other texts have.
type NounAt struct {
	At   int // the offset of these bytes
	Noun string
}

// ForeignNouns holds them by these two bytes.
var ForeignNouns = map[string][]NounAt{
	"ñ": {{len("contrase"), "contraseña"}}, "nh": {{2, "senha"}}, "\xd0\xbf": {{0, "пароль"}}, "\xe5\xaf": {{0, "密码"}, {0, "密碼"}},
	"\xe3\x83": {{0, "パスワード"}}, "\xeb\xb9": {{0, "비밀번호"}}, "tw": {{4, "wachtwoord"}}, "ł": {{3, "hasło"}}, "ö": {{1, "lösenord"}},
	"ş": {{0, "şifre"}}, "nw": {{3, "kennwort"}}, "sw": {{3, "passwort"}, {3, "password"}},
}

// HasVerb reports a word that may be the verb of a sentence that states a secret, without a regular expression.
func HasVerb(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i-1] != ' ' && s[i-1] != '\t' || strings.IndexByte("iwabshct", s[i]|' ') < 0 {
			continue
		}
		for _, verb := range verbs {
			if len(s)-i >= len(verb) && strings.EqualFold(s[i:i+len(verb)], verb) {
				return true
			}
		}
	}
	return false
}

// verbs are the beginnings of these verbs.
var verbs = []string{"is", "was", "are", "were", "will", "becomes", "should", "has", "changed", "set", "to"}

// Last returns the last word of letters in a text, and the text before it.
func Last(s string) (word, before string) {
	end := len(strings.TrimRight(s, " "))
	from := end
	for from > 0 && letter(s[from-1]) {
		from--
	}
	return s[from:end], s[:from]
}

// Declares reports a keyword that declares a variable, in the languages that agents mostly write.
func Declares(word string) bool { return declares.Has(word) }

// TypeKeyword reports a keyword that gives a type a name.
func TypeKeyword(word string) bool { return typeKeywords.Has(word) }

var (
	declares     = Set("const let var val auto final String string char")
	typeKeywords = Set("type newtype data enum")
)
