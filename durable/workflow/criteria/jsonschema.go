package criteria

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// jsonSchema is a parsed schema: the checks of its keywords, all of which must pass. It is a
// subset of JSON Schema (draft 2020-12) that needs no resolution: no $ref and no keyword that
// depends on the result of another. Schemas are data of one workflow, so recursion is bounded
// by the depth of its file. Messages are stored in blockers: their words must not change.
//
// A library gives the same verdicts, but not these messages: its errors name the place in the
// schema and not in the value. It accepts unknown keywords and contradictory bounds, and refuses
// annotations of other types and \u escapes in patterns.
type jsonSchema []check

// check returns a description of the first mismatch of a value, "" if it has none. One
// mismatch is sufficient: the performer corrects it and tries again.
type check func(at problem.SourceValue) string

// mismatch is the check of the whole schema. The place of at is in the value that is checked.
func (s jsonSchema) mismatch(at problem.SourceValue) string {
	for _, c := range s {
		if m := c(at); m != "" {
			return m
		}
	}
	return ""
}

// simple returns a check of a value by itself, with its description.
func simple(want string, holds func(canon.Value) bool) check {
	return func(at problem.SourceValue) string {
		if holds(at.Value) {
			return ""
		}
		return differs(at, want)
	}
}

// only limits a check to values of a kind. As in JSON Schema, the keywords of one kind do not
// apply to values of other kinds.
func only(kind canon.Kind, c check) check {
	return func(at problem.SourceValue) string {
		if at.Value.Kind() != kind {
			return ""
		}
		return c(at)
	}
}

// annotations are the keywords that are accepted and have no effect. format is one of them,
// because implementations differ in what they check for it.
var annotations = []string{"$comment", "$id", "$schema", "default", "description", "examples", "format", "title"}

// schemaKeywords are the keywords that are checked.
var schemaKeywords = []string{"additionalProperties", "allOf", "anyOf", "const", "enum", "items", "maxItems",
	"maxLength",
	"maxProperties", "maximum", "minItems", "minLength", "minProperties", "minimum", "not", "oneOf", "pattern",
	"properties",
	"required", "type", "uniqueItems"}

// parseSchema parses one schema. Unsupported keywords are errors: the author would expect
// them to be checked. The order of the checks decides which mismatch is the first.
func parseSchema(at problem.SourceValue, report problem.Report) jsonSchema {
	switch {
	case at.Value.True(): // as the empty schema
		return nil
	case at.Value.Kind() == canon.Bool:
		return jsonSchema{simple("nothing there", func(canon.Value) bool { return false })}
	case !report.Expect(at, canon.Object, `Write a schema such as {"type": "object", "required": ["findings"]}.`,
		"a schema must be an object or true or false"):
		return nil
	}
	for _, name := range at.Names() {
		if !slices.Contains(annotations, name) && !slices.Contains(schemaKeywords, name) {
			report.Error(at.Member(name), nearest.Suggest(name, schemaKeywords, "Did you mean %q? ", "")+
				"Use "+strings.Join(schemaKeywords, ", ")+".",
				"schema keyword %q is not supported", name)
		}
	}
	checks := jsonSchema{
		parseTypes(at, report),
		parseValues(at, report),
		parseBounds(at, canon.Number, "minimum", "maximum", "%v", report),
		parseBounds(at, canon.String, "minLength", "maxLength", "%.0f characters", report),
		parseTextPattern(at, report),
		parseBounds(at, canon.Array, "minItems", "maxItems", "%.0f items", report),
		parseUnique(at, report),
		parseItems(at, report),
		parseBounds(at, canon.Object, "minProperties", "maxProperties", "%.0f members", report),
		parseRequired(at, report),
		parseMembers(at, report),
		slices.Concat(parseAll(at, "allOf", report)...).mismatch,
		parseAlternatives(at, "anyOf", math.MaxInt, report),
		parseAlternatives(at, "oneOf", 1, report),
		parseNot(at, report),
	}
	return slices.DeleteFunc(checks, func(c check) bool { return c == nil }) // of absent keywords
}

// parseInner parses the schema of a keyword; true if it is absent.
func parseInner(at problem.SourceValue, name string, report problem.Report) jsonSchema {
	if !at.Has(name) {
		return nil
	}
	return parseSchema(at.Member(name), report)
}

