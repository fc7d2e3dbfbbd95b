package criteria

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// Schema returns the JSON Schema (draft 2020-12) of one rule or combination, derived from
// the table of rule types. validationCriteria is one of these, or a list. self and
// condition are the references to this schema and to that of a condition, such as
// "#/$defs/condition".
func Schema(self, condition string) canon.Value {
	var forms []canon.Value
	for _, t := range ruleTypes {
		forms = append(forms, t.schema(condition))
	}
	forms = append(forms, shape.Combinations(shape.JSONOf("$ref", self))...)
	return shape.Keywords{"title": "a validation rule", "anyOf": forms,
		"description": "A check of a step's notes: one rule, or rules combined with and, or, not"}.Value()
}

// schema returns the schema of the rules of a type.
func (t ruleType) schema(condition string) canon.Value {
	properties := map[string]canon.Value{
		"type":      shape.JSONOf("const", t.name),
		"condition": shape.JSONOf("$ref", condition),
		"message": shape.Keywords{"type": "string",
			"description": "The message shown when the rule fails; without one, the rule itself is described"}.Value(),
	}
	required := []string{"type"}
	var one []shape.Keywords
	for _, key := range t.keys {
		properties[key.name] = key.schema.Value()
		if key.required {
			required = append(required, key.name)
		}
		one = append(one, shape.Keywords{"required": []string{key.name}})
	}
	form := shape.Closed(properties, required...)
	if len(required) == 1 { // one of the keys is needed
		form["anyOf"] = one
	}
	return form.Value()
}
