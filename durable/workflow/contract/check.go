package contract

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// kindMember is the member that identifies the contract of an artifact.
const kindMember = "kind"

// Check returns the mismatches of an artifact: its kind first, then its members in JCS
// order. The result is empty for an artifact that satisfies the contract. At most
// MismatchesMax are listed, followed by one that counts the others. The cost is linear in
// the sizes of the artifact and the pack, but for the sorting of members.
//
// A Pack that fails Validate is checked as far as possible; an invalid pattern matches no
// text.
func (p Pack) Check(artifact canon.Value) []Mismatch {
	var c checker
	at := problem.SourceValue{Value: artifact}
	if artifact.Kind() != canon.Object {
		c.add(at, func() string { return "an object with the kind " + quote(p.ArtifactKind) }, shown(at))
		return c.found
	}
	// kind is not part of p.Shape, so it is checked separately and then removed.
	want := Shape{Type: Text, Const: canon.OfString(p.ArtifactKind)}
	if kind, ok := artifact.Get(kindMember); ok {
		c.value(below(at, kindMember, kind), &want)
	} else {
		c.absent(at, Field{Name: kindMember, Shape: want})
	}
	at.Value = artifact.Without(kindMember)
	c.value(at, &p.Shape)
	return c.found
}

// checker collects the mismatches of one artifact.
type checker struct {
	found []Mismatch
	// patterns holds the patterns compiled so far; nil for an invalid pattern.
	patterns map[string]*regexp.Regexp
}

// add reports a value that is not as expected. The texts are rendered only if the mismatch is
// listed: rendering the others would be wasted.
func (c *checker) add(at problem.SourceValue, expected, got func() string) {
	switch n := len(c.found); {
	case n < MismatchesMax:
		c.found = append(c.found, Mismatch{Pointer: at.Pointer, Expected: expected(), Got: got()})
	case n == MismatchesMax:
		c.found = append(c.found, Mismatch{More: 1})
	default:
		c.found[MismatchesMax].More++
	}
}

// shown renders the value at a place for a mismatch.
func shown(at problem.SourceValue) func() string { return func() string { return show(at.Value) } }

// absent reports a required field that an object does not have.
func (c *checker) absent(at problem.SourceValue, f Field) {
	c.add(below(at, f.Name, canon.Value{}), f.Shape.want, func() string { return "nothing" })
}

// below is the place of a value in the one at a place. Its name is cut in pointers.
func below(at problem.SourceValue, name string, v canon.Value) problem.SourceValue {
	return problem.SourceValue{Value: v, Pointer: at.Pointer + "/" + canon.EscapePointer(cut(name, tokenBytesMax))}
}

// value checks one value. The recursion follows the shape, so its depth is bounded by the
// pack and not by the artifact.
func (c *checker) value(at problem.SourceValue, s *Shape) {
	v := at.Value
	// Validate guarantees that at most one alternative takes the kind of v.
	if i := slices.IndexFunc(s.AnyOf, func(a Shape) bool { return a.takes(v.Kind()) }); i >= 0 {
		c.value(at, &s.AnyOf[i])
		return
	}
	// Type and constant decide first; the other constraints assume the right type.
	if !s.takes(v.Kind()) || !s.Const.IsNull() && !s.Const.Equal(v) {
		c.add(at, s.want, shown(at))
		return
	}
	switch s.Type {
	case Text:
		c.text(at, s)
	case Integer, Number:
		if !s.accepts(v.Float()) {
			c.add(at, s.want, shown(at))
		}
	case Array, Map:
		c.items(at, s)
	case Object:
		c.members(at, s)
	}
}

// kinds maps each type but Any to the JSON kind of its values.
var kinds = map[Type]canon.Kind{Text: canon.String, Integer: canon.Number, Number: canon.Number, Boolean: canon.Bool,
	Array: canon.Array, Object: canon.Object, Map: canon.Object}

// takes reports whether a JSON kind can satisfy s.
func (s *Shape) takes(kind canon.Kind) bool {
	if s.Type == Any {
		return len(s.AnyOf) == 0 || slices.ContainsFunc(s.AnyOf, func(a Shape) bool { return a.takes(kind) })
	}
	own, known := kinds[s.Type]
	return known && own == kind
}

