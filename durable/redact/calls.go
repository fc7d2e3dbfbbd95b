package redact

import (
	"strings"

	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/redact/words"
)

// behind schedules the value at an offset that follows its name without a colon or an equals sign: in quotes, or
// unlike a word. least is its shortest length.
func behind(sc *scanner, from, least int) {
	s := sc.text
	to, open := words.QuotedWord(s, from)
	if to == 0 {
		to = sc.bareEnd(from)
	}
	from += open
	if to-from < least || to-from > classifiedMax {
		return
	}
	v := s[from:to]
	random := open > 0 && len(v) >= 2*shortest && innerUpper(v) && span(v, 0, alnum) == len(v)
	if (random || words.Stated(v)) && !words.NonValue(v) && !SecretName(v) && !strings.ContainsAny(v, "()<>{} ") &&
		!strings.Contains(v, markerStart) {
		sc.schedule(from, sc.whole(from, to), NamedSecret)
	}
}

// shortest is the shortest value of a name without a sign between them.
const shortest = 8

// operator schedules the value behind an operator or a separator at i: the value in place of a variable that is not
// set, TOKEN || "…"; the next cell of a table, | TOKEN | … |; and what a command or a macro defines, TOKEN "…".
func operator(sc *scanner, i int) {
	s := sc.text
	if i < 2 || !alnum[s[i-1]] && !alnum[s[i-2]] && s[i-2] != '`' {
		return
	}
	n := nameBefore(s, i)
	if !SecretName(n.name) {
		return
	}
	from := span(s, i, blank)
	switch {
	case strings.HasPrefix(s[i:], "||"), strings.HasPrefix(s[i:], "??"):
		if from = span(s, i+2, blank); openQuote(s, from) > 0 {
			behind(sc, from, shortest)
		}
	case s[i] == '|' && strings.Contains(n.name, "_"):
		behind(sc, span(s, i+1, blank), shortest)
	case s[i] == ' ' && definitions.MatchString(n.before):
		behind(sc, from, shortest)
	}
}

// definitions matches what precedes a name whose value follows it: a macro, and a keyword in Clojure.
var definitions = pattern.New(`(?:^|[^\w])(?:#[ \t]*define[ \t]+|[{ \n(]:)$`)

// call schedules the argument of the call at i that is a secret: that of a function that takes credentials, or the
// only one of a function that sets a secret.
func call(sc *scanner, i int) {
	s := sc.text
	if i == 0 || !word[s[i-1]] && s[i-1] != '=' {
		return
	}
	name := lastName(nameBefore(s, i).name)
	which := words.Calls[strings.ToLower(name)]
	if strings.HasSuffix(s[:i], "auth=") { // auth=("user", "…")
		which = 2
	}
	setter := which == 0 && SecretName(name) && !words.Reader(name)
	if !setter && which == 0 {
		return
	}
	for at, k := i+1, 1; ; k++ {
		open := openQuote(s, at)
		if open == 0 {
			return
		}
		from, to := quoted(s, at, open)
		if setter {
			if v := s[from:to]; strings.HasPrefix(s[min(len(s), to+open):], ")") && (words.StrongRun(v) || strings.HasSuffix(v, "!")) {
				behind(sc, at, shortest)
			}
			return
		}
		if end, whole := closeQuote(s, at+open, open); !whole {
			return
		} else if at += open; k == which {
			if v := s[at:end]; v != "" && !words.NonValue(v) && !strings.Contains(v, markerStart) && words.Stated(v) {
				sc.schedule(at, end, NamedSecret)
			}
			return
		} else {
			at = span(s, end+open, blank)
		}
		if at >= len(s) || s[at] != ',' {
			return
		}
		at = span(s, at+1, space)
	}
}

var (
	// assignment matches a command or a sentence that sets a variable: set -gx NAME value, secret set NAME --body value,
	// set NAME to value.
	assignment = pattern.New("^(?i:setx?|putenv|setenv)(?:[ \t]+--?[a-z]{1,12}){0,2}[ \t]+[`\"']?([\\w./:-]{2,64}?)[`\"']?" +
		"(?:[ \t]+(?:to|as|--body|-b))?[ \t]+")
	// hostLogin matches the setting of the login of a host: config set HOST user:
	hostLogin = pattern.New(`^set[ \t]+(?:--[a-z]+[ \t]+)?[\w-]+(?:\.[\w-]+)+[ \t]+[\w@.-]+:`)
	// plainText matches a password that a command converts.
	plainText = pattern.New(`^(?i:SecureString)[ \t]+(?:-String[ \t]+)?`)
)

// assigned schedules the value of an assignment that begins at i.
func assigned(sc *scanner, i int) {
	s := sc.text
	near := s[i:min(len(s), i+sentenceMax)]
	if m := plainText.FindString(near); m != "" && openQuote(s, i+len(m)) > 0 {
		behind(sc, i+len(m), shortest)
		return
	}
	m := assignment.FindStringSubmatch(near)
	countReads(len(near))
	switch {
	case m == nil:
	case SecretName(m[1]), keyBehind(s, i+len(m[0]), m[1]):
		behind(sc, i+len(m[0]), shortest)
	case strings.HasSuffix(s[:i], "config "):
		if m := hostLogin.FindString(near); m != "" {
			behind(sc, i+len(m), shortest)
		}
	}
}

// keyBehind reports that a value at an offset is a key with a name.
func keyBehind(s string, from int, name string) bool {
	key, _ := words.KeyName(name)
	if !key {
		return false
	}
	to, open := words.QuotedWord(s, from)
	if to == 0 {
		to = span(s[:min(len(s), from+classifiedMax)], from, anyBase64)
	}
	return keyValue(name, s[from+open:to])
}

// foreign schedules the secret behind a label in another language, whose colon is at i and has a number of bytes.
func foreign(sc *scanner, i, size int) {
	s := sc.text
	end := i
	for end > 0 && i-end < 4 && (s[end-1] == ' ' || s[end-1] == '*') {
		end--
	}
	if end == 0 {
		return
	}
	last := s[end-1] | ' ' // in lower case
	for _, noun := range words.Nouns {
		if from := end - len(noun); from >= 0 && noun[len(noun)-1]|' ' == last && strings.EqualFold(s[from:end], noun) {
			from := span(s, i+size, gap)
			if span(s[:min(len(s), from+classifiedMax)], from, bareByte) < from+classifiedMax {
				sc.label(from, 0)
			}
			return
		}
	}
}

// variableHead matches the head of a declaration whose member default is the value.
var variableHead = pattern.New(`(?:variable "([\w-]+)" \{|(?:^|\n)[ \t]*(\w+):[ \t]*\r*\n[ \t]+Type:[ \t]*String)\s[^{}]*$`)

// variableDefault reads the value of a declared variable.
func variableDefault(sc *scanner, i int, n nameContext) int {
	near := sc.text[max(0, i-sentenceMax):i]
	if countReads(len(near)); !strings.Contains(near, "variable ") && !strings.Contains(near, "Type:") {
		return 0
	}
	if k := strings.LastIndex(near, "variable "); k > 0 {
		near = near[k:]
	}
	if m := variableHead.FindStringSubmatch(near); m != nil && SecretName(m[1]+m[2]) {
		n.name = m[1] + m[2]
		if from, to := sc.named(i, n); to > from {
			return sc.replace(from, sc.whole(from, to), NamedSecret)
		}
	}
	return 0
}
