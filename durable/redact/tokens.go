package redact

import (
	"slices"
	"strings"
	"sync"

	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/redact/blob"
	"github.com/waybill/waybill/durable/redact/forms"
	"github.com/waybill/waybill/durable/redact/words"
	"github.com/waybill/waybill/durable/sorting"
)

// ruleOf returns the rule of a row.
func ruleOf(row forms.Row) Rule {
	if row.Rule != "" {
		return Rule(row.Rule)
	}
	return Rule(row.ID)
}

// form is a row prepared for matching, with one of its prefixes.
type form struct {
	forms.Row
	prefix        string
	before, parts []forms.Part
	bounded       bool // the last part has a bound
}

// formTable holds the forms by the first two bytes of their prefix.
type formTable struct {
	starts [1 << 16]uint16 // an index into the buckets; 0: nothing begins with these bytes
	bucket []bucket
}

// bucket holds what may begin with two bytes.
type bucket struct {
	infix []form // forms whose prefix is in the middle of a token
	forms []form
	sign  bool          // the first byte is a sign that the scanner reads
	word  bool          // a word that the scanner reads may begin here
	noun  bool          // a noun of another language may be around it
	lines []*words.Line // lines that may begin here
}

// fullColon is the colon in Chinese and Japanese texts.
const fullColon = "\uff1a"

// table returns the prepared table. It is built on its first use: a process that redacts nothing
// does not need it.
var table = sync.OnceValue(func() *formTable {
	t := &formTable{bucket: append(make([]bucket, 0, 1<<10), bucket{}, bucket{sign: true})}
	const signs = ":=-[,>"
	for i := range len(signs) << 8 { // with each second byte
		t.starts[int(signs[i>>8])<<8|i&0xff] = signAlone
	}
	for _, start := range []string{" \"", " '", "||", "??", "| ", "(\"", "('", fullColon} {
		t.at(start[0], start[1]).sign = true
	}
	for _, start := range wordStarts {
		t.at(start[0], start[1]).word = true
	}
	for k := range words.Lines {
		l := &words.Lines[k]
		for _, w := range []string{l.Word, strings.ToUpper(l.Word), strings.ToUpper(l.Word[:1]) + l.Word[1:]} {
			b := t.at(w[0], w[1])
			b.word = true
			if !slices.Contains(b.lines, l) {
				b.lines = append(b.lines, l)
			}
		}
	}
	for two := range words.ForeignNouns {
		t.at(two[0], two[1]).noun = true
	}
	for _, row := range forms.Rows() {
		before, parts := forms.Parts(row.Before), forms.Parts(row.Parts)
		bounded := len(parts) == 0 || parts[len(parts)-1].In == nil || parts[len(parts)-1].Most > 0
		for _, prefix := range strings.Fields(row.Prefix) {
			f := form{Row: row, prefix: prefix, before: before, parts: parts, bounded: bounded}
			b := t.at(prefix[0], prefix[1])
			if len(before) > 0 {
				b.infix = append(b.infix, f)
			} else {
				b.forms = append(b.forms, f)
			}
		}
	}
	for _, b := range t.bucket { // sk-or-v1- before sk-
		sorting.Stable(b.forms, func(x, y form) int { return len(y.prefix) - len(x.prefix) })
	}
	return t
})

const signAlone = 1 // the index of the bucket that all pairs share of which only the sign is known

// at returns the bucket of two bytes, which it makes. It is of no other pair.
func (t *formTable) at(first, second byte) *bucket {
	i := &t.starts[int(first)<<8|int(second)]
	if *i <= signAlone {
		t.bucket = append(t.bucket, t.bucket[*i]) // which has no forms and lines
		*i = uint16(len(t.bucket) - 1)
	}
	return &t.bucket[*i]
}

// find returns the bucket of the two bytes at i, nil where nothing begins with them.
func (t *formTable) find(s string, i int) *bucket {
	second := byte(0)
	if i+1 < len(s) {
		second = s[i+1]
	}
	if n := t.starts[int(s[i])<<8|int(second)]; n > 0 {
		return &t.bucket[n]
	}
	return nil
}

// formAt returns the form of the token at i, and where the token ends: 0 where there is none.
func formAt(s string, i int) (f *form, to int) {
	b := table().find(s, i)
	if b == nil {
		return nil, 0
	}
	for k := range b.forms {
		f := &b.forms[k]
		if strings.HasPrefix(s[i:], f.prefix) {
			if to := f.end(s, i); to > 0 {
				return f, to
			}
		}
	}
	return nil, 0
}

// isToken reports a token of one of the forms at i.
func isToken(s string, i int) bool {
	_, to := formAt(s, i)
	return to > 0
}

// end returns where the token whose prefix is at from ends, 0 where it is none. A dot at the end
// of a sentence is not part of it.
func (f *form) end(s string, from int) int {
	body := from + len(f.prefix)
	if f.Strict && from > 0 && pathByte[s[from-1]] && !escapeEnds(s, from) || f.Look == forms.Key && !keyLike(s, from, body) ||
		blob.AfterDigest(s, from) {
		return 0
	}
	to := body
	for n, p := range f.parts {
		last := n == len(f.parts)-1
		// A run without a bound is read once only: what would refuse it is decided before.
		if last && !f.bounded {
			near := span(s[:min(len(s), to+blob.Longest)], to, p.In)
			if !f.Look.Match(s[body:near]) || len(f.prefix) <= blob.Prefix && blob.TooLong(s[from:near]) {
				return 0
			}
		}
		if to = partEnd(p, s, to, last); to == 0 {
			return 0
		}
	}
	if len(f.before) == 0 && to == body || f.bounded && to < len(s) &&
		(word[s[to]] || f.Strict && continuesName(s, to) || encodedWord.MatchString(s[to:min(len(s), to+3)])) {
		return 0
	}
	if f.bounded && !f.Look.Match(s[body:to]) || dummyBody(s[body:min(to, body+classifiedMax)]) {
		return 0
	}
	if blob.Contains(s, from, to) {
		return 0
	}
	// The padding of base64 may be percent-encoded in a text that is not.
	if n := len(f.parts); n > 0 && f.parts[n-1].In != nil && f.parts[n-1].In['='] {
		if padding := encodedPadding.FindString(s[to:min(len(s), to+escapeMax)]); padding != "" {
			to = span(s, to+len(padding), f.parts[n-1].In) // a checksum may follow
		}
	}
	return to
}

