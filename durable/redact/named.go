package redact

import "strings"

// named is the value that follows the colon or equals sign at i, where a secret's name
// stands before it; from is to where there is nothing to take out.
func (sc *scanner) named(i int, n naming) (from, to int) {
	s := sc.text
	if n.name == "" || !SecretName(n.name) {
		return 0, 0
	}
	b := bareness{naming: n, equals: s[i] == '='}
	from = i + 1
	switch {
	case from < len(s) && s[from] == s[i]:
		return 0, 0 // a comparison, or a path of names
	case from < len(s) && (s[i] == '=' && s[from] == '>' || s[i] == ':' && s[from] == '='):
		b.code = b.code || s[from] == '='
		b.equals = true
		from++
	}
	gap := from
	for from < len(s) && (blank(s[from]) || s[from] == '*' || s[from] == '`' || n.quoted && space(s[from])) {
		from++
	}
	b.spaced = from > gap
	presented := from
	from = scheme(s, from)
	b.schemed = from > presented
	if from == len(s) {
		return 0, 0
	}
	if open := opening(s, from); open > 0 {
		return quoted(s, from, open)
	}
	if typed := assigned(s, from); typed > 0 && !b.equals && !b.schemed {
		from, to := quoted(s, typed, opening(s, typed))
		sc.later(from, to, NamedSecret)
		return 0, 0
	}
	return sc.bare(from, b)
}

// assigned is where the quote stands behind a type and an equals sign, as in
// password: str = "x"; 0 where there is none.
func assigned(s string, i int) int {
	end := span(s[:min(len(s), i+nameMax)], i, func(c byte) bool {
		return word(c) ||
			strings.IndexByte(".<>[]?&", c) >= 0
	})
	if end == i || s[i] == '<' {
		return 0
	}
	if end = span(s, end, blank); end == len(s) || s[end] != '=' {
		return 0
	}
	if at := span(s, end+1, blank); opening(s, at) > 0 {
		return at
	}
	return 0
}

// scheme passes over the word that says how a credential is presented.
func scheme(s string, i int) int {
	for _, w := range []string{"Bearer ", "Basic ", "Token ", "Digest ", "ApiKey "} {
		if len(s)-i > len(w) && strings.EqualFold(s[i:i+len(w)], w) {
			return span(s, i+len(w), func(c byte) bool { return c == ' ' })
		}
	}
	return i
}

// opening is the length of the quote at i, with the backslashes that it has inside of
// another text; 0 where there is none.
func opening(s string, i int) int {
	n := 0
	for n < 3 && i+n < len(s) && s[i+n] == '\\' {
		n++
	}
	if i+n < len(s) && (s[i+n] == '"' || s[i+n] == '\'') {
		return n + 1
	}
	return 0
}

// closing is where the text in quotes that begins behind the quote of the given length
// ends; whole is false where its line ends first.
func closing(s string, from, open int) (to int, whole bool) {
	quote := s[from-1 : from]
	for to = from; ; to++ {
		n := strings.IndexAny(s[to:], quote+"\n")
		if look(max(n, 0) + 1); n < 0 {
			look(len(s) - to)
			return len(s), false
		}
		if to += n; s[to] == '\n' {
			return to, false
		}
		slashes := 0
		for to-slashes > from && s[to-slashes-1] == '\\' {
			slashes++
		}
		look(slashes)
		if slashes == open-1 || open > 1 && slashes < open-1 || slashes%2 == 0 && open == 1 {
			return to - slashes*min(1, open-1), true
		}
	}
}

// quoted takes all that stands in quotes. Without a closing one it is the line.
func quoted(s string, i, open int) (from, to int) {
	from = i + open
	to, whole := closing(s, from, open)
	in := s[from:to]
	if strings.TrimSpace(in) == "" || strings.Contains(in, markerStart) || placeholder(in) || closed(in, whole) {
		return 0, 0
	}
	return from, to
}

// closed reports that the quote before in did not open a text but closed one, of which
// the name was the end: "token=" + token, input("Password: ").
func closed(in string, whole bool) bool {
	next := strings.TrimLeft(in, " \t")
	if !whole && len(next) < len(in) {
		return true
	}
	if next[0] == '+' || next[0] == '%' || next[0] == '.' {
		return len(next) < len(in) || len(next) > 1 && (blank(next[1]) || next[0] == '.' && letter(next[1]) &&
			strings.Contains(next, "("))
	}
	return strings.IndexByte(",)]};:", next[0]) >= 0 && (!whole || len(next) < 3 || !alnum(next[1])) ||
		strings.HasPrefix(next, "=>") || next[0] == '&' && len(next) < len(in)
}

