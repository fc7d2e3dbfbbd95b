package condition

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// Schema returns the JSON Schema (draft 2020-12) of a condition, derived from the table of
// operators. self is the reference to the schema itself, such as "#/$defs/condition", which
// nested conditions use.
func Schema(self string) canon.Value {
	comparison := map[string]canon.Value{"var": shape.Keywords{"type": "string", "minLength": 1,
		"description": `The context variable, a path of names joined by dots; without a comparison it must be ` +
			`set and not be null, false, 0 or ""`}.Value()}
	for _, op := range operators {
		comparison[op.name] = op.schema()
	}
	forms := []canon.Value{shape.Closed(comparison, "var").Value()}
	return shape.Keywords{
		"title": "a condition",
		"description": `Tests the run's context: a comparison such as ` + example +
			`, a var alone, or and, or, not`,
		"anyOf": append(forms, shape.Combinations(shape.JSONOf("$ref", self))...),
	}.Value()
}

// schema returns the schema of the operator's operand.
func (op operator) schema() canon.Value {
	keywords := shape.Keywords{"description": op.text, "type": kindNames(op.want)}
	if len(op.want) == 1 {
		keywords["type"] = op.want[0].String()
	}
	if op.name == "in" {
		keywords["minItems"] = 1
	}
	return keywords.Value()
}