// schemaTypes are the values of the keyword type.
var schemaTypes = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// parseTypes parses type, one name or a list of names.
func parseTypes(at problem.SourceValue, report problem.Report) check {
	if !at.Has("type") {
		return nil
	}
	of := at.Member("type")
	listed := []problem.SourceValue{of}
	if of.Value.Kind() == canon.Array {
		listed = of.Items()
	}
	if len(listed) == 0 {
		report.Error(of, "Name a type, or leave it out.", "an empty list of types rejects every value")
	}
	var types []string
	for _, t := range listed {
		if !slices.Contains(schemaTypes, t.Value.Text()) {
			report.Error(t, "Write "+strings.Join(schemaTypes, ", ")+".", "a schema's type is one of JSON's, got %s",
				t.Value.JCS())
		}
		types = append(types, t.Value.Text())
	}
	return simple(strings.Join(types, " or "), func(v canon.Value) bool {
		return slices.ContainsFunc(types, func(t string) bool { return isType(v, t) })
	})
}

// isType reports whether v has a JSON Schema type. As there, 3.0 is an integer.
func isType(v canon.Value, name string) bool {
	if name == "integer" {
		return v.Kind() == canon.Number && v.Float() == math.Trunc(v.Float())
	}
	return v.Kind().String() == name
}

// parseValues parses const and enum. When both are present, only values of both are accepted.
func parseValues(at problem.SourceValue, report problem.Report) check {
	constant, enum := at.Member("const").Value, at.Member("enum")
	var accepted []canon.Value
	var words []string
	if !at.Has("enum") {
		if !at.Has("const") {
			return nil
		}
		enum.Value = canon.OfList(constant)
	}
	for _, item := range enum.Items() {
		if !at.Has("const") || item.Value.Equal(constant) {
			accepted, words = append(accepted, item.Value), append(words, string(item.Value.JCS()))
		}
	}
	if len(accepted) == 0 {
		report.Error(enum, "List the values that are accepted.",
			"enum must be a list of at least one value, with const among them")
	}
	return simple(strings.Join(words, " or "),
		func(v canon.Value) bool { return slices.ContainsFunc(accepted, v.Equal) })
}

// parseBounds parses the inclusive bounds of a number, or of the size of values of another
// kind. size is how a message names a bound. Contradictory bounds are errors.
func parseBounds(at problem.SourceValue, kind canon.Kind, low, high, size string, report problem.Report) check {
	if !at.Has(low) && !at.Has(high) {
		return nil
	}
	least := parseBound(at, kind, low, math.Inf(-1), report)
	most := parseBound(at, kind, high, math.Inf(1), report)
	if least > most {
		number, _, _ := strings.Cut(size, " ")
		report.Error(at, "Exchange the two.", "%s "+number+" is more than %s "+number, low, least, high, most)
	}
	return only(kind, jsonSchema{
		simple(fmt.Sprintf("at least "+size, least), func(v canon.Value) bool { return sizeOf(v) >= least }),
		simple(fmt.Sprintf("at most "+size, most), func(v canon.Value) bool { return sizeOf(v) <= most }),
	}.mismatch)
}

// parseBound parses one bound of values of a kind; absent is that of an absent or wrong one.
func parseBound(at problem.SourceValue, kind canon.Kind, name string, absent float64, report problem.Report) float64 {
	member := at.Member(name)
	switch {
	case !at.Has(name):
	case kind == canon.Number && member.Value.Kind() != canon.Number:
		report.Error(member, "Write a number.", "%s must be a number", name)
	case kind == canon.Number:
		return member.Value.Float()
	case !isCount(member.Value):
		report.Error(member, "Write a number such as 3.", "%s must be a whole number from 0", name)
	default:
		return math.Abs(member.Value.Float()) // -0 is shown as 0
	}
	return absent
}

// isCount reports whether v is a whole number from 0 that is an int on all platforms.
func isCount(v canon.Value) bool {
	f := v.Float()
	return v.Kind() == canon.Number && f == math.Trunc(f) && f >= 0 && f <= math.MaxInt32
}

// sizeOf returns what the bounds of a value apply to: a number itself, the length of a text in
// characters, as in JSON Schema, and the number of items or members.
func sizeOf(v canon.Value) float64 {
	switch v.Kind() {
	case canon.Number:
		return v.Float()
	case canon.String:
		return float64(utf8.RuneCountInString(v.Text()))
	}
	return float64(v.Len())
}

// parseTextPattern parses pattern, which may match anywhere in a string.
func parseTextPattern(at problem.SourceValue, report problem.Report) check {
	if !at.Has("pattern") {
		return nil
	}
	re := compile(at.Member("pattern"), "", report)
	return only(canon.String, simple("text that matches "+at.Member("pattern").Value.Text(),
		func(v canon.Value) bool { return re.MatchString(v.Text()) }))
}

