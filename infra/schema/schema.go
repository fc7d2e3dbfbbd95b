// Package schema derives JSON Schemas (draft 2020-12) from Go types: printed and stored documents
// are described by the types that they are made from, so that the two cannot differ
// (docs/design.md#schema-closure). It knows how the types of this module are encoded, which package
// jsonschema does not; its callers know which documents exist. Start with Of; enums.go lists the
// closed sets.
package schema

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// Schema is a JSON Schema.
type Schema = jsonschema.Schema

// Draft identifies the version of JSON Schema.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// Of is the schema of a type as package canon encodes it. Objects are closed, so an additional
// member is refused; OpenObjects opens them. A type without a schema is a bug and panics.
//
// These types are known besides those of the library: canon.Value (any value), reason.Code,
// engine.Confirmation, the enums and the string patterns of this package.
func Of(t reflect.Type) *Schema {
	known := map[reflect.Type]*Schema{
		reflect.TypeFor[canon.Value]():         {},
		reflect.TypeFor[reason.Code]():         reasonSchema(),
		reflect.TypeFor[engine.Confirmation](): confirmationSchema(),
	}
	for t, all := range enums() {
		known[t] = &Schema{Type: "string", Enum: slices.Clone(all)}
	}
	for t, form := range stringPatterns() {
		known[t] = &Schema{Type: "string", Pattern: form}
	}
	collectKnown(t, known, map[reflect.Type]bool{})
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		panic(fmt.Sprintf("schema: %v has none: %v", t, err))
	}
	Walk(s, dropUnwrittenNull)
	return s
}

// dropUnwrittenNull removes null from types where package canon does not write it: lists are never
// null, and optional members are absent instead.
func dropUnwrittenNull(s *Schema) {
	if slices.Contains(s.Types, "array") {
		dropNull(s)
	}
	for name, p := range s.Properties {
		if !slices.Contains(s.Required, name) {
			dropNull(p)
		}
	}
	if len(s.Types) > 0 && s.Enum != nil {
		s.Enum = append(s.Enum, nil) // an enum must list null where the type permits it
	}
}

// dropNull removes null from the types of a schema, of which one remains.
func dropNull(s *Schema) {
	if i := slices.IndexFunc(s.Types, func(t string) bool { return t != "null" }); i >= 0 {
		s.Type, s.Types = s.Types[i], nil
	}
}

// reasonSchema is the schema of a reason in a record. Its details are a closed set.
func reasonSchema() *Schema {
	var details []any
	for _, row := range reason.Table {
		details = append(details, row.Code.Detail)
	}
	category := slices.Clone(enums()[reflect.TypeFor[reason.Category]()])
	return Object(map[string]*Schema{"category": {Type: "string", Enum: category},
		"detail": {Type: "string", Enum: details}}, "category", "detail")
}

// confirmationSchema is the schema of what a pending step waits for: a boolean, or an approval.
func confirmationSchema() *Schema {
	return &Schema{OneOf: []*Schema{{Type: "boolean"}, Object(map[string]*Schema{
		"kind":     Const(string(compile.ConfirmApproval)),
		"approved": {Type: "boolean"}}, "kind")}}
}

// textMarshaler is implemented by types that are encoded as strings.
var textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()

// collectKnown adds schemas for types in t that package jsonschema would describe differently: a
// text marshaler is a string, and a recursive type is an object. enclosing are the types around t.
//
// It does not descend into types that are known already.
func collectKnown(t reflect.Type, known map[reflect.Type]*Schema, enclosing map[reflect.Type]bool) {
	if known[t] != nil {
		return
	}
	switch {
	case t.Kind() != reflect.Pointer && t.Implements(textMarshaler):
		known[t] = &Schema{Type: "string"}
	case t.Kind() == reflect.Map && t.Elem() == reflect.TypeFor[canon.Value](), enclosing[t]:
		known[t] = &Schema{Type: "object"} // with any members
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array ||
		t.Kind() == reflect.Map:
		collectKnown(t.Elem(), known, enclosing)
	case t.Kind() == reflect.Struct:
		enclosing[t] = true
		for i := range t.NumField() {
			collectKnown(t.Field(i).Type, known, enclosing)
		}
		delete(enclosing, t)
	}
}

// OpenObjects permits members that a schema does not name, since a later version may add members to its
// answers (docs/design.md#json-from-outside). It changes and returns s.
func OpenObjects(s *Schema) *Schema {
	Walk(s, func(s *Schema) {
		if (s.Type == "object" || slices.Contains(s.Types, "object")) && s.Properties != nil {
			s.AdditionalProperties = nil
		}
	})
	return s
}

// WithoutNull removes null everywhere: absent members are omitted, never null (docs/format.md). It
// changes and returns s.
func WithoutNull(s *Schema) *Schema {
	Walk(s, dropNull)
	return s
}

// Walk calls visit for a schema and all schemas in it, outermost first.
//
// Members are visited in no defined order.
func Walk(s *Schema, visit func(*Schema)) {
	if s == nil {
		return
	}
	visit(s)
	inner := slices.Concat(slices.Collect(maps.Values(s.Properties)), s.OneOf, s.AnyOf, s.AllOf, []*Schema{s.Items})
	if s.AdditionalProperties != nil && s.AdditionalProperties.Not == nil {
		inner = append(inner, s.AdditionalProperties)
	}
	for _, p := range inner {
		Walk(p, visit)
	}
}

// Object is the schema of a closed object with these members.
//
// Required members must be among members. The order of properties is not defined.
func Object(members map[string]*Schema, required ...string) *Schema {
	return &Schema{Type: "object", Properties: members, Required: required,
		AdditionalProperties: &Schema{Not: &Schema{}}} // no value is valid
}

// Const is the schema of one value.
func Const(v any) *Schema { return &Schema{Const: &v} }
