package criteria

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
)

// annotations are the keywords that are accepted and have no effect. format is one of them,
// because implementations differ in what they check for it.
var annotations = []string{"$comment", "$id", "$schema", "default", "description", "examples", "format", "title"}

// schemaKeywords are the keywords that are checked.
var schemaKeywords = []string{"additionalProperties", "allOf", "anyOf", "const", "enum", "items", "maxItems",
	"maxLength",
	"maxProperties", "maximum", "minItems", "minLength", "minProperties", "minimum", "not", "oneOf", "pattern",
	"properties",
	"required", "type", "uniqueItems"}

// schemaTypes are the values of the keyword type.
var schemaTypes = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// schema parses one schema. Unsupported keywords are errors: the author would expect them
// to be checked.
func (p *parser) schema(at problem.SourceValue) jsonSchema {
	s := jsonSchema{minLength: -1, maxLength: -1, minItems: -1, maxItems: -1, minMembers: -1, maxMembers: -1}
	// true accepts every value, as the empty schema does; false rejects every value.
	if at.Value.Kind() == canon.Bool {
		s.rejectsAll = !at.Value.True()
		return s
	}
	if at.Value.Kind() != canon.Object {
		p.fail(at, `Write a schema such as {"type": "object", "required": ["findings"]}.`,
			"a schema must be an object or true or false, got %s", at.Value.Kind())
		return s
	}
	for _, name := range at.Names() {
		if !slices.Contains(annotations, name) && !slices.Contains(schemaKeywords, name) {
			p.fail(at.Member(name), "Use "+strings.Join(schemaKeywords, ", ")+".", "schema keyword %q is not supported",
				name)
		}
	}
	p.schemaValues(at, &s)
	p.schemaBounds(at, &s)
	p.schemaMembers(at, &s)
	s.anyOf, s.oneOf, s.allOf = p.schemas(at, "anyOf"), p.schemas(at, "oneOf"), p.schemas(at, "allOf")
	s.not = p.inner(at, "not")
	return s
}

// schemaValues parses type, const, enum and pattern. When both const and enum are present,
// only values of both are accepted.
func (p *parser) schemaValues(at problem.SourceValue, s *jsonSchema) {
	// type is one name or a list of names.
	types := []problem.SourceValue{at.Member("type")}
	if at.Member("type").Value.Kind() == canon.Array {
		types = at.Member("type").Items()
	}
	for _, t := range types {
		if !at.Has("type") {
			break
		}
		if !slices.Contains(schemaTypes, t.Value.Text()) {
			p.fail(t, "Write "+strings.Join(schemaTypes, ", ")+".", "a schema's type is one of JSON's, got %s",
				t.Value.JCS())
		}
		s.types = append(s.types, t.Value.Text())
	}
	if at.Has("type") && len(types) == 0 {
		p.fail(at.Member("type"), "Name a type, or leave it out.", "an empty list of types rejects every value")
	}
	if at.Has("const") {
		s.enum = []canon.Value{at.Member("const").Value}
	}
	if at.Has("enum") {
		// With const present, keep the values that are in both; none is an error below.
		var listed []canon.Value
		for _, item := range at.Member("enum").Items() {
			if s.enum == nil || slices.ContainsFunc(s.enum, item.Value.Equal) {
				listed = append(listed, item.Value)
			}
		}
		if s.enum = listed; len(listed) == 0 {
			p.fail(at.Member("enum"), "List the values that are accepted.",
				"enum must be a list of at least one value, with const among them")
		}
	}
	if at.Has("pattern") {
		s.pattern, s.patternText = p.compile(at.Member("pattern"), ""), at.Member("pattern").Value.Text()
	}
}

