package redact

import "strings"

// A pair says in one member what the other is: {"name":"token","value":"…"}, and the same
// in YAML and in blocks of settings. Both are read forward from the first of them, so
// that what is taken out behind it changes nothing of what was read.

// pairMembers bounds how many members may stand between the two.
const pairMembers = 8

// pair notes the value of a pair whose first member has its colon or equals sign at i.
func (sc *scanner) pair(i int, n naming) {
	lower := strings.ToLower(n.name)
	switch {
	case !pairNames[lower] && !valueNames[lower]:
	case n.quoted:
		sc.pairJSON(i, valueNames[lower])
	case n.begins && pairNames[lower]:
		sc.pairLines(i)
	}
}

// member is the value of one member: what stands in its quotes, or a number or a word.
type member struct{ from, to, end int }

// memberAt reads the value at i; end is 0 where it is a list, an object or nothing.
func memberAt(s string, i int) (m member) {
	i = span(s, i, space)
	if open := opening(s, i); open > 0 {
		to, whole := closing(s, i+open, open)
		if !whole {
			return member{}
		}
		return member{from: i + open, to: to, end: to + open}
	}
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

// pairJSON reads the value at i and the members behind it. valued says that the first is
// the one with the secret.
func (sc *scanner) pairJSON(i int, valued bool) {
	s := sc.text
	first := memberAt(s, i+1)
	if first.end == 0 || !valued && !SecretName(s[first.from:first.to]) {
		return
	}
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
		case !valued && valueNames[lower]:
			sc.takePair(value)
			return
		case valued && pairNames[lower] && SecretName(s[value.from:value.to]):
			sc.takePair(first)
			return
		}
	}
}

// pairLines is a pair on two lines, as in lists of variables.
func (sc *scanner) pairLines(i int) {
	s := sc.text
	first := memberAt(s, span(s, i+1, blank))
	if first.end == 0 || !SecretName(s[first.from:first.to]) {
		return
	}
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
	if opening(s, at) > 0 {
		if m := memberAt(s, at); m.end > 0 {
			sc.takePair(m)
		}
		return
	}
	if to, ok := sc.bareEnd(at); ok && !noValue(s[at:to]) && lineEnds(s, to) {
		sc.later(at, to, NamedSecret)
	}
}

// takePair takes a member's value, unless it says that there is none.
func (sc *scanner) takePair(m member) {
	v := sc.text[m.from:m.to]
	if v == "" || strings.Contains(v, markerStart) || placeholder(v) || v == "true" || v == "false" || v == "null" {
		return
	}
	sc.later(m.from, m.to, NamedSecret)
}
