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

	jwtDead   int  // no run that begins before it can be a JWT
	valueDead int  // no value that begins before it ends otherwise than at a marker
	noPEMEnd  bool // no "-----END" follows any more
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
		if !hot[s[i]] {
			i++
			continue
		}
		i = sc.at(i)
	}
	if sc.out == nil {
		return s
	}
	return string(append(sc.out, s[sc.copied:]...))
}

// at looks at one place, and gives the next one to look at.
func (sc *scanner) at(i int) int {
	s := sc.text
	switch s[i] {
	case '[':
		if n := marker(s[i:]); n > 0 {
			return i + n
		}
	case ':', '=':
		from, to := sc.named(i)
		if to > from {
			return sc.replace(from, to, NamedSecret)
		}
	case '-':
		if strings.HasPrefix(s[i:], pemBegin) {
			if to := sc.pem(i); to > i {
				return sc.replace(i, to, PrivateKey)
			}
		}
	default:
		if i == 0 || !word(s[i-1]) {
			return sc.token(i)
		}
	}
	return i + 1
}

func (sc *scanner) replace(from, to int, r Rule) int {
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
	}
	return i + 1
}

// Kinds of bytes.

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }
func upper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func alnum(c byte) bool  { return letter(c) || digit(c) }
func word(c byte) bool   { return alnum(c) || c == '_' }
func dashed(c byte) bool { return word(c) || c == '-' } // base64url as well
func dotted(c byte) bool { return dashed(c) || c == '.' }
func bearing(c byte) bool {
	return dotted(c) || c == '~' || c == '+' || c == '/' || c == '='
}

// span is where the run of one kind of byte that begins at i ends.
func span(s string, i int, is func(byte) bool) int {
	for i < len(s) && is(s[i]) {
		i++
	}
	return i
}
