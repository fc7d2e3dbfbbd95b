package source

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/builtin"
	"github.com/waybill/waybill/durable/workflow/condition"
	"github.com/waybill/waybill/durable/workflow/contract"
	"github.com/waybill/waybill/durable/workflow/criteria"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// References to the definitions of the schema that are recursive.
const (
	stepRef      = "#/$defs/step"
	conditionRef = "#/$defs/condition"
	ruleRef      = "#/$defs/validationRule"
)

// Schema returns the JSON Schema (draft 2020-12) of a workflow file, for editors. It is
// derived from the shapes with which Parse checks, and every call returns the same value.
// Rules that involve several places, such as ids that must resolve, are not part of it;
// only Parse checks them. docs/schema/workflow.schema.json is its output.
// routines are the ids of the templates that every installation has; a project has others, so that the
// schema accepts those as well. All other built-in names are closed sets.
func Schema(routines []string) canon.Value {
	return workflowShape.Schema(describe).
		With("$schema", canon.OfString("https://json-schema.org/draft/2020-12/schema")).
		With("title", canon.OfString("Waybill workflow")).
		With("description", canon.OfString(
			"A workflow: the steps of some work, what each requires, and when it is shown")).
		With("$defs", canon.OfMembers(
			canon.Member{Name: "step", Value: stepShape.Schema(describe)},
			canon.Member{Name: "condition", Value: condition.Schema(conditionRef)},
			canon.Member{Name: "validationRule", Value: criteria.Schema(ruleRef, conditionRef)},
			canon.Member{Name: "contract", Value: shape.Words(contract.Refs()).Schema(nil)},
			canon.Member{Name: "reference", Value: shape.Words(builtin.Refs()).Schema(nil)},
			canon.Member{Name: "feature", Value: shape.Words(builtin.Features()).Schema(nil)},
			canon.Member{Name: "template", Value: shape.AnyOf(
				shape.Words(append([]string{builtin.ProbeTemplate}, routines...)).Schema(nil),
				shape.JSONOf("pattern", `^wr\.templates\.routine\.`).With("type", canon.OfString("string")))}))
}

// builtinName is a text that names something built in: the definition def of the schema has all names.
type builtinName struct {
	text
	def string
}

// Schema refers to the definition of the names.
func (n builtinName) Schema(shape.Describe) canon.Value {
	return shape.JSONOf("$ref", "#/$defs/"+n.def)
}

// describe returns the description of a key of the object that what names.
func describe(what, key string) string { return descriptions[what+"."+key] }

// Schema refers to the definition of a condition.
func (conditional) Schema(shape.Describe) canon.Value { return shape.JSONOf("$ref", conditionRef) }

// Schema accepts one rule or a list of rules.
func (validation) Schema(shape.Describe) canon.Value {
	rule := shape.JSONOf("$ref", ruleRef)
	return shape.AnyOf(rule, shape.JSONOf("type", "array").With("items", rule).With("minItems", canon.OfInt(1)))
}

// Schema refers to the definition of a step.
func (anyStep) Schema(shape.Describe) canon.Value { return shape.JSONOf("$ref", stepRef) }

// Schema is that of a condition reference.
func (loopWhile) Schema(describe shape.Describe) canon.Value {
	return conditionRefShape.Schema(describe)
}

// Schema accepts a condition or a condition reference.
func (loopCondition) Schema(describe shape.Describe) canon.Value {
	return shape.AnyOf(conditional{}.Schema(describe), conditionRefShape.Schema(describe))
}

// Schema adds the members that each type of loop requires, as if and then.
func (loopConfig) Schema(describe shape.Describe) canon.Value {
	var rules []canon.Value
	for _, needs := range loopNeeds {
		var alternatives []canon.Value
		for _, key := range needs.oneOf {
			alternatives = append(alternatives,
				canon.OfMembers(canon.Member{Name: "required", Value: canon.OfList(canon.OfString(key))}))
		}
		is := canon.OfMembers(canon.Member{Name: "type", Value: shape.JSONOf("const", needs.kind)})
		rules = append(rules, canon.OfMembers(
			canon.Member{Name: "if", Value: canon.OfMembers(canon.Member{Name: "properties", Value: is})},
			canon.Member{Name: "then", Value: shape.AnyOf(alternatives...)}))
	}
	return loopConfigShape.Schema(describe).With("allOf", canon.OfList(rules...))
}