// secretAt returns where the last part of the token whose prefix is at i begins.
func (f *form) secretAt(s string, i int) int {
	from := i + len(f.prefix)
	for _, p := range f.parts[:len(f.parts)-1] {
		to := partEnd(p, s, from, false)
		if to == 0 { // a line break is before it
			break
		}
		from = to
	}
	return from
}

// dummyBody reports the bytes behind a prefix in documentation: xxxx, or your-token.
func dummyBody(body string) bool {
	return len(body) > 3 && (strings.Trim(body, "xX-") == "" || words.Yours.MatchString(body))
}

// encodedWord matches a byte of a word that is percent-encoded: the token is read once it is decoded.
var encodedWord = pattern.New(`^%(?:2[dD]|5[fF]|[46][1-9a-fA-F]|[57][0-9aA])`)

var encodedPadding = pattern.New(`^(?:%3[dD]){1,2}`)

// partEnd returns where the part that begins at i ends, 0 where it does not.
func partEnd(p forms.Part, s string, i int, last bool) int {
	if p.In == nil {
		if strings.HasPrefix(s[i:], p.Text) {
			return i + len(p.Text)
		}
		return 0
	}
	near := s
	switch {
	case p.Most > 0 && last: // one more byte shows that the run is longer
		near = s[:min(len(s), i+p.Most+1)]
	case p.Most > 0:
		near = s[:min(len(s), i+p.Most)]
	}
	to := span(near, i, p.In)
	if last {
		if p.Most > 0 && to-i > p.Most {
			return 0
		}
		to = trimDots(s, i, to)
	}
	if p.Word == percentWord {
		to = i + len(encodedSigns.FindString(s[i:to]))
	}
	if to-i < p.Least {
		return 0
	}
	return to
}

// percentWord is the alphabet of tokens that are stored percent-encoded, and encodedSigns matches
// them: other encoded characters end a token.
const percentWord = "percent"

var encodedSigns = pattern.New(`^(?:[A-Za-z0-9_+/=-]|%(?:2[bBfF]|3[dD]))*`)

// pathByte is the class of the bytes with which a path or a name continues before a token.
var pathByte = classOf(letters + digits + "_-./\\+~@$")

// continuesName reports that a name, a path or a number continues at i.
func continuesName(s string, i int) bool {
	switch s[i] {
	case '-', '/', '+', '@', '(':
		return true
	case '.':
		return i+1 < len(s) && alnum[s[i+1]]
	}
	return false
}

// infixAt returns the token in the middle of which the prefix at i is; to is 0 where there is none.
func (sc *scanner) infixAt(i int, b *bucket) (from, to int, r Rule) {
	s, floor := sc.text, sc.read
	for k := range b.infix {
		f := &b.infix[k]
		if !strings.HasPrefix(s[i:], f.prefix) {
			continue
		}
		from := f.begin(s, i)
		if from >= floor {
			if to = f.end(s, i); to == 0 {
				from = -1
			}
		}
		if from >= floor && to > 0 && !f.bounded { // the next line may continue it
			line := sc.runAt(i)
			if begin, end := f.splitInfix(s, i, floor, line); begin == from && to == line.to && end > to && keyPiece(s[joint(s, to):end]) {
				to = end
			}
		}
		if from < floor || to == 0 {
			if from, to = f.splitInfix(s, i, floor, sc.runAt(i)); to == 0 {
				continue
			}
		}
		if f.Open {
			from = f.secretAt(s, i)
		}
		return from, to, ruleOf(f.Row)
	}
	return 0, 0, ""
}

// begin returns where the token with the infix at i begins, -1 where the bytes before it do not fit.
func (f *form) begin(s string, i int) int {
	from := i
	for n := len(f.before) - 1; n >= 0; n-- {
		p := f.before[n]
		if p.In == nil {
			if !strings.HasSuffix(s[:from], p.Text) {
				return -1
			}
			from -= len(p.Text)
			continue
		}
		// The first part has no more bytes than its most; the others have exactly as many.
		most := p.Most
		if n == 0 {
			most++
		}
		start := from
		for start > 0 && from-start < most && p.In[s[start-1]] {
			start--
		}
		countReads(from - start)
		if n == 0 {
			start += escapeBytes(s, start)
		}
		if from-start < p.Least || from-start > p.Most {
			return -1
		}
		from = start
	}
	if from > 0 && word[s[from-1]] && !escapeEnds(s, from) && !(f.before[0].Word == "digit" && strings.HasSuffix(s[:from], "/bot")) {
		return -1
	}
	return from
}

// trimDots returns where s[from:to] ends without dots at its end.
func trimDots(s string, from, to int) int { return from + len(strings.TrimRight(s[from:to], ".")) }
