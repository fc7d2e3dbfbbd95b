package redact

import "strings"

// The scan is one pass from left to right. At a start byte, tables and regular expressions that
// are anchored there decide; none searches ahead, so that a hostile text cannot make the scan
// quadratic. TestHostileTextIsLinear counts the reads.

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

// startBytes are the bytes with which a secret may begin, or which separate a name from its
// value. All other bytes are skipped without a call.
var startBytes = func() *class {
	first := "-:=[" + "ebB" // JWT, Bearer, Basic
	for _, f := range forms {
		first += f.prefix[:1]
	}
	return classOf(first)
}()

// run scans the whole text and returns the result.
func (sc *scanner) run() string {
	s := sc.text
	for i := 0; i < len(s); {
		end := len(s)
		if sc.pending.to > 0 {
			end = sc.pending.from // do not skip past the beginning of the secret
		}
		for i < end && !startBytes[s[i]] {
			i++
		}
		if i < end {
			i = sc.scanAt(i)
		} else if sc.pending.to > 0 {
			// Another secret that was replaced on the way may overlap the beginning of this one.
			if d := sc.pending; i < d.to {
				i = sc.replace(i, d.to, d.rule)
			}
			sc.pending = pendingSecret{}
		}
	}
	if sc.out == nil { // nothing was replaced: no copy
		return s
	}
	return string(append(sc.out, s[sc.copied:]...))
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
		return i + max(1, marker(s[i:])) // the text of a marker is not scanned
	case ':', '=':
		if strings.HasPrefix(s[i:], "://") {
			sc.url(i + len("://"))
			return i + 1
		}
		if sc.pending.to > 0 && sc.pending.from == i+1 {
			return i + 1 // the password of a URL is pending: its user may be called token
		}
		// The usual case: a name, a sign, and a value that begins behind it.
		n := nameBefore(s, i)
		if !SecretName(n.name) {
			sc.pair(i, n)
		} else if from, to := sc.named(i, n); to > from {
			return sc.replace(from, to, NamedSecret)
		}
	case '-':
		if to := pem(s, i); to > i {
			return sc.replace(i, to, PrivateKey)
		}
		sc.flag(i)
	default:
		// A letter with which a token, a JWT, Bearer or Basic begins.
		if i > 0 && word[s[i-1]] && !escapeEnds(s, i) {
			break // in the middle of a word
		}
		if from, to, r := sc.token(i); to > from {
			return sc.replace(from, to, r)
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
	sc.counts.add(r, 1)
	return to
}

// token returns the secret that begins with a fixed prefix at i, the start of a word; to is 0
// where there is none.
func (sc *scanner) token(i int) (from, to int, r Rule) {
	if f, to := formAt(sc.text, i); to > 0 {
		return i, to, f.rule
	}
	switch sc.text[i] {
	case 'e':
		return i, sc.jwt(i), JWT
	case 'b', 'B':
		if from, to := bearer(sc.text, i); to > from {
			return from, to, Bearer
		}
		from, to = basic(sc.text, i)
	}
	return from, to, Basic
}

// escapeEnds reports that an escape such as \n, %20 or \u0026 ends before i. Its letters do not
// belong to the word behind it: \n inside JSON separates lines, and %20 inside a query is a space.
func escapeEnds(s string, i int) bool {
	switch {
	case i >= 2 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0:
		return true
	case i >= 3 && s[i-3] == '%' && hexDigit[s[i-2]] && hexDigit[s[i-1]]:
		return true
	}
	return i >= 6 && s[i-6] == '\\' && s[i-5] == 'u' && span(s[:i], i-4, hexDigit) == i
}

// class is a set of bytes. The classes are ASCII: all other bytes separate words.
type class [256]bool

// classOf returns the class of the bytes of a text.
func classOf(bytes string) *class {
	var c class
	for i := range len(bytes) {
		c[bytes[i]] = true
	}
	return &c
}

// visibleBut returns the class of all bytes but white space, control bytes and those of a text.
func visibleBut(bytes string) *class {
	var c class
	for b := range c {
		c[b] = b > ' ' && b != 0x7f && strings.IndexByte(bytes, byte(b)) < 0
	}
	return &c
}

const (
	capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	letters  = "abcdefghijklmnopqrstuvwxyz" + capitals
	digits   = "0123456789"
)

var (
	letter      = classOf(letters)
	digit       = classOf(digits)
	hexDigit    = classOf(digits + "abcdefABCDEF")
	upper       = classOf(capitals)
	upperDigit  = classOf(capitals + digits)
	alnum       = classOf(letters + digits)
	word        = classOf(letters + digits + "_")
	dashed      = classOf(letters + digits + "_-") // base64url as well
	dotted      = classOf(letters + digits + "_-.")
	base32Lower = classOf("abcdefghijklmnopqrstuvwxyz234567")
	blank       = classOf(" \t")
	space       = classOf(" \t\n\r")
)

// span returns where the run of bytes of one class that begins at i ends.
func span(s string, i int, in *class) int {
	from := i
	for i < len(s) && in[s[i]] {
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
