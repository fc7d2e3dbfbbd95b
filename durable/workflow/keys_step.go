package workflow

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
)

// stepID is only text here: its alphabet is the locks', not the published
// schema's, and is judged with a suggestion by the rules.
var stepID = text{min: 1, max: 64}

// agentRole is a stance, not a name: the lower bound keeps out "reviewer".
var agentRole = text{min: 10, max: 1024}

// stepShape is what the main sequence holds, and what a loop holds: loops nest.
var stepShape = byTag{"type", "an object that describes a step", map[string]shape{
	"": standardShape, "loop": loopShape, "parallel": parallelShape,
}}

// anyStep is stepShape inside of itself: a table cannot name itself.
type anyStep struct{}

func (anyStep) want() string                                  { return stepShape.want() }
func (anyStep) check(at problem.Place, report problem.Report) { stepShape.check(at, report) }

// standardShape is a step that someone carries out: what is shown, what is asked
// for in return, and whether it is shown at all.
var standardShape = object{"a step", []field{
	need("id", stepID),
	need("title", title),
	// One of prompt and promptBlocks, or an action; promptFragments add to either.
	may("prompt", text{min: 1, max: 8192}),
	may("promptBlocks", promptBlocksShape),
	may("promptFragments", list{of: fragmentShape, min: 1, key: "id"}),
	may("action", actionShape),
	// The rest in alphabetical order, as nothing depends on another.
	may("agentRole", agentRole),
	may("askForFiles", boolean),
	may("assessmentConsequences", list{of: consequenceShape, min: 1, max: 10}),
	may("assessmentRefs", list{of: text{min: 1, max: 64}, min: 1, unique: true}),
	may("audit", object{"an audit", []field{
		may("prompt", text{min: 1, max: 4096}),
		may("rubric", list{of: text{}, min: 1}),
	}}),
	may("functionCalls", list{of: object{"a function call", []field{
		need("name", identifier),
		need("args", anyObject),
	}}}),
	may("functionDefinitions", functionsShape),
	may("functionReferences", list{of: text{pattern: pattern.New(`^[a-zA-Z_][a-zA-Z0-9_]*\(\)$`), like: `a function's name with (), such as "review()"`}}),
	may("guidance", list{of: text{}}),
	may("hasValidation", boolean),
	may("inputs", inputsShape),
	may("modelTier", modelTier),
	may("notesOptional", boolean),
	may("notesRequired", boolean),
	may("outputContract", contractShape),
	may("requireConfirmation", confirmationShape),
	may("runCondition", conditional{}),
	may("templateCall", object{"a template call", []field{
		need("templateId", title),
		may("args", anyObject),
	}}),
	may("validationCriteria", validation{}),
	may("verification", object{"a verification", []field{
		may("command", text{min: 1, max: 1024}),
		may("prompt", text{min: 1, max: 4096}),
	}}),
}}

// contractRef is in the reserved namespace; whether there is such a contract is for
// the compiler to say.
var contractRef = text{min: 1, pattern: pattern.New(`^wr\.contracts\.[a-z][a-z0-9_]*$`), like: `the name of a contract such as "wr.contracts.loop_control"`}

// contractShape names a contract pack; schemas are never written into a workflow
// (locks section 9).
var contractShape = object{"an output contract", []field{
	need("contractRef", contractRef),
	may("required", boolean),
}}

// confirmationShape is true, a gate {kind, condition}, or a condition.
var confirmationShape = byKind{canon.Bool: boolean, canon.Object: byTag{
	"kind", "a condition or a gate with a kind", map[string]shape{
		"": conditional{}, "coordinator_eval": gateShape, "human_approval": gateShape,
	}}}

// gateShape is checked by its kind already when it is reached.
var gateShape = object{"a confirmation", []field{
	need("kind", text{}),
	may("condition", conditional{}),
}}

// noNUL keeps out the one character that no operating system takes in an argument.
var noNUL = pattern.New(`^[^\x00]*$`)

// actionShape is what a trusted command step runs (R24). Arguments are passed as
// they stand: there is no shell between.
var actionShape = byTag{"kind", "an action with kind, argv", map[string]shape{"command": object{"a command", []field{
	need("kind", oneOf("command")),
	need("argv", list{of: text{pattern: noNUL, like: "a string without NUL"}, min: 1}),
	// Relative to where the run was started; absolute paths are the author's risk.
	may("cwd", text{min: 1, max: limits.PathMax, pattern: noNUL, like: "a folder"}),
	may("env", dictionary{
		key:   text{pattern: pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`), like: "the name of an environment variable"},
		value: text{pattern: noNUL, like: "a string without NUL"},
	}),
	// Seconds, whole: nobody means the fractions, and every program reads them alike.
	may("timeoutSeconds", amount{min: 1, max: limits.CommandTimeoutSecondsMax, whole: true}),
	may("retry", object{"a retry", []field{
		need("maxAttempts", amount{min: 1, max: limits.CommandAttemptsMax, whole: true}),
		may("backoffSeconds", amount{min: 0, max: limits.CommandBackoffSecondsMax, whole: true}),
	}}),
}}}}
