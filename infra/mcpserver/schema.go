package mcpserver

import (
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/schema"
)

// inputSchema is the schema of the arguments. It is closed, so that a misspelled parameter is
// reported (docs/design.md#json-from-outside).
//
// Names, types, required members and descriptions come from the Go type and its tags.
func (t tool) inputSchema() *jsonschema.Schema {
	return schema.WithoutNull(schema.Of(t.input))
}

// outputSchema is the schema of the results: short and open, since it is part of every chat that has
// the tool. It names the envelope of the documents and of errors, which some clients check as well.
// The members of each kind are in the schemas that 'waybill schema' prints.
func (t tool) outputSchema() *jsonschema.Schema {
	kinds := []any{}
	for _, k := range append(slices.Clone(t.kinds), "error") {
		kinds = append(kinds, k)
	}
	return &jsonschema.Schema{Type: "object", Required: []string{"v", "kind"},
		PropertyOrder: []string{"v", "kind", "data", "error"},
		Properties: map[string]*jsonschema.Schema{"v": {Type: "integer"}, "kind": {Type: "string", Enum: kinds},
			"data": {Type: "object"}, "error": {Type: "object"}}}
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
