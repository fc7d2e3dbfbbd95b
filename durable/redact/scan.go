package redact

import "strings"

// The scan is one pass from left to right. Regular expressions would be shorter, but they restart
// at each candidate, and a hostile text could make that quadratic. Here every byte is read a
// bounded number of times; TestHostileTextIsLinear counts the reads.

// scanner is one pass over a text. Its methods return the offset from which to continue.
type scanner struct {
	text   string
	counts Counts
	out    []byte // nil until the first replacement
	copied int    // the text before it is in out

	pending          pendingSecret // a secret ahead of the position, if to > 0
	line             command       // the command at the position
	noJWTBefore      int           // no run that begins before it is a JWT
	markerEndsBefore int           // every value that begins before it ends at a marker
}

// pendingSecret is a secret that was found ahead of the position. The text before it, such as the
// user of a URL, is scanned first and may contain another secret.
type pendingSecret struct {
	from, to int
	rule     Rule
}

// startBytes marks the bytes with which a secret may begin, or which separate a name from its
// value. All other bytes are skipped without a call.
var startBytes = func() (t [256]bool) {
	for _, c := range []byte("sAxgceaBb-:=[") {
		t[c] = true
	}
	return t
}()

// run scans the whole text and returns the result.
func (sc *scanner) run() string {
	s := sc.text
	for i := 0; i < len(s); {
		end := len(s)
		if sc.pending.to > 0 {
			if i >= sc.pending.from {
				i = sc.applyPending(i)
				continue
			}
			end = sc.pending.from // do not skip past the beginning of the secret
		}
		for i < end && !startBytes[s[i]] {
			i++
		}
		if i < end {
			i = sc.scanAt(i)
		}
	}
	if sc.out == nil { // nothing was replaced: no copy
		return s
	}
	return string(append(sc.out, s[sc.copied:]...))
}

// applyPending replaces the pending secret at i. Another secret that was replaced on the way may
// overlap its beginning.
func (sc *scanner) applyPending(i int) int {
	d := sc.pending
	sc.pending = pendingSecret{}
	if i >= d.to {
		return i
	}
	return sc.replace(max(i, d.from), d.to, d.rule)
}

// schedule records a secret ahead of the position. While one is pending, further ones are ignored.
func (sc *scanner) schedule(from, to int, r Rule) {
	if to > from && sc.pending.to == 0 {
		sc.pending = pendingSecret{from: from, to: to, rule: r}
	}
}

// scanAt handles the start byte at i, and returns the offset from which to continue.
func (sc *scanner) scanAt(i int) int {
	s := sc.text
	countReads(1)
	switch s[i] {
	case '[':
		// The text of a marker is not scanned.
		if n := marker(s[i:]); n > 0 {
			return i + n
		}
	case ':', '=':
		if strings.HasPrefix(s[i:], "://") {
			sc.url(i + len("://"))
			return i + 1
		}
		if sc.pending.to > 0 && sc.pending.from == i+1 {
			return i + 1 // the password of a URL is pending: its user may be called token
		}
		// The usual case: a name, a sign, and a value that begins behind it.
		name := nameBefore(s, i)
		from, to := sc.named(i, name)
		if to > from {
			return sc.replace(from, to, NamedSecret)
		}
		sc.pair(i, name)
	case '-':
		// The dashes of a PEM block are no flag.
		if strings.HasPrefix(s[i:], pemBegin) {
			if to := pem(s, i); to > i {
				return sc.replace(i, to, PrivateKey)
			}
		}
		sc.flag(i)
	default:
		// A letter with which a token of a family, a JWT, Bearer or Basic begins.
		if wordBegins(s, i) {
			return sc.token(i)
		}
	}
	return i + 1
}

// replace appends the text up to from and the marker of r, and returns to.
func (sc *scanner) replace(from, to int, r Rule) int {
	sc.line.advance(sc.text, from)
	sc.line.pos = to // a secret contains no commands
	sc.out = append(append(sc.out, sc.text[sc.copied:from]...), Marker(r)...)
	sc.copied = to
	sc.counts.hit(r)
	return to
}

// token handles the secrets that begin with a fixed prefix, at the start of a word.
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

// wordBegins reports that a word begins at i. The letters of an escape before it do not belong to
// the word: \n inside JSON separates lines, and %20 inside a query is a space.
func wordBegins(s string, i int) bool {
	if i == 0 || !word(s[i-1]) {
		return true
	}
	return escapeEnds(s, i)
}

// escapeEnds reports that an escape such as \n, %20 or \u0026 ends before i.
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

// Classes of bytes. They are ASCII only: all other bytes separate words.

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

// bearerByte reports a byte of a bearer credential.
func bearerByte(c byte) bool {
	return dotted(c) || c == '~' || c == '+' || c == '/' || c == '=' || c == '%'
}
func blank(c byte) bool { return c == ' ' || c == '\t' }
func space(c byte) bool { return blank(c) || c == '\n' || c == '\r' }

// span returns where the run of bytes of one class that begins at i ends.
func span(s string, i int, is func(byte) bool) int {
	from := i
	for i < len(s) && is(s[i]) {
		i++
	}
	countReads(i - from + 1)
	return i
}

// readCount counts the bytes that were read, while a test has set it. Every loop whose length
// depends on the text adds its length with countReads.
var readCount *int

func countReads(n int) {
	if readCount != nil {
		*readCount += n
	}
}
