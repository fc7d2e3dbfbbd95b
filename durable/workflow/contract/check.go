package contract

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// kindMember is the member that identifies the contract of an artifact.
const kindMember = "kind"

// Check returns the mismatches of an artifact: its kind first, then its members in JCS
// order. The result is empty for an artifact that satisfies the contract. At most
// MismatchesMax are listed, followed by one that counts the others. The cost is linear in
// the sizes of the artifact and the pack.
//
// A Pack that fails Validate is checked as far as possible; an invalid pattern matches no
// text.
func (p Pack) Check(artifact canon.Value) []Mismatch {
	var c checker
	if artifact.Kind() != canon.Object {
		c.add(nil, "an object with the kind "+quote(p.ArtifactKind), artifact)
		return c.list()
	}
	// kind is not part of p.Shape, so it is checked separately and then removed.
	want := Shape{Type: Text, Const: canon.OfString(p.ArtifactKind)}
	if kind, ok := artifact.Get(kindMember); ok {
		c.value((*place)(nil).member(kindMember), &want, kind)
	} else {
		c.absent((*place)(nil).member(kindMember), &want)
	}
	c.value(nil, &p.Shape, artifact.Without(kindMember))
	return c.list()
}

// checker collects the mismatches of one artifact.
type checker struct {
	found []Mismatch
	more  int // mismatches beyond MismatchesMax
	// patterns holds the patterns compiled so far; nil for an invalid pattern.
	patterns map[string]*regexp.Regexp
}

// list returns the mismatches, followed by the count of those that were not listed.
func (c *checker) list() []Mismatch {
	if c.more > 0 {
		return append(c.found, Mismatch{More: c.more})
	}
	return c.found
}

// full reports whether the list is full. If so, it counts one more mismatch, and the caller
// must not add it: rendering it would be wasted.
func (c *checker) full() bool {
	if len(c.found) < MismatchesMax {
		return false
	}
	c.more++
	return true
}

// add reports a value that is not as expected.
func (c *checker) add(at *place, expected string, got canon.Value) {
	c.addText(at, expected, show(got))
}

// addText is add for a value that is already rendered.
func (c *checker) addText(at *place, expected, got string) {
	if !c.full() {
		c.found = append(c.found, Mismatch{Pointer: at.pointer(), Expected: expected, Got: got})
	}
}

// wrong reports a value that does not have shape s.
func (c *checker) wrong(at *place, s *Shape, got canon.Value) {
	if !c.full() {
		c.found = append(c.found, Mismatch{Pointer: at.pointer(), Expected: s.want(), Got: show(got)})
	}
}

// absent reports a required member that is missing.
func (c *checker) absent(at *place, s *Shape) { c.addText(at, s.want(), "nothing") }

// value checks one value. The recursion follows the shape, so its depth is bounded by the
// pack and not by the artifact.
func (c *checker) value(at *place, s *Shape, v canon.Value) {
	// Validate guarantees that at most one alternative takes the kind of v.
	if len(s.AnyOf) > 0 {
		i := slices.IndexFunc(s.AnyOf, func(a Shape) bool { return a.takes(v.Kind()) })
		if i < 0 {
			c.wrong(at, s, v)
			return
		}
		c.value(at, &s.AnyOf[i], v)
		return
	}
	// Type and constant decide first; the other constraints assume the right type.
	if !s.takes(v.Kind()) || !s.Const.IsNull() && !s.Const.Equal(v) {
		c.wrong(at, s, v)
		return
	}
	switch s.Type {
	case Text:
		c.text(at, s, v)
	case Integer, Number:
		if !s.accepts(v.Float()) {
			c.wrong(at, s, v)
		}
	case Array, Map:
		c.items(at, s, v)
	case Object:
		c.members(at, s, v)
	}
}

// takes reports whether a JSON kind can satisfy s.
func (s *Shape) takes(kind canon.Kind) bool {
	switch s.Type {
	case Any:
		return len(s.AnyOf) == 0 || slices.ContainsFunc(s.AnyOf, func(a Shape) bool { return a.takes(kind) })
	case Text:
		return kind == canon.String
	case Integer, Number:
		return kind == canon.Number
	case Boolean:
		return kind == canon.Bool
	case Array:
		return kind == canon.Array
	case Object, Map:
		return kind == canon.Object
	}
	return false
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
func (c *checker) text(at *place, s *Shape, v canon.Value) {
	text := v.Text()
	chars := utf8.RuneCountInString(text)
	switch {
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, text):
		c.wrong(at, s, v)
	case chars < s.MinChars || s.MaxChars > 0 && chars > s.MaxChars:
		c.addText(at, s.want(), show(v)+" ("+count(chars, "character")+")")
	case s.Pattern != "" && !c.matches(s.Pattern, text), !s.Format.fits(text):
		c.wrong(at, s, v)
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
func (c *checker) items(at *place, s *Shape, v canon.Value) {
	if n := v.Len(); n < s.MinItems || s.MaxItems > 0 && n > s.MaxItems {
		c.wrong(at, s, v)
	}
	if s.Items == nil {
		return
	}
	for i := range v.Len() {
		inner := at.nth(i)
		if s.Type == Map {
			inner = at.member(v.Key(i))
		}
		c.value(inner, s.Items, v.Item(i))
	}
}

// members merges the fields of s with the members of an object. Both are in JCS order, so
// one pass finds missing, unknown and matching members.
func (c *checker) members(at *place, s *Shape, v canon.Value) {
	i, j := 0, 0
	for i < len(s.Fields) || j < v.Len() {
		// order < 0: the field has no member; 0: they match; > 0: the member has no field.
		order := -1
		if i == len(s.Fields) {
			order = 1
		} else if j < v.Len() {
			order = canon.CompareKeys(s.Fields[i].Name, v.Key(j))
		}
		if order > 0 {
			if !s.Open {
				c.unknown(at, s, v, j)
			}
			j++
			continue
		}
		field := &s.Fields[i]
		i++
		inner := at.member(field.Name)
		if order == 0 {
			c.value(inner, &field.Shape, v.Item(j))
			j++
		} else if field.Required {
			c.absent(inner, &field.Shape)
		}
	}
	c.alternatives(at, s, v)
}

// unknown reports a member that a closed object does not have, with a similar name among
// the fields that are absent: most unknown members are misspelled.
func (c *checker) unknown(at *place, s *Shape, v canon.Value, j int) {
	if c.full() {
		return
	}
	var unused []string // fields that v does not have
	for _, f := range s.Fields {
		if _, ok := v.Get(f.Name); !ok {
			unused = append(unused, f.Name)
		}
	}
	hint := ""
	if near := nearest.Of(v.Key(j), unused); near != "" {
		hint = fmt.Sprintf("; did you mean %s?", quote(near))
	}
	c.found = append(c.found, Mismatch{Pointer: at.member(v.Key(j)).pointer(), Expected: "no member of that name" +
		hint, Got: show(v.Item(j))})
}

// alternatives checks ExactlyOne.
func (c *checker) alternatives(at *place, s *Shape, v canon.Value) {
	if len(s.ExactlyOne) == 0 {
		return
	}
	var present []string
	for _, name := range s.ExactlyOne {
		if _, ok := v.Get(name); ok {
			present = append(present, quote(name))
		}
	}
	if len(present) != 1 && !c.full() {
		got := "none of them"
		if len(present) > 0 {
			got = strings.Join(present, " and ")
		}
		c.found = append(c.found, Mismatch{Pointer: at.pointer(), Expected: s.wantOne(), Got: got})
	}
}
