package workflow

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/condition"
	"github.com/waybill/waybill/durable/criteria"
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
	return workflowShape.schema().
		With("$schema", canon.OfString("https://json-schema.org/draft/2020-12/schema")).
		With("title", canon.OfString("Waybill workflow")).
		With("description", canon.OfString("A workflow: the steps of some work, what each asks for, and when it is shown")).
		With("$defs", canon.OfMembers(
			canon.Member{Name: "step", Value: stepShape.schema()},
			canon.Member{Name: "condition", Value: condition.Schema(conditionRef)},
			canon.Member{Name: "validationRule", Value: criteria.Schema(ruleRef, conditionRef)}))
}

// jsonOf is an object with one member that is a text.
func jsonOf(name, text string) canon.Value {
	return canon.OfMembers(canon.Member{Name: name, Value: canon.OfString(text)})
}

// anyOf is a choice between schemas; of one it is that one.
func anyOf(of ...canon.Value) canon.Value {
	if len(of) == 1 {
		return of[0]
	}
	return canon.OfMembers(canon.Member{Name: "anyOf", Value: canon.OfList(of...)})
}

func (anything) schema() canon.Value { return canon.OfMembers() }

func (s oneKind) schema() canon.Value { return jsonOf("type", s.kind.String()) }

func (s byKind) schema() canon.Value {
	var of []canon.Value
	for k := canon.Null; k <= canon.Object; k++ {
		if inner, ok := s[k]; ok {
			of = append(of, inner.schema())
		}
	}
	return anyOf(of...)
}

// schema of a choice by tag pins the tag in each case, so that an editor knows which
// one is being written.
func (s byTag) schema() canon.Value {
	var of []canon.Value
	if inner, ok := s.cases[""]; ok {
		of = append(of, inner.schema())
	}
	for _, tag := range names(s.cases) {
		inner := s.cases[tag].schema()
		if properties, ok := inner.Get("properties"); ok {
			pinned, _ := properties.Get(s.key)
			inner = inner.With("properties", properties.With(s.key, pinned.Without("enum").With("const", canon.OfString(tag))))
		}
		of = append(of, inner)
	}
	return anyOf(of...)
}

func (conditional) schema() canon.Value { return jsonOf("$ref", conditionRef) }

func (validation) schema() canon.Value {
	rule := jsonOf("$ref", ruleRef)
	return anyOf(rule, jsonOf("type", "array").With("items", rule).With("minItems", canon.OfInt(1)))
}

func (anyStep) schema() canon.Value { return jsonOf("$ref", stepRef) }

func (loopWhile) schema() canon.Value { return conditionRefShape.schema() }

func (loopCondition) schema() canon.Value {
	return anyOf(conditional{}.schema(), conditionRefShape.schema())
}

// schema adds what each type of loop needs beside the keys that all have.
func (loopConfig) schema() canon.Value {
	out := loopConfigShape.schema()
	var rules []canon.Value
	when := func(kind string, needs ...string) {
		var alternatives []canon.Value
		for _, key := range needs {
			alternatives = append(alternatives, canon.OfMembers(canon.Member{Name: "required", Value: canon.OfList(canon.OfString(key))}))
		}
		is := canon.OfMembers(canon.Member{Name: "type", Value: jsonOf("const", kind)})
		rules = append(rules, canon.OfMembers(
			canon.Member{Name: "if", Value: canon.OfMembers(canon.Member{Name: "properties", Value: is})},
			canon.Member{Name: "then", Value: anyOf(alternatives...)}))
	}
	when("while", "condition", "conditionSource")
	when("until", "condition", "conditionSource")
	when("for", "count")
	when("forEach", "items")
	return out.With("allOf", canon.OfList(rules...))
}

func (s list) schema() canon.Value {
	out := jsonOf("type", "array").With("items", s.of.schema())
	if s.unique {
		out = out.With("uniqueItems", canon.OfBool(true))
	}
	return bounded(out, "minItems", float64(s.min), "maxItems", float64(s.max))
}

// schema has a description for every key: it is what an editor shows.
func (s object) schema() canon.Value {
	properties, required := canon.OfMembers(), []canon.Value(nil)
	for _, f := range s.fields {
		inner := f.shape.schema()
		if said := descriptions[s.what+"."+f.name]; said != "" {
			inner = inner.With("description", canon.OfString(said))
		}
		properties = properties.With(f.name, inner)
		if f.required {
			required = append(required, canon.OfString(f.name))
		}
	}
	out := jsonOf("type", "object").With("title", canon.OfString(s.what)).With("properties", properties).With("additionalProperties", canon.OfBool(false))
	if len(required) > 0 {
		out = out.With("required", canon.OfList(required...))
	}
	return out
}

func (s dictionary) schema() canon.Value {
	out := jsonOf("type", "object").With("additionalProperties", s.value.schema())
	if s.key != nil {
		out = out.With("propertyNames", s.key.schema())
	}
	return out
}

func (s text) schema() canon.Value {
	out := jsonOf("type", "string")
	if s.pattern != nil {
		out = out.With("pattern", canon.OfString(s.pattern.String()))
	}
	if s.like != "" {
		out = out.With("description", canon.OfString(s.like))
	}
	return bounded(out, "minLength", float64(s.min), "maxLength", float64(s.max))
}

func (s words) schema() canon.Value {
	if len(s.set) == 1 {
		return jsonOf("const", s.set[0])
	}
	set := make([]canon.Value, len(s.set))
	for i, word := range s.set {
		set[i] = canon.OfString(word)
	}
	return canon.OfMembers(canon.Member{Name: "enum", Value: canon.OfList(set...)})
}

// schema of a number always has its lower bound: 0 is one.
func (s amount) schema() canon.Value {
	kind := "number"
	if s.whole {
		kind = "integer"
	}
	return bounded(jsonOf("type", kind), "", 0, "maximum", s.max).With("minimum", canon.OfFloat(s.min))
}

// bounded adds the bounds that there are; 0 is none.
func bounded(out canon.Value, low string, from float64, high string, to float64) canon.Value {
	if from > 0 {
		out = out.With(low, canon.OfFloat(from))
	}
	if to > 0 {
		out = out.With(high, canon.OfFloat(to))
	}
	return out
}
