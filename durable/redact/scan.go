package redact

import (
	"strings"

	"github.com/waybill/waybill/durable/redact/blob"
	"github.com/waybill/waybill/durable/redact/view"
)

// The scan is one pass from left to right. At a start byte, tables and regular expressions that
// are anchored there decide; none searches ahead, so that a hostile text cannot make the scan
// quadratic. TestHostileTextIsLinear counts the reads.

// scanner is one pass over a text. Its methods return the offset from which to continue.
type scanner struct {
	text    string // what is read: the source without signs that are not shown, and decoded
	source  *view.View
	encoded bool // only what was decoded is read as names and values
	counts  Counts
	out     []byte // nil until the first replacement
	copied  int    // the source before it is in out
	read    int    // the text before it is in out

	pending          pendingSecret // a secret ahead of the position, if to > 0
	line             command       // the command at the position
	noJWTBefore      int           // no run that begins before it is a JWT
	markerEndsBefore int           // every value that begins before it ends at a marker
	lastRun          run           // of the bytes of tokens
	keyType          run           // from the last member kty to the next one
}

// run is where a run of bytes begins and ends.
type run struct{ from, to int }

// runAt returns the run of the bytes of tokens around i. It is read once for all offsets in it.
func (sc *scanner) runAt(i int) run {
	if r := &sc.lastRun; i < r.from || i >= r.to {
		*r = run{from: i, to: span(sc.text, i, splitByte)}
		for r.from > 0 && splitByte[sc.text[r.from-1]] {
			r.from--
		}
		countReads(i - r.from)
	}
	return sc.lastRun
}

// pendingSecret is a secret that was found ahead of the position. The text before it, such as the
// user of a URL, is scanned first and may contain another secret.
type pendingSecret struct {
	from, to int
	rule     Rule
}

// wordStarts are the first two bytes of the words that the scanner reads: a JWT, authentication
// schemes, the names of sentences about secrets, and the beginning of an entry of netrc.
var wordStarts = func() (starts []string) {
	starts = append(starts, "ey")
	for _, w := range []string{"be", "ba", "pa", "ap", "ac", "to", "se", "cr", "id", "ma", "de", "re"} {
		upper := strings.ToUpper(w)
		starts = append(starts, w, upper[:1]+w[1:], upper)
	}
	return starts
}()

// run scans the whole text and returns the result.
func (sc *scanner) run() string {
	s, starts := sc.text, &table().starts
	for i := 0; i < len(s); {
		end := len(s)
		if sc.pending.to > 0 {
			end = sc.pending.from // do not skip past the beginning of the secret
		}
		// The last byte has no second one: it is looked up by scanAt.
		for last := min(end, len(s)-1); i < last && starts[int(s[i])<<8|int(s[i+1])] == 0; {
			i++
		}
		if i < end {
			i = sc.scanAt(i)
		} else if sc.pending.to > 0 {
			// Another secret that was replaced on the way may overlap the beginning of this one.
			if d := sc.pending; i < d.to {
				i = sc.replace(i, sc.whole(i, d.to), d.rule)
			}
			sc.pending = pendingSecret{}
		}
	}
	if sc.out == nil { // nothing was replaced: no copy
		return sc.source.Text
	}
	return string(append(sc.out, sc.source.Text[sc.copied:]...))
}

// schedule records a secret ahead of the position. While one is pending, further ones are ignored.
func (sc *scanner) schedule(from, to int, r Rule) {
	if to > from && sc.pending.to == 0 {
		sc.pending = pendingSecret{from: from, to: to, rule: r}
	}
}

// scanAt handles the byte at i, with which something may begin, and returns the offset from which
// to continue.
func (sc *scanner) scanAt(i int) int {
	s := sc.text
	countReads(1)
	b := table().find(s, i)
	if b == nil {
		return i + 1
	}
	if b.infix != nil {
		if from, to, r := sc.infixAt(i, b); to > i {
			return sc.replace(from, to, r)
		}
	}
	if b.noun && !sc.encoded {
		foreignSentence(sc, i)
	}
	if b.sign {
		return sc.signAt(i)
	}
	if i > 0 && word[s[i-1]] && !escapeEnds(s, i) {
		return i + 1 // in the middle of a word
	}
	if to, f, r := sc.formAt(i, b); to > 0 {
		if f != nil && f.Open {
			i = f.secretAt(s, i)
		}
		return sc.replace(i, to, r)
	}
	if b.word {
		return sc.wordAt(i, b)
	}
	return i + 1
}

