package canon

import (
	"crypto/sha256"
	"math"
	"reflect"
	"strings"

	"github.com/waybill/waybill/durable/limits"
)

// Exact reads canonical text in one pass, directly into structs: no tree is built, and nothing
// is encoded again for a comparison (docs/design.md#json-from-outside). Its methods report
// false where the text differs from what the encoder would write, without a reason; the caller
// then falls back to Parse and Decode, which return one. After a false the position is
// undefined, and the Exact must not be used further.
//
// Strings that it returns share memory with the text, unless it has Words. An Exact is for one goroutine.
type Exact struct {
	text  string
	pos   int
	words *Words
}

// ExactText returns an Exact at the beginning of text.
func ExactText(text string) *Exact { return &Exact{text: text} }

// Words are copies of some strings of earlier texts: most lines of a log have the same few words.
type Words [256]string

// Exact returns an Exact at the beginning of text, which shares no memory with what it returns.
func (w *Words) Exact(text string) *Exact { return &Exact{text: text, words: w} }

// wordMax is the length of a digest, the longest string of which a copy is kept.
const wordMax = len(digestPrefix) + 2*sha256.Size

// of returns a copy of s.
func (w *Words) of(s string) string {
	if s == "" || len(s) > wordMax {
		return strings.Clone(s)
	}
	at := &w[byte(len(s)+3*int(s[0])+5*int(s[len(s)/2])+7*int(s[len(s)-1]))]
	if *at != s {
		*at = strings.Clone(s)
	}
	return *at
}

// Own returns s, which is part of the text, in memory of its own where x has Words.
func (x *Exact) Own(s string) string {
	if x.words == nil {
		return s
	}
	return x.words.of(s)
}

// Literal reports whether s comes next, and consumes it if so. On false nothing is consumed,
// which makes it usable for optional members.
func (x *Exact) Literal(s string) bool {
	if !strings.HasPrefix(x.text[x.pos:], s) {
		return false
	}
	x.pos += len(s)
	return true
}

// Done reports whether all of the text was consumed.
func (x *Exact) Done() bool { return x.pos == len(x.text) }

// Pos returns how many bytes were consumed.
func (x *Exact) Pos() int { return x.pos }

// Text reads a JSON string and returns its value without quotes and escapes.
func (x *Exact) Text() (string, bool) {
	s, ok := x.shared()
	return x.Own(s), ok
}

// shared is Text, in the memory of the text where the string has no escapes.
func (x *Exact) shared() (string, bool) {
	if x.pos == len(x.text) || x.text[x.pos] != '"' {
		return "", false
	}
	start := x.pos
	end, plain, o := stringEnd(x.text, start)
	if o != Canonical {
		return "", false
	}
	x.pos = end
	if !plain { // rare
		p := parser{text: x.text[:end], pos: start}
		return p.escaped(), true
	}
	return x.text[start+1 : end-1], true
}

// Plain reads a string, and reports false for one with escapes. Ids, digests and keys have none.
func (x *Exact) Plain() (string, bool) {
	start := x.pos
	s, ok := x.Text()
	return s, ok && len(s)+2 == x.pos-start
}

// Integer reads an integer of magnitude at most 2^53 in canonical form: no leading zero, no
// fraction, no exponent, no negative zero.
func (x *Exact) Integer() (int64, bool) {
	if n, end := shortInteger(x.text, x.pos); end > 0 {
		x.pos = end
		return n, true
	}
	p := parser{text: x.text, pos: x.pos, exact: true}
	f := p.number()
	x.pos = p.pos
	return int64(f), p.err == nil && f == math.Trunc(f) && math.Abs(f) <= maxInteger
}

// shortInteger reads an integer of at most 15 digits without a sign, as nearly all are; end is 0 for any other text.
func shortInteger(text string, start int) (n int64, end int) {
	at := start
	for at < len(text) && at < start+16 && '0' <= text[at] && text[at] <= '9' {
		n = 10*n + int64(text[at]-'0')
		at++
	}
	switch digits := at - start; {
	case digits == 0, digits == 16, digits > 1 && text[start] == '0',
		at < len(text) && (text[at] == '.' || text[at] == 'e' || text[at] == 'E'):
		return 0, 0
	}
	return n, at
}

// ExactReader is implemented by pointers to frequent types that read their own members as Into would, in JCS order.
type ExactReader interface {
	ReadExact(x *Exact) bool
}

