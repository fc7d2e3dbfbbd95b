package condition

import "github.com/waybill/waybill/durable/canon"

// Schema returns the JSON Schema (draft 2020-12) of a condition, derived from the table of
// operators. self is the reference to the schema itself, such as "#/$defs/condition", which
// nested conditions use.
func Schema(self string) canon.Value {
	again := named("$ref", canon.OfString(self))
	list := canon.OfMembers(named("type", canon.OfString("array")), named("items", canon.OfMembers(again)),
		named("minItems", canon.OfInt(1)))
	comparison := []canon.Member{named("var", canon.OfMembers(named("type", canon.OfString("string")),
		named("minLength", canon.OfInt(1)),
		named("description", canon.OfString(
			`The context variable, a path of names joined by dots; without a comparison it must be set and not be `+
				`null, false, 0 or ""`))))}
	for _, op := range operators {
		comparison = append(comparison, named(op.name, op.schema()))
	}
	return canon.OfMembers(
		named("title", canon.OfString("a condition")),
		named("description", canon.OfString(`Tests the run's context: a comparison such as `+example+
			`, a var alone, or and, or, not`)),
		named("anyOf", canon.OfList(
			closed(canon.OfMembers(comparison...), "var"),
			closed(canon.OfMembers(named("and", list)), "and"),
			closed(canon.OfMembers(named("or", list)), "or"),
			closed(canon.OfMembers(named("not", canon.OfMembers(again))), "not"))))
}

// schema returns the schema of the operator's operand.
func (op operator) schema() canon.Value {
	kinds := make([]canon.Value, len(op.want))
	for i, k := range op.want {
		kinds[i] = canon.OfString(k.String())
	}
	out := canon.OfMembers(named("description", canon.OfString(op.text)))
	switch {
	case len(kinds) == 1:
		out = out.With("type", kinds[0])
	case len(kinds) > 1:
		out = out.With("type", canon.OfList(kinds...))
	}
	if op.name == "in" {
		out = out.With("minItems", canon.OfInt(1))
	}
	return out
}

// closed returns the schema of an object with these properties only.
func closed(properties canon.Value, required string) canon.Value {
	return canon.OfMembers(named("type", canon.OfString("object")), named("properties", properties),
		named("required", canon.OfList(canon.OfString(required))), named("additionalProperties", canon.OfBool(false)))
}

// named returns a member of a schema.
func named(name string, v canon.Value) canon.Member { return canon.Member{Name: name, Value: v} }