// signAt handles a sign that begins something or separates a name from its value.
func (sc *scanner) signAt(i int) int {
	s := sc.text
	switch s[i] {
	case '[':
		return i + max(1, marker(s[i:])) // the text of a marker is not scanned
	case ':', '=':
		if sc.encoded && !sc.source.DecodedAt(i) {
			return i + 1 // it was read before
		}
		if strings.HasPrefix(s[i:], "://") {
			sc.url(i + len("://"))
			return i + 1
		}
		if sc.pending.to > 0 && sc.pending.from == i+1 {
			return i + 1 // the password of a URL is pending: its user may be called token
		}
		// The usual case: a name, a sign, and a value that begins behind it.
		n := nameBefore(s, signBegins(s, i))
		if to := sc.structure(i, n); to > 0 {
			return to
		}
		if !SecretName(n.name) {
			if from, to := namedKey(sc, i, n); to > from {
				return sc.replace(from, to, NamedSecret)
			}
			sc.pair(i, n)
			if i > 0 && s[i] == ':' && (s[i-1] >= 0x80 || letter[s[i-1]] || blank[s[i-1]]) && !n.quoted && !sc.encoded {
				foreign(sc, i, 1)
			}
		} else if from, to := sc.named(i, n); to > from {
			return sc.replace(from, sc.whole(from, to), NamedSecret)
		}
	case ' ', '|', '?':
		if !sc.encoded {
			operator(sc, i)
		}
	case '(':
		if !sc.encoded {
			call(sc, i)
		}
	case fullColon[0]:
		if !sc.encoded && strings.HasPrefix(s[i:], fullColon) {
			foreign(sc, i, len(fullColon))
		}
	case ',', '>':
		if !sc.encoded {
			sc.argumentOrElement(i)
		}
	case '-':
		if to := pem(s, i); to > i {
			return sc.replace(i, to, PrivateKey)
		}
		if !sc.encoded {
			sc.flag(i)
		}
	}
	return max(i+1, sc.read)
}

// wordAt handles a word that may begin a sentence about a secret, or a credential with its scheme.
func (sc *scanner) wordAt(i int, b *bucket) int {
	s := sc.text
	first := s[i] | ' ' // in lower case
	if first == 'b' {
		if from, to := bearer(s, i); to > from {
			return sc.replace(from, sc.whole(from, to), Bearer)
		}
	}
	if first == 'b' || first == 'a' {
		if from, to := basic(s, i); to > from {
			return sc.replace(from, to, Basic)
		}
	}
	if sc.encoded {
		return i + 1
	}
	if to := sc.netrc(i); to > 0 {
		return to
	}
	if len(b.lines) > 0 && commandLine(sc, i, b.lines) {
		return i + 1
	}
	if first == 's' && (hasFold(s[i:], "set") || hasFold(s[i:], "securestring")) || first == 'p' && hasFold(s[i:], "putenv") {
		assigned(sc, i)
	}
	sc.sentence(i)
	return i + 1
}

// replace appends the text up to from and the marker of r, and returns to.
func (sc *scanner) replace(from, to int, r Rule) int {
	sc.line.advance(sc.text, from)
	sc.line.pos = to // a secret contains no commands
	source := sc.source
	sc.out = append(append(sc.out, source.Text[sc.copied:source.Begin(from)]...), Marker(r)...)
	sc.copied, sc.read = source.End(to), to
	sc.counts.add(r, 1)
	return to
}

// tokenAt returns the end of the token or JWT that begins at i, also where it continues on the next
// line; 0 where there is none.
func (sc *scanner) tokenAt(i int, b *bucket) (to int, r Rule) {
	to, _, r = sc.formAt(i, b)
	return to, r
}

// formAt is tokenAt, with the form of the token, which is nil for a JWT.
func (sc *scanner) formAt(i int, b *bucket) (to int, f *form, r Rule) {
	s := sc.text
	for k := range b.forms {
		f := &b.forms[k]
		if !strings.HasPrefix(s[i:], f.prefix) {
			continue
		}
		if to := f.end(s, i); to > 0 {
			return max(to, f.split(s, i, sc.runAt(i).to, to)), f, ruleOf(f.Row)
		}
	}
	for k := range b.forms {
		f := &b.forms[k]
		// The line may also break inside a long prefix, such as that of a webhook.
		if strings.HasPrefix(s[i:], f.prefix[:min(len(f.prefix), splitPrefix)]) {
			if to := f.split(s, i, sc.runAt(i).to, 0); to > 0 && !blob.AfterDigest(s, i) && !blob.Contains(s, i, to) {
				return to, f, ruleOf(f.Row)
			}
		}
	}
	if s[i] == 'e' && b.word {
		to = sc.jwt(i)
	}
	return to, nil, JWT
}

// whole returns the end of a secret that was found at from by its name: that of the token with which
// it begins, where this one is longer, or of the line that continues it.
func (sc *scanner) whole(from, to int) int {
	s := sc.text
	if from == len(s) {
		return to
	}
	if b := table().find(s, from); b != nil {
		if end, _ := sc.tokenAt(from, b); end >= to {
			return end
		}
	}
	if v := s[from:min(to, from+classifiedMax)]; len(v) < 16 || !keyPiece(v) || sc.runAt(from).to < to {
		return to
	}
	next := joint(s, to)
	if next == 0 || isToken(s, next) {
		return to
	}
	end := span(s[:min(len(s), next+splitMax)], next, splitByte)
	if !keyPiece(s[next:end]) || !lineEnds.MatchString(s[end:min(len(s), end+escapeMax)]) && !endsPiece(s, end) {
		return to
	}
	return end
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

// escapeBytes returns how many bytes at i, at the beginning of a run of letters and digits, are those
// of an escape such as \n or %20.
func escapeBytes(s string, i int) int {
	switch {
	case i == 0:
	case s[i-1] == '\\' && escapeEnds(s, i+1):
		return 1
	case s[i-1] == '%' && i+2 <= len(s) && escapeEnds(s, i+2):
		return 2
	}
	return 0
}
