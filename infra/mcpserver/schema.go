package mcpserver

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/event"
	"github.com/waybill/waybill/durable/fault"
)

// Results gives, for every kind of document that is no error, a value of the type
// of its data: what the tools answer is described from the types that they answer
// with, never beside them.
type Results map[string]any

// schemaOptions say how types are spelt where Go and canon differ: what marshals as
// text is a string, a canon.Value is anything, and a type within itself is an object.
func schemaOptions(t reflect.Type) *jsonschema.ForOptions {
	known := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[canon.Value](): {},
		reflect.TypeFor[Object]():      {Type: "object"},
		reflect.TypeFor[event.Autonomy](): {Type: "string",
			Enum: []any{string(event.Guided), string(event.FullAutoStopOnUserDeps), string(event.FullAutoNeverStop)}},
		reflect.TypeFor[event.RiskPolicy](): {Type: "string",
			Enum: []any{string(event.Conservative), string(event.Balanced), string(event.Aggressive)}},
	}
	learn(t, known, map[reflect.Type]bool{})
	return &jsonschema.ForOptions{TypeSchemas: known}
}

var textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()

func learn(t reflect.Type, known map[reflect.Type]*jsonschema.Schema, around map[reflect.Type]bool) {
	if known[t] != nil {
		return
	}
	switch {
	case t.Kind() != reflect.Pointer && t.Implements(textMarshaler):
		known[t] = &jsonschema.Schema{Type: "string"}
	case around[t]:
		known[t] = &jsonschema.Schema{Type: "object"}
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map:
		learn(t.Elem(), known, around)
	case t.Kind() == reflect.Struct:
		around[t] = true
		for i := range t.NumField() {
			learn(t.Field(i).Type, known, around)
		}
		delete(around, t)
	}
}

// inputSchema is what a tool takes: closed, so that a misspelt parameter is told
// and not passed over (design R5).
func (t tool) inputSchema() *jsonschema.Schema {
	s, err := jsonschema.ForType(t.input, schemaOptions(t.input))
	if err != nil {
		panic(fmt.Sprintf("mcpserver: the input of %s has no schema: %v", t.name, err))
	}
	each(s, func(s *jsonschema.Schema) {
		s.Type, s.Types = plainType(s), nil // what is absent is left out; null is not advertised
	})
	return s
}

// outputSchema is what a tool answers: open, so that a newer server may say more.
// It covers errors too, since some clients check those as well.
func (t tool) outputSchema(results Results) *jsonschema.Schema {
	typ := t.dataType(results)
	data, err := jsonschema.ForType(typ, schemaOptions(typ))
	if err != nil {
		panic(fmt.Sprintf("mcpserver: the results of %s have no schema: %v", t.name, err))
	}
	problem, err := jsonschema.For[errorBody](schemaOptions(reflect.TypeFor[errorBody]()))
	if err != nil {
		panic(fmt.Sprintf("mcpserver: errors have no schema: %v", err))
	}
	kinds := []any{}
	for _, k := range append(slices.Clone(t.kinds), "error") {
		kinds = append(kinds, k)
	}
	out := &jsonschema.Schema{Type: "object", Required: []string{"v", "kind"}, PropertyOrder: []string{"v", "kind", "data", "error"},
		Properties: map[string]*jsonschema.Schema{"v": {Type: "integer"}, "kind": {Type: "string", Enum: kinds}, "data": data, "error": problem}}
	each(out, func(s *jsonschema.Schema) {
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

// each visits a schema and all below it.
func each(s *jsonschema.Schema, visit func(*jsonschema.Schema)) {
	if s == nil {
		return
	}
	visit(s)
	for _, p := range s.Properties {
		each(p, visit)
	}
	each(s.Items, visit)
}

func plainType(s *jsonschema.Schema) string {
	for _, t := range s.Types {
		if t != "null" {
			return t
		}
	}
	return s.Type
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
		out = append(out, Definition{t.name, t.title, t.teaches, t.signature(), parameters("", t.inputSchema()), t.kinds, t.errors})
	}
	return out
}

func parameters(prefix string, s *jsonschema.Schema) []Parameter {
	var out []Parameter
	for _, name := range s.PropertyOrder {
		p := s.Properties[name]
		one := Parameter{Name: prefix + name, Type: p.Type, Required: slices.Contains(s.Required, name), Description: p.Description}
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
