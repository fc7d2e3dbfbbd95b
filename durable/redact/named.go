package redact

import "strings"

// named returns the value that follows the colon or equals sign at i, if the name n before it is a
// secret's. It returns 0, 0 where there is no secret to replace.
func (sc *scanner) named(i int, n nameContext) (from, to int) {
	s := sc.text
	if n.name == "" || !SecretName(n.name) {
		return 0, 0
	}
	b := bareContext{nameContext: n, equals: s[i] == '='}
	from = i + 1
	switch {
	case from < len(s) && s[from] == s[i]:
		return 0, 0 // a comparison ==, or a qualified name ::
	case from < len(s) && (s[i] == '=' && s[from] == '>' || s[i] == ':' && s[from] == '='):
		b.code = b.code || s[from] == '='
		b.equals = true
		from++
	}
	gap := from
	// Markdown may put emphasis between the two: **Password:** `x`.
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
	if open := openQuote(s, from); open > 0 {
		return quoted(s, from, open)
	}
	// In password: str = "x" the value is behind the type, so it is only scheduled here.
	if typed := typedQuote(s, from); typed > 0 && !b.equals && !b.schemed {
		from, to := quoted(s, typed, openQuote(s, typed))
		sc.schedule(from, to, NamedSecret)
		return 0, 0
	}
	return sc.bare(from, b)
}

// typedQuote returns the offset of the quote behind a type and an equals sign, as in
// password: str = "x", and 0 where there is none.
func typedQuote(s string, i int) int {
	// A type: an identifier, possibly qualified, generic, an array, a pointer or optional.
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
	if at := span(s, end+1, blank); openQuote(s, at) > 0 {
		return at
	}
	return 0
}

// scheme skips an authentication scheme such as Bearer, which precedes the credential.
func scheme(s string, i int) int {
	for _, w := range []string{"Bearer ", "Basic ", "Token ", "Digest ", "ApiKey "} {
		if len(s)-i > len(w) && strings.EqualFold(s[i:i+len(w)], w) {
			return span(s, i+len(w), func(c byte) bool { return c == ' ' })
		}
	}
	return i
}

// openQuote returns the length of the quote at i, including the backslashes that escape it inside
// another quoted text; 0 where there is no quote.
func openQuote(s string, i int) int {
	n := 0
	for n < 3 && i+n < len(s) && s[i+n] == '\\' {
		n++
	}
	if i+n < len(s) && (s[i+n] == '"' || s[i+n] == '\'') {
		return n + 1
	}
	return 0
}

// closeQuote returns where the quoted text that begins at from ends; open is the length of its
// opening quote. whole is false where the line ends before a closing quote.
func closeQuote(s string, from, open int) (to int, whole bool) {
	quote := s[from-1 : from]
	for to = from; ; to++ {
		n := strings.IndexAny(s[to:], quote+"\n")
		if countReads(max(n, 0) + 1); n < 0 {
			countReads(len(s) - to)
			return len(s), false
		}
		if to += n; s[to] == '\n' {
			return to, false
		}
		// The closing quote has the same number of backslashes as the opening one.
		slashes := 0
		for to-slashes > from && s[to-slashes-1] == '\\' {
			slashes++
		}
		countReads(slashes)
		if slashes == open-1 || open > 1 && slashes < open-1 || slashes%2 == 0 && open == 1 {
			return to - slashes*min(1, open-1), true
		}
	}
}

// quoted returns the content of the quotes at i, and the rest of the line where no quote closes
// them. It returns 0, 0 for content that is not a secret.
func quoted(s string, i, open int) (from, to int) {
	from = i + open
	to, whole := closeQuote(s, from, open)
	in := s[from:to]
	if strings.TrimSpace(in) == "" || strings.Contains(in, markerStart) || placeholder(in) || closesName(in, whole) {
		return 0, 0
	}
	return from, to
}

// closesName reports that the quote before in closes a string that ends in the name, and does not
// open the value: "token=" + token, input("Password: ").
func closesName(in string, whole bool) bool {
	next := strings.TrimLeft(in, " \t")
	if !whole && len(next) < len(in) {
		return true
	}
	// An operator that joins strings, or the call of a method.
	if next[0] == '+' || next[0] == '%' || next[0] == '.' {
		return len(next) < len(in) || len(next) > 1 && (blank(next[1]) || next[0] == '.' && letter(next[1]) &&
			strings.Contains(next, "("))
	}
	// The end of an argument or a statement, the arrow of a map, or a shell operator.
	return strings.IndexByte(",)]};:", next[0]) >= 0 && (!whole || len(next) < 3 || !alnum(next[1])) ||
		strings.HasPrefix(next, "=>") || next[0] == '&' && len(next) < len(in)
}

