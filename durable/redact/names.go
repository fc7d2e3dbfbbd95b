package redact

import (
	"strings"

	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/redact/forms"
	"github.com/waybill/waybill/durable/redact/words"
)

// SecretName reports whether a name alone shows that its value is a secret: password, apiToken,
// DB_PASSWORD, x-api-key, token2. It reports false for names about secrets, such as tokenCount,
// passwordPolicy and max_tokens, and for a name that contains a marker.
func SecretName(name string) bool {
	return !strings.Contains(name, markerStart) && words.SecretName(name)
}

// namedKey returns the value behind the sign at i that is a key with the name of one, and 0, 0 where it is none.
func namedKey(sc *scanner, i int, n nameContext) (from, to int) {
	if key, _ := words.KeyName(n.name); !key || strings.Contains(n.name, markerStart) {
		return 0, 0
	}
	s := sc.text
	from = i + 1
	if strings.HasPrefix(s[i:], "=>") || strings.HasPrefix(s[i:], ":=") {
		from++
	}
	from = span(s[:min(len(s), from+escapeMax)], from, gap)
	open := openQuote(s, from)
	from += open
	to = span(s[:min(len(s), from+classifiedMax)], from, anyBase64)
	if open == 0 && to < len(s) && !endsPiece(s, to) && s[to] != '&' || open > 0 && openQuote(s, to) == 0 ||
		open == 0 && span(s, from, word) == to && !words.HexKey.MatchString(s[from:to]) && !forms.Service(n.name) && words.Alternations(s[from:to])*5 <= 2*(to-from) || !keyValue(n.name, s[from:to]) {
		return 0, 0
	}
	return from, sc.whole(from, to)
}

// keyValue reports a value that is a key where its name is that of one.
func keyValue(name, v string) bool {
	key, digits := words.KeyName(name)
	if !key || len(v) < 16 || strings.HasPrefix(v, markerStart) {
		return false
	}
	if of := forms.Service(name); (digits || of) && (words.HexKey.MatchString(v) || len(v) == 36 && words.UUID.MatchString(v)) ||
		of && span(v, 0, word) == len(v) && words.Alternations(v) > len(v)/4 && words.Digits(v) > 2 {
		return true
	} else if len(v) < 20 {
		return false
	}
	return span(v, 0, anyBase64) == len(v) && forms.Scattered.Match(v) && !strings.HasPrefix(v, "AAAA")
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
	// callBegins matches the beginning of a call, of which the name is the first argument.
	callBegins = pattern.New(`\w\($`)
)

// lineByte is the class of the bytes of indentation, list marks and quotes.
var lineByte = classOf(" \t*#>\"'`\\{,-")

// startsLine reports that only indentation, list marks and quotes precede a name on its line.
func startsLine(before string) bool {
	i := len(before)
	for i > 0 && len(before)-i < beforeMax-4 && lineByte[before[i-1]] {
		i--
	}
	return i == 0 || before[i-1] == '\n' || before[:i] == "\ufeff"
}

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
	if strings.HasSuffix(s[floor:end], htmlQuote) {
		end, n.quoted = end-len(htmlQuote), true
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

// signBegins returns where the sign at i begins that assigns a value: the first bytes of ?=, ||= and ::= belong to
// it, and a type does, as in "var token string =".
func signBegins(s string, i int) int {
	more := "?|"
	if s[i] == ':' {
		if !strings.HasPrefix(s[i:], ":=") {
			return i
		}
		more = ":"
	}
	begin := i
	for begin > 0 && i-begin < 2 && strings.IndexByte(more, s[begin-1]) >= 0 {
		begin--
	}
	floor := max(0, begin-escapeMax)
	typed := floor + len(strings.TrimRight(s[floor:begin], " "))
	if s[i] == '=' && typed < begin && strings.HasSuffix(s[floor:typed], " string") {
		return typed - len(" string")
	}
	return begin
}
