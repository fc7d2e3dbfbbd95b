package criteria

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
)

// jsonSchema is a parsed schema in a subset of JSON Schema (draft 2020-12) that needs no
// resolution: no $ref and no keyword that depends on the result of another. Schemas are
// data of one workflow, so recursion is bounded by the depth of its file. A count of -1 is
// no bound. Messages are stored in blockers: their words must not change.
type jsonSchema struct {
	// rejectsAll is set for the schema false.
	rejectsAll bool
	// types and enum are the accepted types and values; empty and nil accept all. const is
	// read as an enum of one value.
	types []string
	enum  []canon.Value
	// minimum and maximum apply to numbers and are inclusive; nil is no bound.
	minimum, maximum *float64
	// The lengths apply to strings, in characters.
	minLength, maxLength int
	// The numbers of items, and unique, apply to arrays.
	minItems, maxItems int
	// minProperties and maxProperties apply to objects.
	minMembers int
	maxMembers int
	unique     bool
	// pattern is the compiled form of patternText, which is as the author wrote it. It may
	// match anywhere in a string.
	pattern     *regexp.Regexp
	patternText string
	// required and properties apply to objects; properties is sorted by name.
	required   []string
	properties []property
	// additional (additionalProperties) and items accept everything if nil.
	additional, items *jsonSchema
	// The schemas of the combining keywords; empty or nil if the keyword is absent.
	anyOf, oneOf, allOf []jsonSchema
	not                 *jsonSchema
}

// property is the name of a member and the schema of its value.
type property struct {
	name   string
	schema jsonSchema
}

// mismatch returns a description of the first mismatch, "" if v matches. pointer is the
// place of v in the value that is checked. One mismatch is sufficient: the performer
// corrects it and tries again.
func (s *jsonSchema) mismatch(v canon.Value, pointer string) string {
	if s.rejectsAll {
		return differs(pointer, "nothing there", v)
	}
	if len(s.types) > 0 && !slices.ContainsFunc(s.types, func(t string) bool { return isType(v, t) }) {
		return differs(pointer, strings.Join(s.types, " or "), v)
	}
	if s.enum != nil && !slices.ContainsFunc(s.enum, v.Equal) {
		words := make([]string, len(s.enum))
		for i, e := range s.enum {
			words[i] = string(e.JCS())
		}
		return differs(pointer, strings.Join(words, " or "), v)
	}
	for _, check := range []func(canon.Value, string) string{s.number, s.text, s.array, s.object, s.combined} {
		if m := check(v, pointer); m != "" {
			return m
		}
	}
	return ""
}

// number checks the bounds of numbers. As in JSON Schema, the keywords of one kind do not
// apply to values of other kinds.
func (s *jsonSchema) number(v canon.Value, pointer string) string {
	switch {
	case v.Kind() != canon.Number:
	case s.minimum != nil && v.Float() < *s.minimum:
		return differs(pointer, fmt.Sprintf("at least %v", *s.minimum), v)
	case s.maximum != nil && v.Float() > *s.maximum:
		return differs(pointer, fmt.Sprintf("at most %v", *s.maximum), v)
	}
	return ""
}

// text checks the keywords of strings. Lengths are in characters, as in JSON Schema.
func (s *jsonSchema) text(v canon.Value, pointer string) string {
	if v.Kind() != canon.String {
		return ""
	}
	switch n := utf8.RuneCountInString(v.Text()); {
	case n < s.minLength:
		return differs(pointer, fmt.Sprintf("at least %d characters", s.minLength), v)
	case s.maxLength >= 0 && n > s.maxLength:
		return differs(pointer, fmt.Sprintf("at most %d characters", s.maxLength), v)
	case s.pattern != nil && !s.pattern.MatchString(v.Text()):
		return differs(pointer, "text that matches "+s.patternText, v)
	}
	return ""
}

// array checks the keywords of arrays, then the items in order.
func (s *jsonSchema) array(v canon.Value, pointer string) string {
	if v.Kind() != canon.Array {
		return ""
	}
	switch n := v.Len(); {
	case n < s.minItems:
		return differs(pointer, fmt.Sprintf("at least %d items", s.minItems), v)
	case s.maxItems >= 0 && n > s.maxItems:
		return differs(pointer, fmt.Sprintf("at most %d items", s.maxItems), v)
	}
	if m := s.repeated(v, pointer); m != "" {
		return m
	}
	for i := range v.Len() {
		if s.items == nil {
			break
		}
		if m := s.items.mismatch(v.Item(i), fmt.Sprintf("%s/%d", pointer, i)); m != "" {
			return m
		}
	}
	return ""
}

