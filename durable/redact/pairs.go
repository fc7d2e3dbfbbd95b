package redact

import (
	"strings"

	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/redact/words"
)

// A pair is two members of which one holds the name of the other's value:
// {"name":"token","value":"…"}, and the same in YAML and in settings files. Both are read forward
// from the first one, so that a secret replaced later does not change what was read.

var (
	// pairNames are the names of the member of a pair that holds a name, valueNames those of the
	// member that holds the value.
	pairNames  = words.Set("name key header variable field parameter parameterkey")
	valueNames = words.Set("value val parametervalue")
)

// pairMembers bounds the number of members that are read behind the first one.
const pairMembers = 8

// pair schedules the value of a pair whose first member, of name n, has its colon or equals sign
// at i.
func (sc *scanner) pair(i int, n nameContext) {
	lower := strings.ToLower(n.name)
	if strings.HasSuffix(lower, " key") && !n.quoted { // <add key="…" value="…">: nameBefore takes two words
		lower = "key"
	}
	switch named := pairNames.Has(lower); {
	case n.quoted && (named || valueNames.Has(lower)):
		sc.pairJSON(i, !named)
	case !n.quoted && named && sc.text[i] == '=' && openQuote(sc.text, i+1) > 0:
		sc.pairAttributes(i)
	case !n.quoted && named && startsLine(n.before):
		sc.pairLines(i)
	}
}

// member is the value of one member: the content of its quotes, or a number or a word. end is the
// offset behind the value, including its quotes.
type member struct{ from, to, end int }

// memberAt reads the value at i; end is 0 where it is an array, an object or missing.
func memberAt(s string, i int) (m member) {
	i = span(s, i, space)
	if open := openQuote(s, i); open > 0 {
		to, whole := closeQuote(s, i+open, open)
		if !whole {
			return member{}
		}
		// A closing quote with fewer backslashes than the opening one may end the text.
		return member{from: i + open, to: to, end: min(to+open, len(s))}
	}
	if n := len(literal.FindString(s[i:])); n > 0 {
		return member{from: i, to: i + n, end: i + n}
	}
	return member{}
}

// literal matches a number or a word. A marker counts as one, so that a redacted pair is read like
// the original one.
var literal = pattern.New(`^(?:\[REDACTED:[A-Za-z_]{1,31}\]|[\w.+-]+)`)

// memberBehind reads the value behind m and one of some signs. Without them, or where m is the zero
// member, it returns the zero member.
func memberBehind(s string, m member, signs string) member {
	if m.end > 0 {
		if i := span(s, m.end, space); i < len(s) && strings.IndexByte(signs, s[i]) >= 0 {
			return memberAt(s, i+1)
		}
	}
	return member{}
}

// pairJSON reads the value at i and the members behind it. valued states that the first member is
// the one with the value, whose name is still to be found.
func (sc *scanner) pairJSON(i int, valued bool) {
	s := sc.text
	first := memberAt(s, i+1)
	if first.end == 0 || !valued && !pairName(s[first.from:first.to]) {
		return
	}
	// Behind the first value, each member is a comma, a name, a colon and a value.
	value := first
	for range pairMembers {
		name := memberBehind(s, value, ",")
		if value = memberBehind(s, name, ":="); value.end == 0 {
			return
		}
		lower := strings.ToLower(s[name.from:min(name.to, name.from+nameMax)])
		switch {
		// The name came first, then the value; or the other way round.
		case !valued && valueNames.Has(lower):
			sc.takePair(first, value)
			return
		case valued && pairNames.Has(lower) && pairName(s[value.from:value.to]):
			sc.takePair(value, first)
			return
		}
	}
}

// nextLine matches the end of a line, and the name of a value with its sign on the next one.
var nextLine = pattern.New(`^[ \t]*\r*\n(?:[ \t]*\w{1,20}:[ \t]*\w{0,20}[ \t]*\r*\n){0,2}[ \t]*(?i:value|val|content)[ \t]*[:=][ \t]*`)

// pairLines reads a pair on two consecutive lines, as in YAML lists of variables.
func (sc *scanner) pairLines(i int) {
	s := sc.text
	first := memberAt(s, span(s, i+1, blank))
	if first.end == 0 || !pairName(s[first.from:first.to]) {
		return
	}
	line := nextLine.FindString(s[first.end:min(len(s), first.end+sentenceMax)])
	at := first.end + len(line)
	switch {
	case line == "":
	case openQuote(s, at) > 0:
		sc.takePair(first, memberAt(s, at))
	default:
		// Without quotes, the value must be all that is on its line.
		if to := sc.bareEnd(at); to > at && !words.NonValue(s[at:to]) && (SecretName(s[first.from:first.to]) || keyValue(s[first.from:first.to], s[at:to])) && lineEnds.MatchString(s[to:]) {
			sc.schedule(at, to, NamedSecret)
		}
	}
}

// nextAttribute matches a further attribute of an element of XML that holds the value.
var nextAttribute = pattern.New(`^[ \t\r\n]+value=`)

// pairAttributes reads a pair in an element of XML: name="password" value="…".
func (sc *scanner) pairAttributes(i int) {
	s := sc.text
	first := memberAt(s, i+1)
	if first.end == 0 || !pairName(s[first.from:first.to]) {
		return
	}
	if gap := nextAttribute.FindString(s[first.end:min(len(s), first.end+escapeMax)]); gap != "" {
		sc.takePair(first, memberAt(s, first.end+len(gap)))
		return
	}
	sc.pairLines(i)
}

// pairName reports the name of a secret, or of a key whose value decides.
func pairName(name string) bool {
	key, _ := words.KeyName(name)
	return key || SecretName(name)
}

// takePair schedules the value of a name, unless it is empty, a placeholder or a literal.
func (sc *scanner) takePair(name, m member) {
	v := sc.text[m.from:m.to]
	if n := sc.text[name.from:name.to]; !SecretName(n) && !keyValue(n, v) {
		return
	}
	if v == "" || strings.Contains(v, markerStart) || words.Placeholder(v) || v == "true" || v == "false" || v == "null" {
		return
	}
	sc.schedule(m.from, m.to, NamedSecret)
}
