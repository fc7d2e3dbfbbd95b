package workflow

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
)

// loopShape is a step that repeats others. Its body is written out, or names a step
// of the main sequence that then belongs to the loop. How often is said by loop, or
// in the locks' spelling by while and maxIterations beside it (locks section 9; R22).
var loopShape = object{"a loop", []field{
	need("id", stepID),
	need("type", oneOf("loop")),
	need("title", title),
	may("loop", loopConfig{}),
	may("loopId", stepID),
	may("maxIterations", iterations),
	may("while", loopWhile{}),
	need("body", byKind{canon.String: stepID, canon.Array: list{of: anyStep{}, min: 1}}),
	may("functionDefinitions", functionsShape),
	may("notesOptional", boolean),
	may("requireConfirmation", confirmationShape),
	may("runCondition", conditional{}),
}}

// iterations is a count. It is always required: a loop that never ends must be
// impossible to write.
var iterations = amount{min: 1, max: limits.LoopIterationsMax, whole: true}

// conditionID is delimiter-safe, as it stands in traces (locks section 1).
var conditionID = text{min: 1, max: 64, pattern: pattern.New(`^[a-z0-9_-]+$`), like: "lowercase letters, digits, _ and -"}

// conditionRefShape names a member of the workflow's conditions.
var conditionRefShape = byTag{"kind", "a condition reference with kind and conditionId", map[string]shape{
	"condition_ref": object{"a condition reference", []field{
		need("kind", oneOf("condition_ref")),
		need("conditionId", conditionID),
	}}}}

// conditionsShape is the closed set of conditions that loops name. Either spelling
// of the id is read; the rules see to it that there is one.
var conditionsShape = list{of: byTag{"kind", "a condition of kind loop_control or context_variable", map[string]shape{
	"loop_control": object{"a loop control", []field{
		may("id", conditionID),
		may("conditionId", conditionID),
		need("kind", oneOf("loop_control")),
		may("loopId", stepID),
	}},
	"context_variable": object{"a named condition", []field{
		may("id", conditionID),
		may("conditionId", conditionID),
		need("kind", oneOf("context_variable")),
		need("condition", conditional{}),
	}},
}}}

// contextPath is how loops name what they read: no expression, no braces.
var contextPath = text{min: 1, pattern: pattern.New(`^[^\s.{}]+(?:\.[^\s.{}]+)*$`), like: `a context path such as "files" or "review.open"`}

// loopConfigShape says how often.
var loopConfigShape = object{"loop", []field{
	need("type", oneOf("while", "until", "for", "forEach")),
	need("maxIterations", iterations),
	may("condition", loopCondition{}),
	may("conditionSource", byTag{"kind", "a condition source with a kind", map[string]shape{
		"artifact_contract": object{"a condition source", []field{
			need("kind", oneOf("artifact_contract")),
			need("contractRef", contractRef),
			may("loopId", text{min: 1}),
		}},
		"condition_ref": conditionRefShape.cases["condition_ref"],
		"context_variable": object{"a condition source", []field{
			need("kind", oneOf("context_variable")),
			need("condition", conditional{}),
		}},
	}}),
	may("count", byKind{canon.Number: amount{min: 0, max: limits.LoopIterationsMax, whole: true}, canon.String: contextPath}),
	may("items", contextPath),
	may("iterationVar", identifier),
	may("itemVar", identifier),
	may("indexVar", identifier),
}}

// loopWhile is the locks' while: a name, never the condition itself.
type loopWhile struct{}

func (loopWhile) want() string { return conditionRefShape.want() }

// check knows what those write who expect a condition there.
func (loopWhile) check(at problem.Place, report problem.Report) {
	if !at.Has("kind") && (at.Has("var") || at.Has("and") || at.Has("or") || at.Has("not")) {
		report.Error(at, `List it under the workflow's conditions and write {"kind": "condition_ref", "conditionId": "its-id"}, or use "loop" with a condition.`,
			"while takes the name of a condition, got a condition")
		return
	}
	conditionRefShape.check(at, report)
}

// loopCondition is a condition, or the name of one.
type loopCondition struct{}

// want is that of a condition: the reference is for those who know it.
func (loopCondition) want() string { return conditional{}.want() }

// check tells the two apart by kind, which no condition has.
func (loopCondition) check(at problem.Place, report problem.Report) {
	if at.Has("kind") {
		conditionRefShape.check(at, report)
		return
	}
	conditional{}.check(at, report)
}

// loopConfig is loopConfigShape and what each type of loop needs beside it.
type loopConfig struct{}

// want is that of the keys.
func (loopConfig) want() string { return loopConfigShape.want() }

// loopReads lists what each type of loop reads beside what all do. What stands
// there for another type would be a wish that nobody hears.
var loopReads = map[string][]string{
	"while":   {"condition", "conditionSource", "iterationVar"},
	"until":   {"condition", "conditionSource", "iterationVar"},
	"for":     {"count", "iterationVar"},
	"forEach": {"items", "iterationVar", "itemVar", "indexVar"},
}

// check adds what JSON Schema writes as if and then.
func (loopConfig) check(at problem.Place, report problem.Report) {
	loopConfigShape.check(at, report)
	kind := at.Member("type").Value.Text()
	lacks := func(key string) {
		report.Error(at, `Add "`+key+`".`, "a %s loop lacks %q", kind, key)
	}
	switch kind {
	case "while", "until":
		if !at.Has("condition") && !at.Has("conditionSource") {
			lacks("condition")
		}
	case "for":
		if !at.Has("count") {
			lacks("count")
		}
	case "forEach":
		if !at.Has("items") {
			lacks("items")
		}
	}
}

// parallelShape is one step whose prompt hands out several tasks.
var parallelShape = object{"a parallel step", []field{
	need("id", stepID),
	need("type", oneOf("parallel")),
	need("title", title),
	need("parallelDelegations", list{of: delegationShape, min: 1, unique: true}),
	may("notesOptional", boolean),
	may("requireConfirmation", confirmationShape),
	may("runCondition", conditional{}),
	may("synthesis", object{"a synthesis", []field{
		may("prompt", text{min: 1, max: 4096}),
		may("outputContract", contractShape),
	}}),
}}

// delegationShape is one such task.
var delegationShape = object{"a delegation", []field{
	need("workflowId", title),
	may("allowedTools", list{min: 1, of: text{pattern: pattern.New(`^[a-zA-Z][a-zA-Z0-9_:-]*$`), like: "the name of a tool"}}),
	may("args", dictionary{value: text{}}),
	may("contextMapping", dictionary{value: text{}}),
	may("goal", text{}),
	may("modelTier", modelTier),
	may("runCondition", conditional{}),
}}