// repeated checks uniqueItems. Equal values have the same canonical form, so a set of these
// finds repetitions in linear time.
func (s *jsonSchema) repeated(v canon.Value, pointer string) string {
	first := map[string]int{}
	for i := range v.Len() {
		if !s.unique {
			break
		}
		key := string(v.Item(i).JCS())
		if j, twice := first[key]; twice {
			return differs(fmt.Sprintf("%s/%d", pointer, i), fmt.Sprintf("an item unlike %s/%d", pointer, j), v.Item(i))
		}
		first[key] = i
	}
	return ""
}

// object checks the keywords of objects, then the members in the order of the value. A
// member without a schema in properties is checked against additionalProperties.
func (s *jsonSchema) object(v canon.Value, pointer string) string {
	if v.Kind() != canon.Object {
		return ""
	}
	switch n := v.Len(); {
	case n < s.minMembers:
		return differs(pointer, fmt.Sprintf("at least %d members", s.minMembers), v)
	case s.maxMembers >= 0 && n > s.maxMembers:
		return differs(pointer, fmt.Sprintf("at most %d members", s.maxMembers), v)
	}
	for _, name := range s.required {
		if _, ok := v.Get(name); !ok {
			return differs(pointer, fmt.Sprintf("a member %q", name), v)
		}
	}
	for i := range v.Len() {
		name, inner := v.Key(i), s.additional
		if j, ok := slices.BinarySearchFunc(s.properties, name,
			func(p property, n string) int { return strings.Compare(p.name, n) }); ok {
			inner = &s.properties[j].schema
		}
		if inner == nil {
			continue
		}
		if m := inner.mismatch(v.Item(i), pointer+"/"+canon.EscapePointer(name)); m != "" {
			return m
		}
	}
	return ""
}

// combined checks the keywords that combine schemas: allOf, anyOf, oneOf and not.
func (s *jsonSchema) combined(v canon.Value, pointer string) string {
	for i := range s.allOf {
		if m := s.allOf[i].mismatch(v, pointer); m != "" {
			return m
		}
	}
	if fits, first := countMatches(s.anyOf, v, pointer); len(s.anyOf) > 0 && fits == 0 {
		return "no alternative of anyOf fits; " + first
	}
	switch fits, first := countMatches(s.oneOf, v, pointer); {
	case len(s.oneOf) > 0 && fits == 0:
		return "no alternative of oneOf fits; " + first
	case fits > 1:
		return differs(pointer, "what fits one alternative of oneOf", v) + fmt.Sprintf(", which fits %d", fits)
	}
	if s.not != nil && s.not.mismatch(v, pointer) == "" {
		return differs(pointer, "what does not fit under not", v)
	}
	return ""
}

// countMatches returns how many schemas v matches, and the mismatch with the first one that
// it does not match.
func countMatches(list []jsonSchema, v canon.Value, pointer string) (fits int, first string) {
	for i := range list {
		switch m := list[i].mismatch(v, pointer); {
		case m == "":
			fits++
		case first == "":
			first = m
		}
	}
	return fits, first
}

// isType reports whether v has a JSON Schema type. As there, 3.0 is an integer.
func isType(v canon.Value, name string) bool {
	if name == "integer" {
		return v.Kind() == canon.Number && v.Float() == math.Trunc(v.Float())
	}
	return v.Kind().String() == name
}

// shownMax bounds how much of a value a message quotes, in characters.
const shownMax = 60

// differs renders a mismatch as a sentence. The value is shortened to shownMax, since it may
// be as long as the notes.
func differs(pointer, want string, v canon.Value) string {
	where := "the JSON value"
	if pointer != "" {
		where = pointer
	}
	got := []rune(string(v.JCS()))
	if len(got) > shownMax {
		got = append(got[:shownMax:shownMax], '…')
	}
	return fmt.Sprintf("%s: expected %s, got %s", where, want, string(got))
}
