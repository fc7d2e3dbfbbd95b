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

// jsonSchema judges one JSON value by the part of JSON Schema that can be judged
// without looking anything up: no $ref, nothing that depends on another keyword's
// result. Bounds of -1 are none.
type jsonSchema struct {
	refuses              bool // the schema false
	types                []string
	enum                 []canon.Value // nil: any
	minimum, maximum     *float64
	minLength, maxLength int
	minItems, maxItems   int
	minMembers           int // minProperties
	maxMembers           int // maxProperties
	unique               bool
	pattern              *regexp.Regexp
	written              string // the pattern in the author's spelling
	required             []string
	properties           []property  // by name
	additional, items    *jsonSchema // nil: anything
	anyOf, oneOf, allOf  []jsonSchema
	not                  *jsonSchema
}

// property is a member with the schema of its value.
type property struct {
	name   string
	schema jsonSchema
}

// mismatch is the first thing found that does not fit; "" says that all does. One
// is enough: it is shown to someone who will try again.
func (s *jsonSchema) mismatch(v canon.Value, pointer string) string {
	if s.refuses {
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
	for _, judge := range []func(canon.Value, string) string{s.number, s.text, s.array, s.object, s.composed} {
		if m := judge(v, pointer); m != "" {
			return m
		}
	}
	return ""
}

// number judges bounds; like all keywords of one kind it passes over other kinds.
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

// text counts characters, as JSON Schema does.
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
		return differs(pointer, "text that matches "+s.written, v)
	}
	return ""
}

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

// repeated judges uniqueItems by canonical forms, which are the same for equal values.
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

// composed judges the keywords that join schemas.
func (s *jsonSchema) composed(v canon.Value, pointer string) string {
	for i := range s.allOf {
		if m := s.allOf[i].mismatch(v, pointer); m != "" {
			return m
		}
	}
	if fits, nearest := fitting(s.anyOf, v, pointer); len(s.anyOf) > 0 && fits == 0 {
		return "no alternative of anyOf fits; " + nearest
	}
	switch fits, nearest := fitting(s.oneOf, v, pointer); {
	case len(s.oneOf) > 0 && fits == 0:
		return "no alternative of oneOf fits; " + nearest
	case fits > 1:
		return differs(pointer, "what fits one alternative of oneOf", v) + fmt.Sprintf(", which fits %d", fits)
	}
	if s.not != nil && s.not.mismatch(v, pointer) == "" {
		return differs(pointer, "what does not fit under not", v)
	}
	return ""
}

// fitting counts the schemas that v fits, and says what the first lacks.
func fitting(list []jsonSchema, v canon.Value, pointer string) (fits int, first string) {
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

// isType takes 3.0 for an integer, as JSON Schema does.
func isType(v canon.Value, name string) bool {
	if name == "integer" {
		return v.Kind() == canon.Number && v.Float() == math.Trunc(v.Float())
	}
	return v.Kind().String() == name
}

// shownMax bounds how much of a value a message repeats, in characters.
const shownMax = 60

// differs is one sentence; the value is shortened, since it may be all there is.
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