// schemaBounds parses the numeric bounds. Contradictory bounds are errors.
func (p *parser) schemaBounds(at problem.SourceValue, s *jsonSchema) {
	// The order of map iteration does not matter: problems are sorted by place later.
	for name, bound := range map[string]**float64{"minimum": &s.minimum, "maximum": &s.maximum} {
		if !at.Has(name) {
			continue
		}
		if at.Member(name).Value.Kind() != canon.Number {
			p.fail(at.Member(name), "Write a number.", "%s must be a number", name)
			continue
		}
		f := at.Member(name).Value.Float()
		*bound = &f
	}
	for name, bound := range map[string]*int{"minLength": &s.minLength, "maxLength": &s.maxLength,
		"minItems": &s.minItems, "maxItems": &s.maxItems,
		"minProperties": &s.minMembers, "maxProperties": &s.maxMembers} {
		*bound = p.schemaCount(at, name)
	}
	if s.minimum != nil && s.maximum != nil && *s.minimum > *s.maximum {
		p.fail(at, "Exchange the two.", "minimum %v is more than maximum %v", *s.minimum, *s.maximum)
	}
	for _, pair := range []struct {
		low, high int
		what      string
	}{{s.minLength, s.maxLength, "Length"}, {s.minItems, s.maxItems, "Items"},
		{s.minMembers, s.maxMembers, "Properties"}} {
		if pair.high >= 0 && pair.low > pair.high {
			p.fail(at, "Exchange the two.", "min%s %d is more than max%s %d", pair.what, pair.low, pair.what, pair.high)
		}
	}
}

// schemaCount parses a bound that is a count, -1 if it is absent.
func (p *parser) schemaCount(at problem.SourceValue, name string) int {
	member := at.Member(name)
	f := member.Value.Float()
	switch {
	case !at.Has(name):
		return -1
	case member.Value.Kind() != canon.Number || f != math.Trunc(f) || f < 0 || f > math.MaxInt32:
		p.fail(member, "Write a number such as 3.", "%s must be a whole number from 0", name)
		return -1
	}
	return int(f)
}

// schemaMembers parses the keywords about members and items. properties are sorted by name,
// for the binary search in object.
func (p *parser) schemaMembers(at problem.SourceValue, s *jsonSchema) {
	properties := at.Member("properties")
	if at.Has("properties") && properties.Value.Kind() != canon.Object {
		p.fail(properties, `Write properties: {"name": {"type": "string"}}.`, "properties must be an object, got %s",
			properties.Value.Kind())
	}
	for _, name := range properties.Names() {
		s.properties = append(s.properties, property{name, p.schema(properties.Member(name))})
	}
	slices.SortFunc(s.properties, func(a, b property) int { return strings.Compare(a.name, b.name) })
	required := at.Member("required")
	if at.Has("required") && required.Value.Kind() != canon.Array {
		p.fail(required, `Write required: ["name"].`, "required must be a list of names, got %s", required.Value.Kind())
	}
	for _, item := range required.Items() {
		if item.Value.Kind() != canon.String {
			p.fail(item, "Write a member's name.", "required lists names, got %s", item.Value.Kind())
		}
		s.required = append(s.required, item.Value.Text())
	}
	if at.Has("uniqueItems") && at.Member("uniqueItems").Value.Kind() != canon.Bool {
		p.fail(at.Member("uniqueItems"), "Write true or false.", "uniqueItems must be true or false, got %s",
			at.Member("uniqueItems").Value.Kind())
	}
	s.unique = at.Member("uniqueItems").Value.True()
	s.additional, s.items = p.inner(at, "additionalProperties"), p.inner(at, "items")
}

// inner parses the schema of a keyword, nil if it is absent.
func (p *parser) inner(at problem.SourceValue, name string) *jsonSchema {
	if !at.Has(name) {
		return nil
	}
	s := p.schema(at.Member(name))
	return &s
}

// schemas parses the list of schemas of a keyword, nil if it is absent.
func (p *parser) schemas(at problem.SourceValue, name string) []jsonSchema {
	list := at.Member(name)
	if at.Has(name) && len(list.Items()) == 0 {
		p.fail(list, "Write "+name+": [ … ] with at least one schema.", "%s must be a list of at least one schema",
			name)
	}
	var out []jsonSchema
	for _, item := range list.Items() {
		out = append(out, p.schema(item))
	}
	return out
}

// compile compiles a pattern. On failure it reports every construct that RE2 does not
// support and returns nil.
func (p *parser) compile(at problem.SourceValue, flags string) *regexp.Regexp {
	if at.Value.Kind() != canon.String {
		p.fail(at, "Write a regular expression (RE2).", "a pattern must be a string, got %s", at.Value.Kind())
		return nil
	}
	expr := translate(at.Value.Text()).expr
	if flags != "" {
		expr = "(?" + flags + ")" + expr
	}
	re, err := regexp.Compile(expr)
	if err == nil {
		return re
	}
	for _, c := range explainPattern(at.Value.Text(), err) {
		p.fail(at, c.fix, "the pattern is not valid: %s", c.what)
	}
	return nil
}
