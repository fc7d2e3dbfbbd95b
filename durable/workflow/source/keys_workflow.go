package source

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/keyhints"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// Shapes and patterns that several tables use.
var (
	title     = text{Min: 1, Max: 128}
	shortText = text{Min: 1, Max: 256}
	// lowerID is the form of ids that only this file uses, such as those of references.
	lowerID = pattern.New(`^[a-z][a-z0-9_-]*$`)
	// identifier is the form of names that prompts use without quotes: functions, variables.
	identifier = text{Pattern: pattern.New(`^[a-zA-Z_][a-zA-Z0-9_]*$`), Like: "a name of letters, digits and _"}
	// semver is the pattern that semver.org recommends, with unnamed groups.
	semver = pattern.New(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)` +
		`(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?` +
		`(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$`)
	modelTier = words{"lightweight", "mid", "heavy"}
)

// shortTexts is a list of distinct lines, such as metaGuidance.
var shortTexts = list{Of: shortText, Unique: true}

// workflowShape is the root of a workflow file. The required members come first; the
// others follow in alphabetical order, Waybill's own keys included.
var workflowShape = object{What: "a workflow", Hints: &keyhints.Workflow, Fields: []field{
	// The form of the id depends on the source kind; see checkID.
	{"id", text{Min: 3, Max: 64}, required},
	{"name", title, required},
	{"description", text{Min: 1, Max: 512}, required},
	{"version", text{Pattern: semver, Like: `a semantic version such as "0.1.0"`}, required},
	{"steps", list{Of: stepShape, Min: 1}, required},
	{"about", text{Min: 1, Max: 4096}, optional},
	{"agentRole", agentRole, optional},
	{"assessments", list{Of: assessmentShape, Key: "id"}, optional},
	{"capabilities", capabilitiesShape, optional},
	{"clarificationPrompts", shortTexts, optional},
	{"conditions", conditionsShape, optional},
	{"examples", list{Of: text{Min: 10, Max: 120}, Min: 1, Max: 6, Unique: true}, optional},
	{"extensionPoints", list{Of: extensionPointShape, Key: "slotId"}, optional},
	{"features", list{Of: builtinName{title, "feature"}, Unique: true}, optional},
	{"functionDefinitions", functionsShape, optional},
	{"inputs", inputsShape, optional},
	{"metaGuidance", shortTexts, optional},
	{"metricsProfile", words{"coding", "review", "research", "design", "ticket", "none"}, optional},
	{"modelTier", modelTier, optional},
	{"preconditions", shortTexts, optional},
	{"recommendedPreferences", object{What: "recommended preferences", Hints: &keyhints.Recommended, Fields: []field{
		{"recommendedAutonomy", words{"guided", "full_auto_stop_on_user_deps", "full_auto_never_stop"}, optional},
		{"recommendedRiskPolicy", words{"conservative", "balanced", "aggressive"}, optional},
	}}, optional},
	{"references", list{Of: referenceShape, Key: "id"}, optional},
	{"validatedAgainstSpecVersion", amount{Min: 1, Whole: true}, optional},
}}

// IsWorkflowKey reports a key of a workflow file, or one that means another.
func IsWorkflowKey(key string) bool { return workflowShape.Knows(key) }

// extensionPointShape is a slot that a project can bind to its own routine. The default
// applies where the project binds nothing.
var extensionPointShape = object{What: "an extension point", Hints: &keyhints.ExtensionPoint, Fields: []field{
	{"slotId", text{Min: 2, Max: 64, Pattern: pattern.New(`^[a-z][a-z0-9_]*$`), Like: "a lowercase name"}, required},
	{"purpose", shortText, required},
	{"default", title, required},
	{"acceptedKinds", list{Of: words{"routine", "workflow"}, Unique: true}, optional},
}}

// referenceShape names a document. The document is never read when compiling, so that the
// workflow hash depends on the workflow alone.
var referenceShape = object{What: "a reference", Hints: &keyhints.Reference, Fields: []field{
	{"id", text{Min: 2, Max: 64, Pattern: lowerID, Like: "a lowercase name"}, required},
	{"title", title, required},
	{"source", text{Min: 1, Max: 512}, required},
	{"purpose", text{Min: 1, Max: 512}, required},
	{"authoritative", boolean, required},
	{"resolveFrom", words{"workspace", "package"}, optional},
}}

// capabilitiesShape lists capabilities by how strongly the workflow needs each
// (docs/design.md#capabilities).
var capabilitiesShape = object{What: "capabilities", Fields: []field{
	{"required", capabilityList, optional},
	{"preferred", capabilityList, optional},
	{"disabled", capabilityList, optional},
}}

// capabilityList is a closed set: a workflow can only require capabilities for which a
// probe exists, or the run would wait for an observation that never arrives.
var capabilityList = list{Of: words{"delegation", "web_browsing"}, Unique: true}

// functionsShape is functionDefinitions of a workflow, a loop or a step. The definition
// nearest to the reference applies, so a name must be unique within one list only.
var functionsShape = list{Key: "name", Of: object{What: "a function", Hints: &keyhints.Function, Fields: []field{
	{"name", identifier, required},
	{"definition", text{}, required},
	{"parameters", list{Of: parameterShape, Key: "name"}, optional},
	{"scope", words{"workflow", "loop", "step"}, optional},
}}}

// parameterShape describes a parameter of a function for the performer. Arguments are not
// checked against it.
var parameterShape = object{What: "a parameter", Fields: []field{
	{"name", identifier, required},
	{"type", words{"string", "number", "boolean", "array", "object"}, required},
	{"required", boolean, optional},
	{"description", text{}, optional},
	{"enum", list{Min: 1, Of: byKind{canon.String: text{},
		canon.Number: oneKind{Kind: canon.Number, Text: "a number"}, canon.Bool: boolean}}, optional},
	{"default", anything{}, optional},
}}

// contextKey is a key of the run's context (docs/design.md#requirements-on-the-caller).
var contextKey = text{Pattern: pattern.New(`^[A-Za-z_][A-Za-z0-9_.-]{0,127}$`),
	Like: "a context key: a letter or _, then letters, digits, _ . -"}

// inputsShape declares context that only the caller can provide
// (docs/design.md#requirements-on-the-caller). The reason is recorded when the run has
// to stop for a missing input.
var inputsShape = list{Key: "contextKey", Of: object{What: "an input", Hints: &keyhints.Input, Fields: []field{
	{"contextKey", contextKey, required},
	{"reason", inputReason{}, required},
	{"description", text{Min: 1, Max: 512}, required},
	{"choiceKind", words(reason.ChoiceKinds()), optional},
	{"choices", list{Of: text{Min: 1, Max: 256}, Min: 2, Max: 32, Unique: true}, optional},
	{"choicesFrom", object{What: "a list of choices", Fields: []field{
		{"step", stepID, required},
		{"pointer", jsonPointer, required},
	}}, optional},
}}}

// inputReason is the words of reason.UserOnlyDetails. As the initial value of a variable the call would make code of the tables.
type inputReason struct{}

// Want, Check and Schema are those of the words.
func (inputReason) Want() string { return words(reason.UserOnlyDetails()).Want() }
func (inputReason) Check(at problem.SourceValue, report problem.Report) {
	words(reason.UserOnlyDetails()).Check(at, report)
}
func (inputReason) Schema(d shape.Describe) canon.Value {
	return words(reason.UserOnlyDetails()).Schema(d)
}

// jsonPointer is an RFC 6901 JSON pointer.
var jsonPointer = text{Pattern: pattern.New(`^(/([^~/]|~[01])*)*$`), Max: limits.PathMax,
	Like: `a JSON pointer such as "/targets", or "" for the whole result`}