// parseUnique parses uniqueItems. Equal values have the same canonical form, so a set of these
// finds repetitions in linear time.
func parseUnique(at problem.SourceValue, report problem.Report) check {
	unique := at.Member("uniqueItems")
	if at.Has("uniqueItems") {
		report.Expect(unique, canon.Bool, "Write true or false.", "uniqueItems must be true or false")
	}
	if !unique.Value.True() {
		return nil
	}
	return only(canon.Array, func(at problem.SourceValue) string {
		first := map[string]string{} // canonical form → pointer
		for _, item := range at.Items() {
			key := string(item.Value.JCS())
			if other, twice := first[key]; twice {
				return differs(item, "an item unlike "+other)
			}
			first[key] = item.Pointer
		}
		return ""
	})
}

// parseItems parses items, the schema of all items. They are checked in order.
func parseItems(at problem.SourceValue, report problem.Report) check {
	of := parseInner(at, "items", report)
	return only(canon.Array, func(at problem.SourceValue) string {
		for _, item := range at.Items() {
			if m := of.mismatch(item); m != "" {
				return m
			}
		}
		return ""
	})
}

// parseRequired parses required.
func parseRequired(at problem.SourceValue, report problem.Report) check {
	if at.Has("required") {
		report.Expect(at.Member("required"), canon.Array, `Write required: ["name"].`, "required must be a list of names")
	}
	var checks jsonSchema
	for _, item := range at.Member("required").Items() {
		report.Expect(item, canon.String, "Write a member's name.", "required lists names")
		name := item.Value.Text()
		checks = append(checks, simple(fmt.Sprintf("a member %q", name),
			func(v canon.Value) bool { _, ok := v.Get(name); return ok }))
	}
	return only(canon.Object, checks.mismatch)
}

// parseMembers parses properties, and additionalProperties for members without a schema there.
// Members are checked in the order of the value.
func parseMembers(at problem.SourceValue, report problem.Report) check {
	if at.Has("properties") {
		report.Expect(at.Member("properties"), canon.Object, `Write properties: {"name": {"type": "string"}}.`,
			"properties must be an object")
	}
	properties := map[string]jsonSchema{}
	for _, name := range at.Member("properties").Names() {
		properties[name] = parseSchema(at.Member("properties").Member(name), report)
	}
	additional := parseInner(at, "additionalProperties", report)
	return only(canon.Object, func(at problem.SourceValue) string {
		for _, name := range at.Names() {
			of, known := properties[name]
			if !known {
				of = additional
			}
			if m := of.mismatch(at.Member(name)); m != "" {
				return m
			}
		}
		return ""
	})
}

// parseAll parses the list of schemas of a keyword, nil if it is absent.
func parseAll(at problem.SourceValue, name string, report problem.Report) []jsonSchema {
	list := problem.ParseItems(at.Member(name), report, parseSchema)
	if at.Has(name) && len(list) == 0 {
		report.Error(at.Member(name), "Write "+name+": [ … ] with at least one schema.",
			"%s must be a list of at least one schema", name)
	}
	return list
}

// parseAlternatives parses anyOf and oneOf. At most so many of the schemas may fit; if none
// does, the mismatch with the first describes why.
func parseAlternatives(at problem.SourceValue, name string, most int, report problem.Report) check {
	list := parseAll(at, name, report)
	return func(at problem.SourceValue) string {
		fits, first := 0, ""
		for _, s := range list {
			m := s.mismatch(at)
			if m == "" {
				fits++
			}
			first = cmp.Or(first, m)
		}
		switch {
		case len(list) > 0 && fits == 0:
			return "no alternative of " + name + " fits; " + first
		case fits > most:
			return differs(at, "what fits one alternative of "+name) + fmt.Sprintf(", which fits %d", fits)
		}
		return ""
	}
}

// parseNot parses not.
func parseNot(at problem.SourceValue, report problem.Report) check {
	if !at.Has("not") {
		return nil
	}
	forbidden := parseSchema(at.Member("not"), report)
	return simple("what does not fit under not",
		func(v canon.Value) bool { return forbidden.mismatch(problem.SourceValue{Value: v}) != "" })
}

// shownMax bounds how much of a value a message quotes, in characters.
const shownMax = 60

// differs renders a mismatch as a sentence. The value is shortened to shownMax, since it may
// be as long as the notes.
func differs(at problem.SourceValue, want string) string {
	got := []rune(string(at.Value.JCS()))
	if len(got) > shownMax {
		got = append(got[:shownMax:shownMax], '…')
	}
	return fmt.Sprintf("%s: expected %s, got %s", cmp.Or(at.Pointer, "the JSON value"), want, string(got))
}