// bareContext describes the context of a value without quotes.
type bareContext struct {
	nameContext
	equals  bool // name=value, not name: value
	spaced  bool // white space precedes it
	schemed bool // a scheme such as Bearer precedes it
}

// bareByte reports a byte that may be part of a value without quotes.
func bareByte(c byte) bool {
	return c > ' ' && c != '"' && c != '\'' && c != '`' && c != '<' && c != '>' && c != 0x7f
}

// bare returns the value without quotes that begins at from, and 0, 0 where it is not a secret.
// Behind a colon the value must look like a secret: in the sentence "the token: is sent" the
// next word is not one.
func (sc *scanner) bare(from int, b bareContext) (_, to int) {
	s := sc.text
	to, ok := sc.bareEnd(from)
	if !ok {
		return 0, 0
	}
	v := s[from:to]
	if len(v) > classifiedMax {
		// No word, path or expression is that long. A secret inside a rejected value is found
		// from the next name in it.
		if b.equals || secretLike(v) {
			return from, to
		}
		return 0, 0
	}
	switch {
	// A description, a word about schemes, the name once more, or an expression.
	case nonValue(v), b.schemed && (SecretName(v) || schemeWords[strings.ToLower(v)]),
		strings.EqualFold(v, lastName(b.name)), codeReference(s, from, to, b):
		return 0, 0
	// Behind a colon: a structure, a URL, or a number with a unit.
	case !b.equals && (strings.IndexByte("[{&", v[0]) >= 0 && !b.quoted || strings.Contains(v, "://") ||
		isCount(s, to, v)):
		return 0, 0
	// A credential with a scheme that ends the line or the quoted text.
	case b.schemed && (endsLine(s, to) || to < len(s) && strings.IndexByte("\"'`", s[to]) >= 0):
		return from, to
	// name=value, a value unlike a word, or a setting that is alone on its line.
	case b.equals, secretLike(v), b.startsLine && endsLine(s, to) && !strings.ContainsAny(v, "/("):
		return from, to
	}
	return 0, 0
}

// schemeWords is the set of words that follow Bearer or Basic in sentences about them.
var schemeWords = wordSet("auth authentication authorization scheme schemes header headers tokens credentials")

// bareEnd returns where the value at from ends: at white space, a quote, the next parameter of a
// query or an escaped line end, and before closing punctuation. ok is false for an empty value,
// a placeholder, and a value that contains a marker.
func (sc *scanner) bareEnd(from int) (to int, ok bool) {
	s := sc.text
	if from < sc.markerEndsBefore || templateBegins(s[from:]) {
		return 0, false
	}
scan:
	for to = from; to < len(s) && bareByte(s[to]); to++ {
		switch c := s[to]; {
		case c == '[' && marker(s[to:]) > 0:
			countReads(to - from)
			sc.markerEndsBefore = to // values that begin later in this run end at the same marker
			return 0, false
		case (c == '&' || c == ';' || c == ',') && parameter(s[to+1:]):
			break scan
		case c == '\\' && to+1 < len(s) && (s[to+1] == 'n' || s[to+1] == 'r' || strings.HasPrefix(s[to:], `\u0026`)):
			break scan
		}
	}
	countReads(to - from)
	for to > from && strings.IndexByte(".,;:?)]}\\", s[to-1]) >= 0 {
		to-- // an exclamation mark ends more passwords than sentences with one
	}
	return to, to > from
}

// secretLike reports a value that does not look like a word: it has digits, capitals behind the
// first letter, or signs that sentences do not have.
func secretLike(v string) bool {
	v = strings.TrimRight(v, "!") // of a sentence
	return len(v) >= 3 && (strings.ContainsAny(v, "0123456789!@#$%^&*+=_~|:;?[]{}") || innerUpper(v))
}

// endsLine reports that only closing punctuation follows on the line.
func endsLine(s string, i int) bool {
	for ; i < len(s) && s[i] != '\n'; i++ {
		countReads(1)
		if s[i] == '\\' && i+1 < len(s) && (s[i+1] == 'n' || s[i+1] == 'r') {
			return true
		}
		if strings.IndexByte(" \t\r.,;:!?)]}*`\\", s[i]) < 0 || marker(s[i:]) > 0 {
			return false
		}
	}
	return true
}

// parameter reports that s begins with name=, as behind the & of a query.
func parameter(s string) bool {
	n := span(s[:min(len(s), nameMax)], 0, dotted)
	return n > 0 && n < len(s) && s[n] == '='
}

// lastName returns the last member of a dotted name.
func lastName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
