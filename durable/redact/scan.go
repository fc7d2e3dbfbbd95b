package redact

import "strings"

// The scan goes from left to right once. Regular expressions would be shorter to
// write, but they start over at each candidate, and text that is made to be slow is
// text that somebody will send; here every byte is looked at a bounded number of times.

// scanner is one pass over a text.
type scanner struct {
	text   string
	counts Counts
	out    []byte
	copied int // text before it is in out

	due       due     // a secret further on that is known already
	line      command // what is called where the scan has come to
	jwtDead   int     // no run that begins before it can be a JWT
	valueDead int     // no value that begins before it ends otherwise than at a marker
}

// due is a secret that was found before its place was reached. What stands before it, the
// user of a URL for one, is looked at first.
type due struct {
	from, to int
	rule     Rule
}

// Bytes that something may begin with, or that part a name from its value.
var hot = func() (t [256]bool) {
	for _, c := range []byte("sAxgceaBb-:=[") {
		t[c] = true
	}
	return t
}()

func (sc *scanner) run() string {
	s := sc.text
	for i := 0; i < len(s); {
		end := len(s)
		if sc.due.to > 0 {
			if i >= sc.due.from {
				i = sc.take(i)
				continue
			}
			end = sc.due.from
		}
		for i < end && !hot[s[i]] {
			i++
		}
		if i < end {
			i = sc.at(i)
		}
	}
	if sc.out == nil {
		return s
	}
	return string(append(sc.out, s[sc.copied:]...))
}

// take takes out what is due at i. A secret that was met on the way may reach into it.
func (sc *scanner) take(i int) int {
	d := sc.due
	sc.due = due{}
	if i >= d.to {
		return i
	}
	return sc.replace(max(i, d.from), d.to, d.rule)
}

// later notes what is due; what was noted before comes first.
func (sc *scanner) later(from, to int, r Rule) {
	if to > from && sc.due.to == 0 {
		sc.due = due{from: from, to: to, rule: r}
	}
}

// at looks at one place, and gives the next one to look at.
func (sc *scanner) at(i int) int {
	s := sc.text
	look(1)
	switch s[i] {
	case '[':
		if n := marker(s[i:]); n > 0 {
			return i + n
		}
	case ':', '=':
		if strings.HasPrefix(s[i:], "://") {
			sc.url(i + len("://"))
			return i + 1
		}
		if sc.due.to > 0 && sc.due.from == i+1 {
			return i + 1 // the user of a URL may be called token
		}
		name := nameBefore(s, i)
		from, to := sc.named(i, name)
		if to > from {
			return sc.replace(from, to, NamedSecret)
		}
		sc.pair(i, name)
	case '-':
		if strings.HasPrefix(s[i:], pemBegin) {
			if to := pem(s, i); to > i {
				return sc.replace(i, to, PrivateKey)
			}
		}
		sc.flag(i)
	default:
		if wordBegins(s, i) {
			return sc.token(i)
		}
	}
	return i + 1
}

func (sc *scanner) replace(from, to int, r Rule) int {
	sc.line.reach(sc.text, from)
	sc.line.pos = to // what was taken out calls nothing
	sc.out = append(append(sc.out, sc.text[sc.copied:from]...), Marker(r)...)
	sc.copied = to
	sc.counts.hit(r)
	return to
}

// token tries the secrets that begin with letters of their own, at the start of a word.
func (sc *scanner) token(i int) int {
	s := sc.text
	rest := s[i:]
	for _, f := range families[rest[0]] {
		if strings.HasPrefix(rest, f.start) {
			if to := f.end(s, i, i+len(f.start)); to > 0 {
				return sc.replace(i, to, f.rule)
			}
		}
	}
	switch rest[0] {
	case 'e':
		if to := sc.jwt(i); to > 0 {
			return sc.replace(i, to, JWT)
		}
	case 'b', 'B':
		if from, to := bearer(s, i); to > from {
			return sc.replace(from, to, Bearer)
		}
		if from, to := basic(s, i); to > from {
			return sc.replace(from, to, Basic)
		}
	}
	return i + 1
}

// wordBegins reports that no word goes on at i. The end of an escape is none: a text
// inside of JSON has \n where another line begins, and a query has %20.
func wordBegins(s string, i int) bool {
	if i == 0 || !word(s[i-1]) {
		return true
	}
	return escapeEnds(s, i)
}

// escapeEnds reports that \n, %20 or \u0026 ends before i.
func escapeEnds(s string, i int) bool {
	switch {
	case i >= 2 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0:
		return true
	case i >= 3 && s[i-3] == '%' && hexDigit(s[i-2]) && hexDigit(s[i-1]):
		return true
	case i >= 6 && s[i-6] == '\\' && s[i-5] == 'u':
		return span(s[:i], i-4, hexDigit) == i
	}
	return false
}

// Kinds of bytes.

func letter(c byte) bool   { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func digit(c byte) bool    { return c >= '0' && c <= '9' }
func hexDigit(c byte) bool { return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }
func upper(c byte) bool    { return c >= 'A' && c <= 'Z' }
func alnum(c byte) bool    { return letter(c) || digit(c) }
func word(c byte) bool     { return alnum(c) || c == '_' }
func dashed(c byte) bool   { return word(c) || c == '-' } // base64url as well
func dotted(c byte) bool   { return dashed(c) || c == '.' }
func base64Byte(c byte) bool {
	return alnum(c) || c == '+' || c == '/' || c == '='
}
func bearing(c byte) bool {
	return dotted(c) || c == '~' || c == '+' || c == '/' || c == '=' || c == '%'
}
func blank(c byte) bool { return c == ' ' || c == '\t' }
func space(c byte) bool { return blank(c) || c == '\n' || c == '\r' }

// span is where the run of one kind of byte that begins at i ends.
func span(s string, i int, is func(byte) bool) int {
	from := i
	for i < len(s) && is(s[i]) {
		i++
	}
	look(i - from + 1)
	return i
}

// looks counts bytes that were looked at, where a test wants to know; each loop without
// a bound of its own says how far it went.
var looks *int

func look(n int) {
	if looks != nil {
		*looks += n
	}
}
