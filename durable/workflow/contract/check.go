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

// kindMember is the member that says which contract an artifact is meant for.
const kindMember = "kind"

// Check lists what about an artifact does not fit the contract: its kind first,
// then member by member in JCS order. It is empty for an artifact that satisfies
// the contract. At most MismatchesMax are listed, behind them one that counts the
// rest. The time it takes grows with the artifact and the pack, no faster.
//
// A Pack that fails Validate is judged as far as it makes sense; a pattern that is
// none fits nothing.
func (p Pack) Check(artifact canon.Value) []Mismatch {
	var c checker
	if artifact.Kind() != canon.Object {
		c.add(nil, "an object with the kind "+quote(p.ArtifactKind), artifact)
		return c.list()
	}
	want := Shape{Type: Text, Const: canon.OfString(p.ArtifactKind)}
	if kind, ok := artifact.Get(kindMember); ok {
		c.value((*place)(nil).member(kindMember), &want, kind)
	} else {
		c.absent((*place)(nil).member(kindMember), &want)
	}
	c.value(nil, &p.Shape, artifact.Without(kindMember))
	return c.list()
}

// checker collects mismatches.
type checker struct {
	found    []Mismatch
	more     int
	patterns map[string]*regexp.Regexp // compiled once per artifact; nil for what is no pattern
}

func (c *checker) list() []Mismatch {
	if c.more > 0 {
		return append(c.found, Mismatch{More: c.more})
	}
	return c.found
}

// full reports whether the list is, and if so counts one more: whoever asks has
// nothing to spell out.
func (c *checker) full() bool {
	if len(c.found) < MismatchesMax {
		return false
	}
	c.more++
	return true
}

func (c *checker) add(at *place, expected string, got canon.Value) {
	c.say(at, expected, show(got))
}

func (c *checker) say(at *place, expected, got string) {
	if !c.full() {
		c.found = append(c.found, Mismatch{Pointer: at.pointer(), Expected: expected, Got: got})
	}
}

func (c *checker) wrong(at *place, s *Shape, got canon.Value) {
	if !c.full() {
		c.found = append(c.found, Mismatch{Pointer: at.pointer(), Expected: s.want(), Got: show(got)})
	}
}

func (c *checker) absent(at *place, s *Shape) { c.say(at, s.want(), "nothing") }

// value judges one value. It goes down as far as the shape does, never as far as
// the value would.
func (c *checker) value(at *place, s *Shape, v canon.Value) {
	if len(s.AnyOf) > 0 {
		i := slices.IndexFunc(s.AnyOf, func(a Shape) bool { return a.takes(v.Kind()) })
		if i < 0 {
			c.wrong(at, s, v)
			return
		}
		c.value(at, &s.AnyOf[i], v)
		return
	}
	if !s.takes(v.Kind()) || !s.Const.IsNull() && !s.Const.Equal(v) {
		c.wrong(at, s, v)
		return
	}
	switch s.Type {
	case Text:
		c.text(at, s, v)
	case Integer, Number:
		if !s.holds(v.Float()) {
			c.wrong(at, s, v)
		}
	case Array, Map:
		c.items(at, s, v)
	case Object:
		c.members(at, s, v)
	}
}

// takes reports whether a kind of JSON value can satisfy s at all.
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

// integerMax is 2^53: behind it a double no longer tells neighbours apart.
const integerMax = 1 << 53

func (s *Shape) holds(n float64) bool {
	if s.Type == Integer && (n != math.Trunc(n) || math.Abs(n) > integerMax) {
		return false
	}
	return !math.IsNaN(n) && !math.IsInf(n, 0) && (s.Min == nil || n >= *s.Min) && (s.Max == nil || n <= *s.Max)
}

// text judges the length first: nothing longer than it may be meets a pattern.
func (c *checker) text(at *place, s *Shape, v canon.Value) {
	text := v.Text()
	chars := utf8.RuneCountInString(text)
	switch {
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, text):
		c.wrong(at, s, v)
	case chars < s.MinChars || s.MaxChars > 0 && chars > s.MaxChars:
		c.say(at, s.want(), show(v)+" ("+count(chars, "character")+")")
	case s.Pattern != "" && !c.matches(s.Pattern, text), !s.Format.fits(text):
		c.wrong(at, s, v)
	}
}

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

// items judges a list, or a map by its members.
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

// members goes over the fields and the members of an object side by side: both are
// in JCS order.
func (c *checker) members(at *place, s *Shape, v canon.Value) {
	i, j := 0, 0
	for i < len(s.Fields) || j < v.Len() {
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

// unknown refuses a member of a closed object: most often it is a misspelling of
// one that then is missing without anybody noticing.
func (c *checker) unknown(at *place, s *Shape, v canon.Value, j int) {
	if c.full() {
		return
	}
	var free []string // what v has already was not meant
	for _, f := range s.Fields {
		if _, there := v.Get(f.Name); !there {
			free = append(free, f.Name)
		}
	}
	hint := ""
	if near := nearest.Of(v.Key(j), free); near != "" {
		hint = fmt.Sprintf("; did you mean %s?", quote(near))
	}
	c.found = append(c.found, Mismatch{Pointer: at.member(v.Key(j)).pointer(), Expected: "no member of that name" +
		hint, Got: show(v.Item(j))})
}

func (c *checker) alternatives(at *place, s *Shape, v canon.Value) {
	if len(s.ExactlyOne) == 0 {
		return
	}
	var there []string
	for _, name := range s.ExactlyOne {
		if _, ok := v.Get(name); ok {
			there = append(there, quote(name))
		}
	}
	if len(there) != 1 && !c.full() {
		got := "none of them"
		if len(there) > 0 {
			got = strings.Join(there, " and ")
		}
		c.found = append(c.found, Mismatch{Pointer: at.pointer(), Expected: s.wantOne(), Got: got})
	}
}
