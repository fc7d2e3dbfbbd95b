package contract

import "github.com/waybill/waybill/durable/canon"

// Schema returns the contract as a JSON Schema (a small part of draft 2020-12): a second
// description of the same packs, with which the tests compare Check.
func (p Pack) Schema() canon.Value {
	kind := Field{kindMember, true, Shape{Type: Text, Const: canon.OfString(p.ArtifactKind)}}
	whole := p.Shape
	whole.Fields = append([]Field{kind}, p.Shape.Fields...)
	return whole.schema().
		With("$schema", canon.OfString("https://json-schema.org/draft/2020-12/schema")).
		With("$id", canon.OfString(p.ContractRef)).
		With("title", canon.OfString(p.Title)).
		With("examples", canon.OfList(p.Example))
}

// schemaTypes maps types to those of JSON Schema; Any has no type keyword.
var schemaTypes = map[Type]string{Text: "string", Integer: "integer", Number: "number", Boolean: "boolean",
	Array: "array", Object: "object", Map: "object"}

// schema returns the JSON Schema of one shape. The order in which keywords are added does
// not matter, since canon sorts members.
func (s *Shape) schema() canon.Value {
	out := members{}
	out.text("type", schemaTypes[s.Type])
	out.text("description", s.Description)
	out.text("pattern", s.Pattern)
	out.text("format", string(s.Format))
	out.number("minLength", s.MinChars)
	out.number("maxLength", s.MaxChars)
	out.texts("enum", s.Enum)
	out.set("const", s.Const, !s.Const.IsNull())
	for name, bound := range map[string]*float64{"minimum": s.Min, "maximum": s.Max} {
		if bound != nil {
			out.set(name, canon.OfFloat(*bound), true)
		}
	}
	least, most, items := "minItems", "maxItems", "items"
	if s.Type == Map {
		least, most, items = "minProperties", "maxProperties", "additionalProperties"
	}
	out.number(least, s.MinItems)
	out.number(most, s.MaxItems)
	if s.Items != nil {
		out.set(items, s.Items.schema(), true)
	}
	if s.Type == Object {
		s.schemaOfMembers(&out)
	}
	var anyOf []canon.Value
	for i := range s.AnyOf {
		anyOf = append(anyOf, s.AnyOf[i].schema())
	}
	out.set("anyOf", canon.OfList(anyOf...), len(anyOf) > 0)
	return canon.OfMembers(out.list...)
}

// schemaOfMembers adds the keywords of an Object.
func (s *Shape) schemaOfMembers(out *members) {
	var properties members
	for i := range s.Fields {
		properties.set(s.Fields[i].Name, s.Fields[i].Shape.schema(), true)
	}
	out.set("properties", canon.OfMembers(properties.list...), len(s.Fields) > 0)
	out.texts("required", requiredNames(s))
	out.set("additionalProperties", canon.OfBool(false), !s.Open)
	var one []canon.Value
	for _, name := range s.ExactlyOne {
		one = append(one, canon.OfMembers(canon.Member{Name: "required", Value: canon.OfList(canon.OfString(name))}))
	}
	out.set("oneOf", canon.OfList(one...), len(one) > 0)
}

// members collects the keywords of a schema and leaves out those without a value.
type members struct{ list []canon.Member }

// set adds a member if present is true.
func (m *members) set(name string, v canon.Value, present bool) {
	if present {
		m.list = append(m.list, canon.Member{Name: name, Value: v})
	}
}

// text, number and texts add a member unless it is empty or zero.
func (m *members) text(name, s string)       { m.set(name, canon.OfString(s), s != "") }
func (m *members) number(name string, n int) { m.set(name, canon.OfInt(int64(n)), n != 0) }

func (m *members) texts(name string, list []string) {
	items := make([]canon.Value, len(list))
	for i, s := range list {
		items[i] = canon.OfString(s)
	}
	m.set(name, canon.OfList(items...), len(items) > 0)
}
