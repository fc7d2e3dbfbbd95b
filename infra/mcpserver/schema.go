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

// Results gives, for every kind of document that is no error, a value of the type
// of its data: what the tools answer is described from the types that they answer
// with, never beside them.
type Results map[string]any

// inputSchema is what a tool takes: closed, so that a misspelt parameter is told
// and not passed over (design R5).
func (t tool) inputSchema() *jsonschema.Schema {
	return schema.Present(schema.Of(t.input))
}

// outputSchema is what a tool answers: open, so that a newer server may say more.
// It covers errors too, since some clients check those as well.
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
	schema.Each(out, func(s *jsonschema.Schema) {
		if s.Type == "object" || slices.Contains(s.Types, "object") {
			s.AdditionalProperties = nil
		}
		s.Description = "" // comments of Go types are no words for agents
	})
	return out
}

// dataType is the one type of a tool's documents.
func (t tool) dataType(results Results) reflect.Type {
	var out reflect.Type
	for _, kind := range t.kinds {
		typ := reflect.TypeOf(results[kind])
		if typ == nil || out != nil && out != typ {
			panic(fmt.Sprintf("mcpserver: %s answers %s with %v", t.name, kind, typ))
		}
		out = typ
	}
	return out
}

// Parameter is one parameter of a tool, or of an object among them.
type Parameter struct {
	Name        string // with the names of the objects around it: output.notesMarkdown
	Type        string // as JSON Schema calls it
	Words       []string
	Required    bool
	Description string
}

// Definition is what there is to say about a tool, for the reference.
type Definition struct {
	Name       string
	Title      string
	Teaches    string
	Signature  string
	Parameters []Parameter
	Kinds      []string
	Errors     []fault.Code
}

// Definitions lists the tools in the order of their use.
func Definitions() []Definition {
	var out []Definition
	for _, t := range tools {
		out = append(out, Definition{t.name, t.title, t.teaches, t.signature(), parameters("", t.inputSchema()),
			t.kinds, t.errors})
	}
	return out
}

func parameters(prefix string, s *jsonschema.Schema) []Parameter {
	var out []Parameter
	for _, name := range s.PropertyOrder {
		p := s.Properties[name]
		one := Parameter{Name: prefix + name, Type: p.Type, Required: slices.Contains(s.Required, name),
			Description: p.Description}
		for _, w := range p.Enum {
			one.Words = append(one.Words, fmt.Sprint(w))
		}
		out = append(append(out, one), parameters(prefix+name+".", p)...)
	}
	return out
}

// signature is the call in one line: name {required, optional?, list? []}.
func (t tool) signature() string { return t.name + " " + members(t.inputSchema()) }

func members(s *jsonschema.Schema) string {
	var out []string
	for _, name := range s.PropertyOrder {
		p := s.Properties[name]
		if !slices.Contains(s.Required, name) {
			name += "?"
		}
		switch {
		case len(p.Properties) > 0:
			name += " " + members(p)
		case p.Type == "array":
			name += " []"
		}
		out = append(out, name)
	}
	return "{" + strings.Join(out, ", ") + "}"
}
