package source

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/condition"
	"github.com/waybill/waybill/durable/workflow/criteria"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// Where the parts stand that refer to themselves.
const (
	stepRef      = "#/$defs/step"
	conditionRef = "#/$defs/condition"
	ruleRef      = "#/$defs/validationRule"
)

// Schema is the JSON Schema (draft 2020-12) of a workflow file, for editors. It is
// made from the shapes that Parse checks with and is the same in every call; rules
// that bind several places together, such as ids that must exist, are Parse's alone.
func Schema() canon.Value {
	return workflowShape.Schema(describe).
		With("$schema", canon.OfString("https://json-schema.org/draft/2020-12/schema")).
		With("title", canon.OfString("Waybill workflow")).
		With("description", canon.OfString(
			"A workflow: the steps of some work, what each asks for, and when it is shown")).
		With("$defs", canon.OfMembers(
			canon.Member{Name: "step", Value: stepShape.Schema(describe)},
			canon.Member{Name: "condition", Value: condition.Schema(conditionRef)},
			canon.Member{Name: "validationRule", Value: criteria.Schema(ruleRef, conditionRef)}))
}

// describe finds the sentence about a key.
func describe(what, key string) string { return descriptions[what+"."+key] }

// Schema is said once for all places.
func (conditional) Schema(shape.Describe) canon.Value { return shape.JSONOf("$ref", conditionRef) }

// Schema is one rule or a list of them.
func (validation) Schema(shape.Describe) canon.Value {
	rule := shape.JSONOf("$ref", ruleRef)
	return shape.AnyOf(rule, shape.JSONOf("type", "array").With("items", rule).With("minItems", canon.OfInt(1)))
}

// Schema is said once for all places.
func (anyStep) Schema(shape.Describe) canon.Value { return shape.JSONOf("$ref", stepRef) }

// Schema is that of a name.
func (loopWhile) Schema(say shape.Describe) canon.Value { return conditionRefShape.Schema(say) }

// Schema is either.
func (loopCondition) Schema(say shape.Describe) canon.Value {
	return shape.AnyOf(conditional{}.Schema(say), conditionRefShape.Schema(say))
}

// Schema adds what each type of loop needs beside the keys that all have.
func (loopConfig) Schema(say shape.Describe) canon.Value {
	out := loopConfigShape.Schema(say)
	var rules []canon.Value
	when := func(kind string, needs ...string) {
		var alternatives []canon.Value
		for _, key := range needs {
			alternatives = append(alternatives,
				canon.OfMembers(canon.Member{Name: "required", Value: canon.OfList(canon.OfString(key))}))
		}
		is := canon.OfMembers(canon.Member{Name: "type", Value: shape.JSONOf("const", kind)})
		rules = append(rules, canon.OfMembers(
			canon.Member{Name: "if", Value: canon.OfMembers(canon.Member{Name: "properties", Value: is})},
			canon.Member{Name: "then", Value: shape.AnyOf(alternatives...)}))
	}
	when("while", "condition", "conditionSource")
	when("until", "condition", "conditionSource")
	when("for", "count")
	when("forEach", "items")
	return out.With("allOf", canon.OfList(rules...))
}
