package workflow

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
)

// loopShape is a step that repeats others. Its body is written out, or names a step
// of the main sequence that then belongs to the loop.
var loopShape = object{"a loop", []field{
	need("id", stepID),
	need("type", oneOf("loop")),
	need("title", title),
	need("loop", loopConfig{}),
	need("body", byKind{canon.String: stepID, canon.Array: list{of: bodyShape, min: 1}}),
	may("functionDefinitions", functionsShape),
	may("notesOptional", boolean),
	may("requireConfirmation", confirmationShape),
	may("runCondition", conditional{}),
}}

// loopConfigShape says how often. A bound is always required: a loop that never ends
// must be impossible to write.
var loopConfigShape = object{"loop", []field{
	need("type", oneOf("while", "until", "for", "forEach")),
	need("maxIterations", amount{min: 1, max: 1000, whole: true}),
	may("condition", conditional{}),
	may("conditionSource", byTag{"kind", "a condition source with a kind", map[string]shape{
		"artifact_contract": object{"a condition source", []field{
			need("kind", oneOf("artifact_contract")),
			need("contractRef", text{min: 1}),
			may("loopId", text{min: 1}),
		}},
		"context_variable": object{"a condition source", []field{
			need("kind", oneOf("context_variable")),
			need("condition", conditional{}),
		}},
	}}),
	may("count", byKind{canon.Number: amount{min: 0, max: 1000, whole: true}, canon.String: text{min: 1}}),
	may("items", text{min: 1}),
	may("iterationVar", identifier),
	may("itemVar", identifier),
	may("indexVar", identifier),
}}

// loopConfig is loopConfigShape and what each type of loop needs beside it.
type loopConfig struct{}

// want is that of the keys.
func (loopConfig) want() string { return loopConfigShape.want() }

// check adds what JSON Schema writes as if and then.
func (loopConfig) check(at problem.Place, report problem.Report) {
	loopConfigShape.check(at, report)
	lacks := func(key string) {
		report.Error(at, `Add "`+key+`".`, "a %s loop lacks %q", at.Member("type").Value.Text(), key)
	}
	switch at.Member("type").Value.Text() {
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
