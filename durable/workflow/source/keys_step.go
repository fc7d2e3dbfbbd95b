package source

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/period"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/hoststep"
	"github.com/waybill/waybill/durable/workflow/keyhints"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// stepID is any short text here. Its alphabet is narrower than that of the published
// schema; checkStepID checks it and suggests a valid id (docs/design.md#workflow-ids).
var stepID = text{Min: 1, Max: 64}

// agentRole is a sentence that describes a role. The minimum length rejects single words
// such as "reviewer".
var agentRole = text{Min: 10, Max: 1024}

// stepShape is a step of the main sequence or of a loop's body, chosen by type. Without a
// type it is a plain step. Loops nest.
var stepShape = byTag{Key: "type", Text: "an object that describes a step", Cases: map[string]shape.Shape{
	"": standardShape, "loop": loopShape, "parallel": parallelShape, templateCallType: templateCallShape,
}}

// templateCallType is the type that a step with a templateCall may have; it means the same without.
const templateCallType = "template_call"

// templateCallShape is a step of templateCallType: the keys that have an effect on the steps of the
// template, and those that are ignored.
var templateCallShape = object{What: "a template call step", Hints: &keyhints.TemplateCallStep, Fields: []field{
	{"id", stepID, required},
	{"type", words{templateCallType}, required},
	{"title", title, required},
	{"templateCall", callShape, required},
	{"hasValidation", boolean, optional},
	{"modelTier", modelTier, optional},
	{"notesOptional", boolean, optional},
	{"requireConfirmation", confirmationShape, optional},
	{"runCondition", conditional{}, optional},
}}

// callShape names a template and its arguments. The compiler replaces the step by those of the template.
var callShape = object{What: "a template call", Hints: &keyhints.TemplateCall, Fields: []field{
	{"templateId", builtinName{title, "template"}, required},
	{"args", anyObject, optional},
}}

// anyStep refers to stepShape from within its own table: a Go variable cannot be used in
// its own initializer.
type anyStep struct{}

// Want describes a step.
func (anyStep) Want() string { return stepShape.Want() }

// Check checks a step, at any nesting depth.
func (anyStep) Check(at problem.SourceValue, report problem.Report) { stepShape.Check(at, report) }

// standardShape is a plain step: its prompt, the output it requires, and the condition
// under which it runs.
var standardShape = object{What: "a step", Hints: &keyhints.Step, Fields: []field{
	{"id", stepID, required},
	{"title", title, required},
	// One of prompt, promptBlocks and promptRef, or an action; promptFragments add to each.
	{"prompt", text{Min: 1, Max: 8192}, optional},
	{"promptBlocks", promptBlocksShape, optional},
	{"promptRef", promptref.RefShape, optional},
	{"promptFragments", list{Of: fragmentShape, Min: 1, Key: "id"}, optional},
	{"action", actionShape, optional},
	// The other members are independent of each other and in alphabetical order.
	{"agentRole", agentRole, optional},
	{"askForFiles", boolean, optional},
	{"checks", list{Of: checkShape, Max: limits.ChecksMax, Key: "id"}, optional},
	{"assessmentConsequences", list{Of: consequenceShape, Min: 1, Max: 10}, optional},
	{"assessmentRefs", list{Of: text{Min: 1, Max: 64}, Min: 1, Unique: true}, optional},
	// audit and verification are accepted for compatibility and have no effect. Versions of the published
	// format differ in their members.
	{"audit", object{What: "an audit", Open: true, Fields: []field{
		{"prompt", text{Min: 1, Max: 4096}, optional},
		{"rubric", list{Of: text{}, Min: 1}, optional},
	}}, optional},
	// The functions that a step refers to must be visible to it; see scopes.resolve.
	{"functionCalls", list{Of: object{What: "a function call", Fields: []field{
		{"name", identifier, required},
		{"args", anyObject, required},
	}}}, optional},
	{"functionDefinitions", functionsShape, optional},
	{"functionReferences", list{Of: text{Pattern: pattern.New(`^[a-zA-Z_][a-zA-Z0-9_]*\(\)$`),
		Like: `a function's name with (), such as "review()"`}}, optional},
	{"guidance", list{Of: text{}}, optional},
	{"hasValidation", boolean, optional},
	{"inputs", inputsShape, optional},
	{"modelTier", modelTier, optional},
	{"notesOptional", boolean, optional},
	{"notesRequired", boolean, optional},
	{"output", contractShape, optional},
	{"outputContract", contractShape, optional},
	{"outputs", outputsShape, optional},
	{"requireConfirmation", confirmationShape, optional},
	{"runCondition", conditional{}, optional},
	{"templateCall", callShape, optional},
	{"validationCriteria", validation{}, optional},
	{"verification", object{What: "a verification", Open: true, Fields: []field{
		{"command", text{Min: 1, Max: 1024}, optional},
		{"prompt", text{Min: 1, Max: 4096}, optional},
	}}, optional},
}}

// contractRef names a contract pack in the reserved namespace wr.contracts. Whether the
// pack exists is checked by the compiler.
var contractRef = text{Min: 1, Pattern: pattern.New(`^wr\.contracts\.[a-z][a-z0-9_]*$`),
	Like: `the name of a contract such as "wr.contracts.loop_control"`}

// contractShape refers to a contract pack. Workflows cannot contain schemas of their own
// (docs/design.md#authoring).
var contractShape = object{What: "an output contract", Hints: &keyhints.Contract, Fields: []field{
	{"contractRef", builtinName{contractRef, "contract"}, required},
	{"required", boolean, optional},
}}

// outputsShape is the context keys that a command step sets (docs/design.md#commands-and-trust),
// with the grammar of declared inputs.
var outputsShape = dictionary{
	Key: contextKey,
	Value: text{Pattern: pattern.New(`^(stdout|json:(/([^~/]|~[01])*)*)$`), Max: limits.PathMax,
		Like: `"stdout", or "json:" and a JSON pointer such as "json:/version"`},
}

