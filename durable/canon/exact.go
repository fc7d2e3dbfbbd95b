package canon

import (
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/limits"
)

// Exact reads text that should be in its one spelling (R5) in one pass, straight into
// structs: no tree is built, and nothing is encoded again to be compared. It gives no
// reasons. Where anything differs from what encoding would write, it says false, and
// whoever wants to know more reads the text the long way, with Parse and Decode.
//
// What it reads it shares with the text: strings are parts of it.
type Exact struct {
	text string
	pos  int
}

// ExactText begins to read text; ok is false where it is not UTF-8.
func ExactText(text string) (x *Exact, ok bool) { return &Exact{text: text}, utf8.ValidString(text) }

// Literal moves behind s if that stands next.
func (x *Exact) Literal(s string) bool {
	if !strings.HasPrefix(x.text[x.pos:], s) {
		return false
	}
	x.pos += len(s)
	return true
}

// Done reports that all was read.
func (x *Exact) Done() bool { return x.pos == len(x.text) }

// Pos is how many bytes were read.
func (x *Exact) Pos() int { return x.pos }

// Text reads a string.
func (x *Exact) Text() (string, bool) {
	if x.pos == len(x.text) || x.text[x.pos] != '"' {
		return "", false
	}
	start := x.pos + 1
	for i := start; i < len(x.text); i++ {
		switch c := x.text[i]; {
		case c == '"':
			x.pos = i + 1
			return x.text[start:i], true
		case c == '\\':
			return x.escaped()
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

// escaped reads a string with escapes, which are few: the parser knows them all.
func (x *Exact) escaped() (s string, ok bool) {
	x.parse(func(p *parser) (err error) { s, err = p.string(); ok = err == nil && !p.loose; return err })
	return s, ok
}

// Plain reads a string without escapes.
func (x *Exact) Plain() (string, bool) {
	start := x.pos
	s, ok := x.Text()
	return s, ok && len(s)+2 == x.pos-start
}

// Whole reads an integer of at most 2^53.
func (x *Exact) Whole() (int64, bool) {
	start := x.pos
	x.Literal("-")
	digits := x.pos
	for x.pos < len(x.text) && x.text[x.pos] >= '0' && x.text[x.pos] <= '9' {
		x.pos++
	}
	if x.pos == digits || x.pos-digits > 1 && x.text[digits] == '0' || x.pos-digits > 16 {
		return 0, false
	}
	if x.pos < len(x.text) && (x.text[x.pos] == '.' || x.text[x.pos] == 'e' || x.text[x.pos] == 'E') {
		return 0, false
	}
	n, err := strconv.ParseInt(x.text[start:x.pos], 10, 64)
	return n, err == nil && n <= maxInteger && n >= -maxInteger && (n != 0 || start == digits)
}

// Into reads a value into what out points to, as Decode does for one that depth
// arrays and objects enclose. On false, out holds whatever was read so far.
func (x *Exact) Into(out any, depth int) bool {
	v := reflect.ValueOf(out).Elem()
	return x.value(exactPlanOf(v.Type()), v, depth)
}

// parse lends the text to a parser from the position on.
func (x *Exact) parse(read func(*parser) error) {
	p := parsers.Get().(*parser)
	p.text, p.pos, p.line = x.text, x.pos, 1
	if read(p) == nil {
		x.pos = p.pos
	}
	p.reset()
	parsers.Put(p)
}

func (x *Exact) value(plan *exactPlan, out reflect.Value, depth int) bool {
	switch plan.form {
	case exactTree:
		return x.tree(out, depth)
	case exactName:
		s, ok := x.Text()
		return ok && out.Addr().Interface().(oneSpelling).UnmarshalString(s) == nil
	case exactString:
		s, ok := x.Text()
		out.SetString(s)
		return ok
	case exactBool:
		out.SetBool(x.Literal("true"))
		return out.Bool() || x.Literal("false")
	case exactInt:
		n, ok := x.Whole()
		if !ok || out.OverflowInt(n) {
			return false
		}
		out.SetInt(n)
		return true
	case exactFloat:
		var v Value
		ok := x.tree(reflect.ValueOf(&v).Elem(), depth)
		out.SetFloat(v.num)
		return ok && v.kind == Number
	case exactPointer:
		if x.Literal("null") {
			out.SetZero()
			return true
		}
		out.Set(reflect.New(plan.elem.typ))
		return x.value(plan.elem, out.Elem(), depth)
	case exactSlice:
		return x.list(plan, out, depth)
	case exactStruct:
		return x.structure(plan, out, depth)
	}
	return false
}

// tree reads a value whose form is open.
func (x *Exact) tree(out reflect.Value, depth int) (ok bool) {
	x.parse(func(p *parser) error {
		v, err := p.value(depth)
		if ok = err == nil && !p.loose; ok {
			*(out.Addr().Interface().(*Value)) = v
		}
		return err
	})
	return ok
}

func (x *Exact) list(plan *exactPlan, out reflect.Value, depth int) bool {
	if depth == limits.JSONDepthMax || !x.Literal("[") {
		return false
	}
	if x.Literal("]") {
		out.Set(reflect.MakeSlice(plan.typ, 0, 0))
		return true
	}
	for n := 0; ; n++ {
		if n == out.Cap() {
			out.Grow(max(4, n))
		}
		out.SetLen(n + 1)
		item := out.Index(n)
		item.SetZero()
		if !x.value(plan.elem, item, depth+1) {
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

// structure reads members in the order in which they are written; those that are
// left out when they have nothing to say must say something.
func (x *Exact) structure(plan *exactPlan, out reflect.Value, depth int) bool {
	if depth == limits.JSONDepthMax || !x.Literal("{") {
		return false
	}
	first := true
	for i := range plan.fields {
		f := &plan.fields[i]
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
		member := out.FieldByIndex(f.index)
		if !x.value(f.plan, member, depth+1) || f.omitZero && f.plan.zero(member) {
			return false
		}
	}
	return x.Literal("}")
}
