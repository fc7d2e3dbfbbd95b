// Package schema describes Go types as JSON Schema (draft 2020-12): what is printed
// and stored is described by the types that it is made from, never beside them
// (locks 16.2). It knows how our types are spelt; which documents there are is its
// callers' business.
package schema

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/reason"
)

// Schema is a JSON Schema.
type Schema = jsonschema.Schema

// Draft is the version of JSON Schema that is written.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// Of is the schema of a type as durable/canon writes it: closed, so that a member more
// is refused. Open opens it.
func Of(t reflect.Type) *Schema {
	known := map[reflect.Type]*Schema{
		reflect.TypeFor[canon.Value](): {},
		reflect.TypeFor[reason.Code](): reasonSchema(),
	}
	for t, all := range words() {
		known[t] = &Schema{Type: "string", Enum: anys(all)}
	}
	for t, form := range spelt() {
		known[t] = &Schema{Type: "string", Pattern: form}
	}
	learn(t, known, map[reflect.Type]bool{})
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		panic(fmt.Sprintf("schema: %v has none: %v", t, err))
	}
	Each(s, neverNull)
	return s
}

// neverNull takes null out where our codec does not write it: a list is never null,
// and a member that may be absent is absent then.
func neverNull(s *Schema) {
	if slices.Contains(s.Types, "array") {
		plain(s)
	}
	for name, p := range s.Properties {
		if !slices.Contains(s.Required, name) {
			plain(p)
		}
	}
	if len(s.Types) > 0 && s.Enum != nil {
		s.Enum = append(s.Enum, nil) // null is of no set, and allowed here
	}
}

func plain(s *Schema) {
	if len(s.Types) > 0 {
		s.Type, s.Types = PlainType(s), nil
	}
}

// reasonSchema is a reason as a record spells it, whose details are a closed set too.
func reasonSchema() *Schema {
	var details []string
	for _, row := range reason.Table {
		details = append(details, row.Code.Detail)
	}
	return Object(map[string]*Schema{"category": {Type: "string",
		Enum: anys(words()[reflect.TypeFor[reason.Category]()])},
		"detail": {Type: "string", Enum: anys(details)}}, "category", "detail")
}

func anys(all []string) []any {
	out := make([]any, len(all))
	for i, s := range all {
		out[i] = s
	}
	return out
}

var textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()

// learn finds what Go and our own codec spell otherwise than the library thinks: what
// marshals as text is a string, and a type within itself is an object.
func learn(t reflect.Type, known map[reflect.Type]*Schema, around map[reflect.Type]bool) {
	if known[t] != nil {
		return
	}
	switch {
	case t.Kind() != reflect.Pointer && t.Implements(textMarshaler):
		known[t] = &Schema{Type: "string"}
	case t.Kind() == reflect.Map && t.Elem() == reflect.TypeFor[canon.Value]():
		known[t] = &Schema{Type: "object"} // members are whatever the caller knows
	case around[t]:
		known[t] = &Schema{Type: "object"}
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array ||
		t.Kind() == reflect.Map:
		learn(t.Elem(), known, around)
	case t.Kind() == reflect.Struct:
		around[t] = true
		for i := range t.NumField() {
			learn(t.Field(i).Type, known, around)
		}
		delete(around, t)
	}
}

// Open lets objects have members that the schema does not name: what we answer may
// say more in a later version (R5).
func Open(s *Schema) *Schema {
	Each(s, func(s *Schema) {
		if (s.Type == "object" || slices.Contains(s.Types, "object")) && s.Properties != nil {
			s.AdditionalProperties = nil
		}
	})
	return s
}

// Present takes null out: what is absent is left out, and never null (docs/format.md,
// section 3).
func Present(s *Schema) *Schema {
	Each(s, plain)
	return s
}

// PlainType is the type of a schema, null aside.
func PlainType(s *Schema) string {
	for _, t := range s.Types {
		if t != "null" {
			return t
		}
	}
	return s.Type
}

// Each visits a schema and all below it.
func Each(s *Schema, visit func(*Schema)) {
	if s == nil {
		return
	}
	visit(s)
	for _, p := range s.Properties {
		Each(p, visit)
	}
	for _, list := range [][]*Schema{s.OneOf, s.AnyOf, s.AllOf} {
		for _, p := range list {
			Each(p, visit)
		}
	}
	Each(s.Items, visit)
	if s.AdditionalProperties != nil && s.AdditionalProperties.Not == nil {
		Each(s.AdditionalProperties, visit)
	}
}

// Object is a closed object with these members.
func Object(members map[string]*Schema, required ...string) *Schema {
	return &Schema{Type: "object", Properties: members, Required: required, AdditionalProperties: Nothing()}
}

// Nothing is the schema that no value has; as AdditionalProperties it closes an object.
func Nothing() *Schema { return &Schema{Not: &Schema{}} }

// Const is the schema of one value.
func Const(v any) *Schema { return &Schema{Const: &v} }