// confirmationShape is requireConfirmation: a boolean, a gate {kind, condition}, or a
// condition under which a confirmation is required.
var confirmationShape = byKind{canon.Bool: boolean, canon.Object: byTag{
	Key: "kind", Text: "a condition or a gate with a kind", Cases: map[string]shape.Shape{
		"": conditional{}, "coordinator_eval": gateShape, "human_approval": approvalShape,
	}}}

// gateShape is a gate. Its kind was already matched by confirmationShape, so any text is
// accepted here.
var gateShape = object{What: "a confirmation", Fields: []field{
	{"kind", text{}, required},
	{"condition", conditional{}, optional},
}}

// approvalShape is a gate that people approve (docs/design.md#decisions).
var approvalShape = object{What: "an approval", Hints: &keyhints.Approval, Fields: []field{
	{"kind", text{}, required},
	{"approvers", list{Of: approverName, Min: 1, Max: limits.ApproversMax, Unique: true}, optional},
	{"condition", conditional{}, optional},
	{"count", amount{Min: 1, Max: limits.ApprovalsMax, Whole: true}, optional},
	{"expiresAfter", periodText, optional},
	{"notPerformer", boolean, optional},
}}

// approverName is the name of a role or of a principal in the settings of a store.
var approverName = text{Min: 1, Max: limits.ActorRefMax, Pattern: noControls, Like: "the name of a role or of a principal"}

// noControls rejects control characters, which no name has.
var noControls = pattern.New(`^[^\x00-\x1f\x7f]*$`)

// periodText is a period; the compiler checks its length (docs/design.md#decisions).
var periodText = text{Min: 2, Max: 48, Like: period.Like,
	Pattern: pattern.New(`^([1-9][0-9]{0,8}d)?([1-9][0-9]{0,8}h)?([1-9][0-9]{0,8}m)?([1-9][0-9]{0,8}s)?$`)}

// noNUL rejects the NUL character, which operating systems do not accept in arguments,
// environment variables or paths.
var noNUL = pattern.New(`^[^\x00]*$`)

// actionShape is the command that a trusted command step runs
// (docs/design.md#commands-and-trust), a wait (docs/design.md#waiting), or a function of the HTTP host
// (package hoststep). Arguments are passed unchanged; no shell interprets them.
var actionShape = byTag{Key: "kind", Text: "an action with kind, argv",
	Cases: map[string]shape.Shape{hoststep.Action: hoststep.Shape, WaitAction: waitShape, CommandAction: object{What: "a command", Hints: &keyhints.Command, Fields: []field{
		{"kind", words{CommandAction}, required},
		argvField, cwdField, envField, timeoutField,
		{"retry", object{What: "a retry", Hints: &keyhints.Retry, Fields: []field{
			{"maxAttempts", amount{Min: 1, Max: limits.CommandAttemptsMax, Whole: true}, required},
			{"backoffSeconds", amount{Min: 0, Max: limits.CommandBackoffSecondsMax, Whole: true}, optional},
		}}, optional},
		{"literal", boolean, optional},
	}}}}

// The members of a command that an action and a check share.
var (
	argvField = field{"argv", list{Of: text{Pattern: noNUL, Like: "a string without NUL"}, Min: 1}, required}
	// Relative to the directory in which the run was started, or to the root of the project for a check.
	// Absolute paths are accepted in an action, but make the workflow depend on one machine.
	cwdField = field{"cwd", text{Min: 1, Max: limits.PathMax, Pattern: noNUL, Like: "a directory"}, optional}
	envField = field{"env", dictionary{
		Key:   text{Pattern: pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`), Like: "the name of an environment variable"},
		Value: text{Pattern: noNUL, Like: "a string without NUL"},
	}, optional}
	// Whole seconds: fractions are not needed, and programs differ in how they parse them.
	timeoutField = field{"timeoutSeconds", amount{Min: 1, Max: limits.CommandTimeoutSecondsMax, Whole: true}, optional}
)

// checkShape is a command that proves something when a step is handed in (docs/design.md#checks).
var checkShape = object{What: "a check", Hints: &keyhints.Check, Fields: []field{
	{"id", text{Min: 1, Max: limits.StepIDBytesMax, Pattern: pattern.New(`^[a-z0-9_-]+$`),
		Like: "an id of lowercase letters, digits, _ and -"}, required},
	argvField, cwdField, envField, timeoutField,
	{"pins", list{Of: text{Min: 1, Max: limits.PinPathBytesMax, Pattern: noNUL, Like: "the path of a file"},
		Min: 1, Max: limits.PinsMax, Unique: true}, optional},
	{"expect", object{What: "what a check expects", Fields: []field{
		{"exit", amount{Min: 0, Max: 255, Whole: true}, optional},
		{"stdout", object{What: "a requirement on stdout", Fields: []field{
			{"pointer", text{Max: limits.PathMax, Pattern: pattern.New(`^(/([^~/]|~[01])*)*$`),
				Like: `a JSON pointer such as "/version"`}, required},
			{"equals", anything{}, optional},
			{"gte", number, optional},
			{"lte", number, optional},
			{"contains", anything{}, optional},
		}}, optional},
		{"tests", object{What: "a requirement on tests", Fields: []field{
			{"min", testCount, optional}, {"failed", testCount, optional}, {"skipped", testCount, optional},
		}}, optional},
	}}, optional},
}}

// number is any number.
var number = oneKind{Kind: canon.Number, Text: "a number"}

// testCount is a number of tests.
var testCount = amount{Min: 0, Max: limits.TestReportTestsMax, Whole: true}
