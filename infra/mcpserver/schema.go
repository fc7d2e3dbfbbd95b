package mcpserver

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/schema"
)

// Results has, for every kind of document except error, a value of the type of its data: output
// schemas are derived from the types that the tools return.
type Results map[string]any

// inputSchema is the schema of the arguments. It is closed, so that a misspelled parameter is
// reported (docs/design.md#json-from-outside).
//
// Names, types, required members and descriptions come from the Go type and its tags.
func (t tool) inputSchema() *jsonschema.Schema {
	return schema.WithoutNull(schema.Of(t.input))
}

// outputSchema is the schema of the results. It is open, since a newer server may add members, and
// includes errors, since some clients check those as well.
//
// The schema has the members v, kind, data and error, of which v and kind are required. It is made
// for each tool from the entry of its kinds in results.
func (t tool) outputSchema(results Results) *jsonschema.Schema {
	data, problem := schema.Of(t.dataType(results)), schema.Of(reflect.TypeFor[errorBody]())
	kinds := []any{}
	for _, k := range append(slices.Clone(t.kinds), "error") {
		kinds = append(kinds, k)
	}
	out := &jsonschema.Schema{Type: "object", Required: []string{"v", "kind"},
		PropertyOrder: []string{"v", "kind", "data", "error"},
		Properties: map[string]*jsonschema.Schema{"v": {Type: "integer"}, "kind": {Type: "string", Enum: kinds},
			"data": data, "error": problem}}
	schema.Walk(out, func(s *jsonschema.Schema) {
		if s.Type == "object" || slices.Contains(s.Types, "object") {
			s.AdditionalProperties = nil
		}
		s.Description = "" // comments of Go types are not written for agents
	})
	return out
}

// dataType is the type of the data of all documents of a tool. Different types are a bug and panic.
func (t tool) dataType(results Results) reflect.Type {
	var out reflect.Type
	for _, kind := range t.kinds {
		typ := reflect.TypeOf(results[kind])
		if typ == nil || out != nil && out != typ {
			panic(fmt.Sprintf("mcpserver: the documents of %s have several types: %s is %v", t.name, kind, typ))
		}
		out = typ
	}
	return out
}

// Definition describes a tool for the generated reference docs/mcp.md.
type Definition struct {
	Name        string
	Title       string
	Description string
	Signature   string
	Input       *jsonschema.Schema // of the arguments
	Kinds       []string
	Errors      []fault.Code
}

// Definitions returns the tools in the order of their use.
func Definitions() []Definition {
	var out []Definition
	for _, t := range tools {
		out = append(out, Definition{t.name, t.title, t.description, t.signature(), t.inputSchema(), t.kinds, t.errors})
	}
	return out
}

// signature is the call in one line: name {required, optional?, list? []}.
func (t tool) signature() string { return t.name + " " + memberList(t.inputSchema()) }

// memberList is the part of a signature in braces.
func memberList(s *jsonschema.Schema) string {
	var out []string
	for _, name := range s.PropertyOrder {
		p := s.Properties[name]
		if !slices.Contains(s.Required, name) {
			name += "?"
		}
		switch {
		case len(p.Properties) > 0:
			name += " " + memberList(p)
		case p.Type == "array":
			name += " []"
		}
		out = append(out, name)
	}
	return "{" + strings.Join(out, ", ") + "}"
}
