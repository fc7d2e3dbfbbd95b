package redact

import "strings"

// A pair is two members of which one holds the name of the other's value:
// {"name":"token","value":"…"}, and the same in YAML and in settings files. Both are read forward
// from the first one, so that a secret replaced later does not change what was read.

// pairMembers bounds the number of members that are read behind the first one.
const pairMembers = 8

// pair schedules the value of a pair whose first member, of name n, has its colon or equals sign
// at i.
func (sc *scanner) pair(i int, n nameContext) {
	lower := strings.ToLower(n.name)
	switch {
	case !pairNames[lower] && !valueNames[lower]:
	case n.quoted:
		sc.pairJSON(i, valueNames[lower])
	case n.startsLine && pairNames[lower]:
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
		return member{from: i + open, to: to, end: to + open}
	}
	// A marker counts as a value, so that a redacted pair is read like the original one.
	if i < len(s) {
		if n := marker(s[i:]); n > 0 {
			return member{from: i, to: i + n, end: i + n}
		}
	}
	to := span(s, i, func(c byte) bool { return dotted(c) || c == '+' })
	if to == i {
		return member{}
	}
	return member{from: i, to: to, end: to}
}

// pairJSON reads the value at i and the members behind it. valued states that the first member is
// the one with the value, whose name is still to be found.
func (sc *scanner) pairJSON(i int, valued bool) {
	s := sc.text
	first := memberAt(s, i+1)
	if first.end == 0 || !valued && !SecretName(s[first.from:first.to]) {
		return
	}
	// Behind the first value, each member is a comma, a name, a colon and a value.
	at := first.end
	for range pairMembers {
		at = span(s, at, space)
		if at == len(s) || s[at] != ',' {
			return
		}
		name := memberAt(s, at+1)
		if name.end == 0 {
			return
		}
		at = span(s, name.end, space)
		if at == len(s) || s[at] != ':' && s[at] != '=' {
			return
		}
		value := memberAt(s, at+1)
		if value.end == 0 {
			return
		}
		at = value.end
		lower := strings.ToLower(s[name.from:min(name.to, name.from+nameMax)])
		switch {
		// The name came first, then the value; or the other way round.
		case !valued && valueNames[lower]:
			sc.takePair(value)
			return
		case valued && pairNames[lower] && SecretName(s[value.from:value.to]):
			sc.takePair(first)
			return
		}
	}
}

// pairLines reads a pair on two consecutive lines, as in YAML lists of variables.
func (sc *scanner) pairLines(i int) {
	s := sc.text
	first := memberAt(s, span(s, i+1, blank))
	if first.end == 0 || !SecretName(s[first.from:first.to]) {
		return
	}
	// Nothing else may follow on the first line, and the second begins with the value's name.
	at := span(s, first.end, blank)
	if at = span(s, at, func(c byte) bool { return c == '\r' }); at == len(s) || s[at] != '\n' {
		return
	}
	at = span(s, at+1, blank)
	end := span(s, at, letter)
	if !valueNames[strings.ToLower(s[at:min(end, at+nameMax)])] {
		return
	}
	if at = span(s, end, blank); at == len(s) || s[at] != ':' && s[at] != '=' {
		return
	}
	at = span(s, at+1, blank)
	if openQuote(s, at) > 0 {
		if m := memberAt(s, at); m.end > 0 {
			sc.takePair(m)
		}
		return
	}
	// Without quotes, the value must be all that is on its line.
	if to, ok := sc.bareEnd(at); ok && !nonValue(s[at:to]) && endsLine(s, to) {
		sc.schedule(at, to, NamedSecret)
	}
}

// takePair schedules a member's value, unless it is empty, a placeholder or a literal.
func (sc *scanner) takePair(m member) {
	v := sc.text[m.from:m.to]
	if v == "" || strings.Contains(v, markerStart) || placeholder(v) || v == "true" || v == "false" || v == "null" {
		return
	}
	sc.schedule(m.from, m.to, NamedSecret)
}