// bareness is what is known of a value without quotes.
type bareness struct {
	naming
	equals  bool // name=value, not name: value
	spaced  bool // there is a space before it
	schemed bool // a word such as Bearer stands before it
}

// bareByte is what goes on in a value without quotes.
func bareByte(c byte) bool {
	return c > ' ' && c != '"' && c != '\'' && c != '`' && c != '<' && c != '>' && c != 0x7f
}

// bare takes a value up to white space. Behind a colon it has to look like one: people
// write "the token: is sent", and the word is none.
func (sc *scanner) bare(from int, b bareness) (_, to int) {
	s := sc.text
	to, ok := sc.bareEnd(from)
	if !ok {
		return 0, 0
	}
	v := s[from:to]
	if len(v) > looked {
		// No word, path or piece of code is that long; and what is refused is looked at
		// again from the next name in it.
		if b.equals || telling(v) {
			return from, to
		}
		return 0, 0
	}
	switch {
	case noValue(v), b.schemed && (SecretName(v) || presented[strings.ToLower(v)]),
		strings.EqualFold(v, lastName(b.name)), reference(s, from, to, b):
		return 0, 0
	case !b.equals && (strings.IndexByte("[{&", v[0]) >= 0 && !b.quoted || strings.Contains(v, "://") ||
		counted(s, to, v)):
		return 0, 0
	case b.schemed && (lineEnds(s, to) || to < len(s) && strings.IndexByte("\"'`", s[to]) >= 0):
		return from, to
	case b.equals, telling(v), b.begins && lineEnds(s, to) && !strings.ContainsAny(v, "/("):
		return from, to
	}
	return 0, 0
}

// presented are the words behind Bearer or Basic in sentences about them.
var presented = wordSet("auth authentication authorization scheme schemes header headers tokens credentials")

// bareEnd is where the value at from ends: at white space or a quote, at the next
// parameter of a query, at a line's end that is escaped, and before closing signs. ok is
// false where something in it was taken out before.
func (sc *scanner) bareEnd(from int) (to int, ok bool) {
	s := sc.text
	if from < sc.valueDead || opens(s[from:]) {
		return 0, false
	}
scan:
	for to = from; to < len(s) && bareByte(s[to]); to++ {
		switch c := s[to]; {
		case c == '[' && marker(s[to:]) > 0:
			look(to - from)
			sc.valueDead = to
			return 0, false
		case (c == '&' || c == ';' || c == ',') && parameter(s[to+1:]):
			break scan
		case c == '\\' && to+1 < len(s) && (s[to+1] == 'n' || s[to+1] == 'r' || strings.HasPrefix(s[to:], `\u0026`)):
			break scan
		}
	}
	look(to - from)
	for to > from && strings.IndexByte(".,;:?)]}\\", s[to-1]) >= 0 {
		to-- // an exclamation mark ends more passwords than sentences with one
	}
	return to, to > from
}

// telling reports what words do not have: digits, capitals inside, signs that do not
// stand in sentences.
func telling(v string) bool {
	v = strings.TrimRight(v, "!")
	return len(v) >= 3 && (strings.ContainsAny(v, "0123456789!@#$%^&*+=_~|:;?[]{}") || innerUpper(v))
}

// lineEnds reports that nothing but closing marks follows on the line.
func lineEnds(s string, i int) bool {
	for ; i < len(s) && s[i] != '\n'; i++ {
		look(1)
		if s[i] == '\\' && i+1 < len(s) && (s[i+1] == 'n' || s[i+1] == 'r') {
			return true
		}
		if strings.IndexByte(" \t\r.,;:!?)]}*`\\", s[i]) < 0 || marker(s[i:]) > 0 {
			return false
		}
	}
	return true
}

// parameter reports the beginning of name=, as behind the & of a query.
func parameter(s string) bool {
	n := span(s[:min(len(s), nameMax)], 0, dotted)
	return n > 0 && n < len(s) && s[n] == '='
}

// lastName is a name without what it is a member of.
func lastName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