// integerMax is 2^53: above it a double cannot represent every whole number.
const integerMax = 1 << 53

// accepts reports whether a number satisfies the type and bounds of s.
func (s *Shape) accepts(n float64) bool {
	if s.Type == Integer && (n != math.Trunc(n) || math.Abs(n) > integerMax) {
		return false
	}
	return !math.IsNaN(n) && !math.IsInf(n, 0) && (s.Min == nil || n >= *s.Min) && (s.Max == nil || n <= *s.Max)
}

// text checks a text: enum, then length, then pattern and format, so that patterns are
// applied to texts of bounded length only.
func (c *checker) text(at problem.SourceValue, s *Shape) {
	text := at.Value.Text()
	chars := utf8.RuneCountInString(text)
	switch {
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, text):
		c.add(at, s.want, shown(at))
	case chars < s.MinChars || s.MaxChars > 0 && chars > s.MaxChars:
		c.add(at, s.want, func() string { return quote(text) + " (" + count(chars, "character") + ")" })
	case s.Pattern != "" && !c.matches(s.Pattern, text), !s.Format.fits(text):
		c.add(at, s.want, shown(at))
	}
}

// matches applies a pattern, compiling it once per artifact.
func (c *checker) matches(pattern, text string) bool {
	re, ok := c.patterns[pattern]
	if !ok {
		if c.patterns == nil {
			c.patterns = map[string]*regexp.Regexp{}
		}
		re, _ = regexp.Compile(pattern)
		c.patterns[pattern] = re
	}
	return re != nil && re.MatchString(text)
}

// items checks the items of a list or the members of a map.
func (c *checker) items(at problem.SourceValue, s *Shape) {
	v := at.Value
	if n := v.Len(); n < s.MinItems || s.MaxItems > 0 && n > s.MaxItems {
		c.add(at, s.want, shown(at))
	}
	if s.Items == nil {
		return
	}
	for i := range v.Len() {
		name := strconv.Itoa(i)
		if s.Type == Map {
			name = v.Key(i)
		}
		c.value(below(at, name, v.Item(i)), s.Items)
	}
}

// members checks the members of an object and its fields. Both are in JCS order, so one pass
// finds missing, unknown and matching members.
func (c *checker) members(at problem.SourceValue, s *Shape) {
	v, fields := at.Value, s.Fields
	for i := 0; i < v.Len() || len(fields) > 0; {
		switch {
		case i == v.Len() || len(fields) > 0 && canon.CompareKeys(fields[0].Name, v.Key(i)) < 0:
			if fields[0].Required {
				c.absent(at, fields[0])
			}
			fields = fields[1:]
		case len(fields) > 0 && fields[0].Name == v.Key(i):
			c.value(below(at, v.Key(i), v.Item(i)), &fields[0].Shape)
			fields, i = fields[1:], i+1
		default:
			if name := v.Key(i); !s.Open {
				inner := below(at, name, v.Item(i))
				c.add(inner, func() string { return s.wantNone(name, v) }, shown(inner))
			}
			i++
		}
	}
	c.alternatives(at, s)
}

// wantNone describes that a closed object has no member of a name, with a similar name among
// the fields that v does not have: most unknown members are misspelled.
func (s *Shape) wantNone(name string, v canon.Value) string {
	var unused []string
	for _, f := range s.Fields {
		if _, ok := v.Get(f.Name); !ok {
			unused = append(unused, f.Name)
		}
	}
	text := "no member of that name"
	if near := nearest.Of(name, unused); near != "" {
		text += fmt.Sprintf("; did you mean %s?", quote(near))
	}
	return text
}

// alternatives checks ExactlyOne.
func (c *checker) alternatives(at problem.SourceValue, s *Shape) {
	var present []string
	for _, name := range s.ExactlyOne {
		if at.Has(name) {
			present = append(present, quote(name))
		}
	}
	if len(s.ExactlyOne) > 0 && len(present) != 1 {
		c.add(at, s.wantOne, func() string { return cmp.Or(strings.Join(present, " and "), "none of them") })
	}
}