// ID reads an id or a digest into what it points to.
func (x *Exact) ID(into canonicalText) bool {
	s, ok := x.shared()
	if _, keeps := into.(*Digest); keeps {
		s = x.Own(s)
	}
	return ok && into.UnmarshalString(s) == nil
}

// Into reads one value into what out points to, as Decode would. depth is the number of arrays
// and objects that enclose the value; limits.JSONDepthMax counts from the document. On false,
// out holds the members that were read so far.
func (x *Exact) Into(out any, depth int) bool {
	if own, ok := out.(ExactReader); ok {
		return own.ReadExact(x)
	}
	v := reflect.ValueOf(out).Elem()
	return x.value(planOf(v.Type()), v, depth)
}

// Members reads a value from a position on into what out points to, as Into does for a type that is no ExactReader: such
// a type reads itself so where it has members that are rare.
func (x *Exact) Members(from int, out any, depth int) bool {
	x.pos = from
	v := reflect.ValueOf(out).Elem()
	v.SetZero()
	return x.value(planOf(v.Type()), v, depth)
}

// value reads one value by its p. It reports false for types without an exact form.
func (x *Exact) value(p *plan, out reflect.Value, depth int) bool {
	switch p.form {
	case formValue:
		return x.Value(out.Addr().Interface().(*Value), depth)
	case formText:
		return x.ID(out.Addr().Interface().(canonicalText))
	case formString:
		s, ok := x.Text()
		out.SetString(s)
		return ok
	case formBool:
		out.SetBool(x.Literal("true"))
		return out.Bool() || x.Literal("false")
	case formInt:
		n, ok := x.Integer()
		if !ok || out.OverflowInt(n) {
			return false
		}
		out.SetInt(n)
		return true
	case formFloat: // rare: the parser knows the number formats
		var v Value
		ok := x.Value(&v, depth)
		out.SetFloat(v.num)
		return ok && v.kind == Number
	case formPointer:
		if x.Literal("null") {
			out.SetZero()
			return true
		}
		out.Set(reflect.New(p.elem.typ))
		return x.value(p.elem, out.Elem(), depth)
	case formList:
		return x.list(p, out, depth)
	case formStruct:
		return x.structure(p, out, depth)
	}
	return false
}

// Value reads any JSON value, by means of the parser. depth is that of Into.
func (x *Exact) Value(out *Value, depth int) bool {
	p := parsers.Get().(*parser)
	defer p.release()
	p.text, p.exact = x.text[x.pos:], true
	if x.words != nil {
		p.text = strings.Clone(p.text)
	}
	p.value(depth)
	if p.err != nil {
		return false
	}
	*out, x.pos = p.items[0], x.pos+p.pos
	return true
}

// list reads an array. The slice grows while items are read, since their number is not known
// before.
func (x *Exact) list(p *plan, out reflect.Value, depth int) bool {
	if depth == limits.JSONDepthMax || !x.Literal("[") {
		return false
	}
	if x.Literal("]") {
		out.Set(reflect.MakeSlice(p.typ, 0, 0))
		return true
	}
	for n := 0; ; n++ {
		if n == out.Cap() {
			out.Grow(max(4, n)) // double, as append does
		}
		out.SetLen(n + 1)
		item := out.Index(n)
		item.SetZero()
		if !x.value(p.elem, item, depth+1) {
			return false
		}
		if x.Literal("]") {
			return true
		}
		if !x.Literal(",") {
			return false
		}
	}
}

// structure reads the members of a struct in JCS order. A member with omitzero may be absent,
// and must not be present with its zero value: the encoder would have left it out.
func (x *Exact) structure(p *plan, out reflect.Value, depth int) bool {
	if depth == limits.JSONDepthMax || !x.Literal("{") {
		return false
	}
	first := true
	for i := range p.fields {
		f := &p.fields[i]
		name := f.opening
		if first {
			name = name[1:] // without the comma
		}
		if !x.Literal(name) {
			if !f.omitZero {
				return false
			}
			continue
		}
		first = false
		member := out
		for _, at := range f.index {
			member = member.Field(at)
		}
		if !x.value(f.plan, member, depth+1) || f.omitZero && f.plan.zero(member) {
			return false
		}
	}
	return x.Literal("}")
}
