package source

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// loopShape is a step that repeats others. Its body is written out, or names a step
// of the main sequence that then belongs to the loop. How often is said by loop, or
// in the locks' spelling by while and maxIterations beside it (locks section 9; R22).
var loopShape = object{What: "a loop", Fields: []field{
	need("id", stepID),
	need("type", oneOf("loop")),
	need("title", title),
	may("loop", loopConfig{}),
	may("loopId", stepID),
	may("maxIterations", iterations),
	may("while", loopWhile{}),
	need("body", byKind{canon.String: stepID, canon.Array: list{Of: anyStep{}, Min: 1}}),
	may("functionDefinitions", functionsShape),
	may("notesOptional", boolean),
	may("requireConfirmation", confirmationShape),
	may("runCondition", conditional{}),
}}

// iterations is a count. It is always required: a loop that never ends must be
// impossible to write.
var iterations = amount{Min: 1, Max: limits.LoopIterationsMax, Whole: true}

// conditionID is delimiter-safe, as it stands in traces (locks section 1).
var conditionID = text{Min: 1, Max: 64, Pattern: pattern.New(`^[a-z0-9_-]+$`),
	Like: "lowercase letters, digits, _ and -"}

// conditionRefShape names a member of the workflow's conditions.
var conditionRefShape = byTag{Key: "kind", Text: "a condition reference with kind and conditionId",
	Cases: map[string]shape.Shape{
		"condition_ref": object{What: "a condition reference", Fields: []field{
			need("kind", oneOf("condition_ref")),
			need("conditionId", conditionID),
		}}}}

// conditionsShape is the closed set of conditions that loops name. Either spelling
// of the id is read; the rules see to it that there is one.
var conditionsShape = list{Of: byTag{Key: "kind", Text: "a condition of kind loop_control or context_variable",
	Cases: map[string]shape.Shape{
		"loop_control": object{What: "a loop control", Fields: []field{
			may("id", conditionID),
			may("conditionId", conditionID),
			need("kind", oneOf("loop_control")),
			may("loopId", stepID),
		}},
		"context_variable": object{What: "a named condition", Fields: []field{
			may("id", conditionID),
			may("conditionId", conditionID),
			need("kind", oneOf("context_variable")),
			need("condition", conditional{}),
		}},
	}}}

// contextPath is how loops name what they read: no expression, no braces.
var contextPath = text{Min: 1, Pattern: pattern.New(`^[^\s.{}]+(?:\.[^\s.{}]+)*$`),
	Like: `a context path such as "files" or "review.open"`}

// loopConfigShape says how often.
var loopConfigShape = object{What: "loop", Fields: []field{
	need("type", oneOf("while", "until", "for", "forEach")),
	need("maxIterations", iterations),
	may("condition", loopCondition{}),
	may("conditionSource", byTag{Key: "kind", Text: "a condition source with a kind", Cases: map[string]shape.Shape{
		"artifact_contract": object{What: "a condition source", Fields: []field{
			need("kind", oneOf("artifact_contract")),
			need("contractRef", contractRef),
			may("loopId", text{Min: 1}),
		}},
		"condition_ref": conditionRefShape.Cases["condition_ref"],
		"context_variable": object{What: "a condition source", Fields: []field{
			need("kind", oneOf("context_variable")),
			need("condition", conditional{}),
		}},
	}}),
	may("count", byKind{canon.Number: amount{Min: 0, Max: limits.LoopIterationsMax, Whole: true},
		canon.String: contextPath}),
	may("items", contextPath),
	may("iterationVar", identifier),
	may("itemVar", identifier),
	may("indexVar", identifier),
}}

// loopWhile is the locks' while: a name, never the condition itself.
type loopWhile struct{}

func (loopWhile) Want() string { return conditionRefShape.Want() }

// check knows what those write who expect a condition there.
func (loopWhile) Check(at problem.Place, report problem.Report) {
	if !at.Has("kind") && (at.Has("var") || at.Has("and") || at.Has("or") || at.Has("not")) {
		report.Error(at, `List it under the workflow's conditions and write {"kind": "condition_ref", "conditionId": "its-id"}, or use "loop" with a condition.`,
			"while takes the name of a condition, got a condition")
		return
	}
	conditionRefShape.Check(at, report)
}

// loopCondition is a condition, or the name of one.
type loopCondition struct{}

// want is that of a condition: the reference is for those who know it.
func (loopCondition) Want() string { return conditional{}.Want() }

// check tells the two apart by kind, which no condition has.
func (loopCondition) Check(at problem.Place, report problem.Report) {
	if at.Has("kind") {
		conditionRefShape.Check(at, report)
		return
	}
	conditional{}.Check(at, report)
}

// loopConfig is loopConfigShape and what each type of loop needs beside it.
type loopConfig struct{}

// want is that of the keys.
func (loopConfig) Want() string { return loopConfigShape.Want() }

// loopReads lists what each type of loop reads beside what all do. What stands
// there for another type would be a wish that nobody hears.
var loopReads = map[string][]string{
	"while":   {"condition", "conditionSource", "iterationVar"},
	"until":   {"condition", "conditionSource", "iterationVar"},
	"for":     {"count", "iterationVar"},
	"forEach": {"items", "iterationVar", "itemVar", "indexVar"},
}

// check adds what JSON Schema writes as if and then.
func (loopConfig) Check(at problem.Place, report problem.Report) {
	loopConfigShape.Check(at, report)
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
var parallelShape = object{What: "a parallel step", Fields: []field{
	need("id", stepID),
	need("type", oneOf("parallel")),
	need("title", title),
	need("parallelDelegations", list{Of: delegationShape, Min: 1, Unique: true}),
	may("notesOptional", boolean),
	may("requireConfirmation", confirmationShape),
	may("runCondition", conditional{}),
	may("synthesis", object{What: "a synthesis", Fields: []field{
		may("prompt", text{Min: 1, Max: 4096}),
		may("outputContract", contractShape),
	}}),
}}

// delegationShape is one such task.
var delegationShape = object{What: "a delegation", Fields: []field{
	need("workflowId", title),
	may("allowedTools", list{Min: 1, Of: text{Pattern: pattern.New(`^[a-zA-Z][a-zA-Z0-9_:-]*$`),
		Like: "the name of a tool"}}),
	may("args", dictionary{Value: text{}}),
	may("contextMapping", dictionary{Value: text{}}),
	may("goal", text{}),
	may("modelTier", modelTier),
	may("runCondition", conditional{}),
}}
