package source

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// stepID is only text here: its alphabet is the locks', not the published
// schema's, and is judged with a suggestion by the rules.
var stepID = text{Min: 1, Max: 64}

// agentRole is a stance, not a name: the lower bound keeps out "reviewer".
var agentRole = text{Min: 10, Max: 1024}

// stepShape is what the main sequence holds, and what a loop holds: loops nest.
var stepShape = byTag{Key: "type", Text: "an object that describes a step", Cases: map[string]shape.Shape{
	"": standardShape, "loop": loopShape, "parallel": parallelShape,
}}

// anyStep is stepShape inside of itself: a table cannot name itself.
type anyStep struct{}

func (anyStep) Want() string                                  { return stepShape.Want() }
func (anyStep) Check(at problem.Place, report problem.Report) { stepShape.Check(at, report) }

// standardShape is a step that someone carries out: what is shown, what is asked
// for in return, and whether it is shown at all.
var standardShape = object{What: "a step", Fields: []field{
	need("id", stepID),
	need("title", title),
	// One of prompt, promptBlocks and promptRef, or an action; promptFragments add to each.
	may("prompt", text{Min: 1, Max: 8192}),
	may("promptBlocks", promptBlocksShape),
	may("promptRef", promptref.RefShape),
	may("promptFragments", list{Of: fragmentShape, Min: 1, Key: "id"}),
	may("action", actionShape),
	// The rest in alphabetical order, as nothing depends on another.
	may("agentRole", agentRole),
	may("askForFiles", boolean),
	may("assessmentConsequences", list{Of: consequenceShape, Min: 1, Max: 10}),
	may("assessmentRefs", list{Of: text{Min: 1, Max: 64}, Min: 1, Unique: true}),
	may("audit", object{What: "an audit", Fields: []field{
		may("prompt", text{Min: 1, Max: 4096}),
		may("rubric", list{Of: text{}, Min: 1}),
	}}),
	may("functionCalls", list{Of: object{What: "a function call", Fields: []field{
		need("name", identifier),
		need("args", anyObject),
	}}}),
	may("functionDefinitions", functionsShape),
	may("functionReferences", list{Of: text{Pattern: pattern.New(`^[a-zA-Z_][a-zA-Z0-9_]*\(\)$`),
		Like: `a function's name with (), such as "review()"`}}),
	may("guidance", list{Of: text{}}),
	may("hasValidation", boolean),
	may("inputs", inputsShape),
	may("modelTier", modelTier),
	may("notesOptional", boolean),
	may("notesRequired", boolean),
	may("outputContract", contractShape),
	may("requireConfirmation", confirmationShape),
	may("runCondition", conditional{}),
	may("templateCall", object{What: "a template call", Fields: []field{
		need("templateId", title),
		may("args", anyObject),
	}}),
	may("validationCriteria", validation{}),
	may("verification", object{What: "a verification", Fields: []field{
		may("command", text{Min: 1, Max: 1024}),
		may("prompt", text{Min: 1, Max: 4096}),
	}}),
}}

// contractRef is in the reserved namespace; whether there is such a contract is for
// the compiler to say.
var contractRef = text{Min: 1, Pattern: pattern.New(`^wr\.contracts\.[a-z][a-z0-9_]*$`),
	Like: `the name of a contract such as "wr.contracts.loop_control"`}

// contractShape names a contract pack; schemas are never written into a workflow
// (locks section 9).
var contractShape = object{What: "an output contract", Fields: []field{
	need("contractRef", contractRef),
	may("required", boolean),
}}

// confirmationShape is true, a gate {kind, condition}, or a condition.
var confirmationShape = byKind{canon.Bool: boolean, canon.Object: byTag{
	Key: "kind", Text: "a condition or a gate with a kind", Cases: map[string]shape.Shape{
		"": conditional{}, "coordinator_eval": gateShape, "human_approval": gateShape,
	}}}

// gateShape is checked by its kind already when it is reached.
var gateShape = object{What: "a confirmation", Fields: []field{
	need("kind", text{}),
	may("condition", conditional{}),
}}

// noNUL keeps out the one character that no operating system takes in an argument.
var noNUL = pattern.New(`^[^\x00]*$`)

// actionShape is what a trusted command step runs (R24). Arguments are passed as
// they stand: there is no shell between.
var actionShape = byTag{Key: "kind", Text: "an action with kind, argv",
	Cases: map[string]shape.Shape{"command": object{What: "a command", Fields: []field{
		need("kind", oneOf("command")),
		need("argv", list{Of: text{Pattern: noNUL, Like: "a string without NUL"}, Min: 1}),
		// Relative to where the run was started; absolute paths are the author's risk.
		may("cwd", text{Min: 1, Max: limits.PathMax, Pattern: noNUL, Like: "a folder"}),
		may("env", dictionary{
			Key:   text{Pattern: pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`), Like: "the name of an environment variable"},
			Value: text{Pattern: noNUL, Like: "a string without NUL"},
		}),
		// Seconds, Whole: nobody means the fractions, and every program reads them alike.
		may("timeoutSeconds", amount{Min: 1, Max: limits.CommandTimeoutSecondsMax, Whole: true}),
		may("retry", object{What: "a retry", Fields: []field{
			need("maxAttempts", amount{Min: 1, Max: limits.CommandAttemptsMax, Whole: true}),
			may("backoffSeconds", amount{Min: 0, Max: limits.CommandBackoffSecondsMax, Whole: true}),
		}}),
	}}}}
