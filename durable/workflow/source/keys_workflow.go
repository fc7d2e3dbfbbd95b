package source

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/keyhints"
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
	modelTier = oneOf("lightweight", "mid", "heavy")
)

// shortTexts is a list of distinct lines, such as metaGuidance.
var shortTexts = list{Of: shortText, Unique: true}

// workflowShape is the root of a workflow file. The required members come first; the
// others follow in alphabetical order, Waybill's own keys included.
var workflowShape = object{What: "a workflow", Hints: &keyhints.Workflow, Fields: []field{
	// The form of the id depends on the source kind; see checkID.
	need("id", text{Min: 3, Max: 64}),
	need("name", title),
	need("description", text{Min: 1, Max: 512}),
	need("version", text{Pattern: semver, Like: `a semantic version such as "0.1.0"`}),
	need("steps", list{Of: stepShape, Min: 1}),
	may("about", text{Min: 1, Max: 4096}),
	may("agentRole", agentRole),
	may("assessments", list{Of: assessmentShape, Key: "id"}),
	may("capabilities", capabilitiesShape),
	may("clarificationPrompts", shortTexts),
	may("conditions", conditionsShape),
	may("examples", list{Of: text{Min: 10, Max: 120}, Min: 1, Max: 6, Unique: true}),
	may("extensionPoints", list{Of: extensionPointShape, Key: "slotId"}),
	may("features", list{Of: builtinName{title, "feature"}, Unique: true}),
	may("functionDefinitions", functionsShape),
	may("inputs", inputsShape),
	may("metaGuidance", shortTexts),
	may("metricsProfile", oneOf("coding", "review", "research", "design", "ticket", "none")),
	may("modelTier", modelTier),
	may("preconditions", shortTexts),
	may("recommendedPreferences", object{What: "recommended preferences", Hints: &keyhints.Recommended, Fields: []field{
		may("recommendedAutonomy", oneOf("guided", "full_auto_stop_on_user_deps", "full_auto_never_stop")),
		may("recommendedRiskPolicy", oneOf("conservative", "balanced", "aggressive")),
	}}),
	may("references", list{Of: referenceShape, Key: "id"}),
	may("validatedAgainstSpecVersion", amount{Min: 1, Whole: true}),
}}

// IsWorkflowKey reports a key of a workflow file, or one that means another.
func IsWorkflowKey(key string) bool { return workflowShape.Knows(key) }

// extensionPointShape is a slot that a project can bind to its own routine. The default
// applies where the project binds nothing.
var extensionPointShape = object{What: "an extension point", Hints: &keyhints.ExtensionPoint, Fields: []field{
	need("slotId", text{Min: 2, Max: 64, Pattern: pattern.New(`^[a-z][a-z0-9_]*$`), Like: "a lowercase name"}),
	need("purpose", shortText),
	need("default", title),
	may("acceptedKinds", list{Of: oneOf("routine", "workflow"), Unique: true}),
}}

// referenceShape names a document. The document is never read when compiling, so that the
// workflow hash depends on the workflow alone.
var referenceShape = object{What: "a reference", Hints: &keyhints.Reference, Fields: []field{
	need("id", text{Min: 2, Max: 64, Pattern: lowerID, Like: "a lowercase name"}),
	need("title", title),
	need("source", text{Min: 1, Max: 512}),
	need("purpose", text{Min: 1, Max: 512}),
	need("authoritative", boolean),
	may("resolveFrom", oneOf("workspace", "package")),
}}

// capabilitiesShape lists capabilities by how strongly the workflow needs each
// (docs/design.md#capabilities).
var capabilitiesShape = object{What: "capabilities", Fields: []field{
	may("required", capabilityList),
	may("preferred", capabilityList),
	may("disabled", capabilityList),
}}

// capabilityList is a closed set: a workflow can only require capabilities for which a
// probe exists, or the run would wait for an observation that never arrives.
var capabilityList = list{Of: oneOf("delegation", "web_browsing"), Unique: true}

// functionsShape is functionDefinitions of a workflow, a loop or a step. The definition
// nearest to the reference applies, so a name must be unique within one list only.
var functionsShape = list{Key: "name", Of: object{What: "a function", Hints: &keyhints.Function, Fields: []field{
	need("name", identifier),
	need("definition", text{}),
	may("parameters", list{Of: parameterShape, Key: "name"}),
	may("scope", oneOf("workflow", "loop", "step")),
}}}

// parameterShape describes a parameter of a function for the performer. Arguments are not
// checked against it.
var parameterShape = object{What: "a parameter", Fields: []field{
	need("name", identifier),
	need("type", oneOf("string", "number", "boolean", "array", "object")),
	may("required", boolean),
	may("description", text{}),
	may("enum", list{Min: 1, Of: byKind{canon.String: text{},
		canon.Number: oneKind{Kind: canon.Number, Text: "a number"}, canon.Bool: boolean}}),
	may("default", anything{}),
}}

// contextKey is a key of the run's context (docs/design.md#requirements-on-the-caller).
var contextKey = text{Pattern: pattern.New(`^[A-Za-z_][A-Za-z0-9_.-]{0,127}$`),
	Like: "a context key: a letter or _, then letters, digits, _ . -"}

// inputsShape declares context that only the caller can provide
// (docs/design.md#requirements-on-the-caller). The reason is recorded when the run has
// to stop for a missing input.
var inputsShape = list{Key: "contextKey", Of: object{What: "an input", Hints: &keyhints.Input, Fields: []field{
	need("contextKey", contextKey),
	need("reason", words{Set: reason.UserOnlyDetails()}),
	need("description", text{Min: 1, Max: 512}),
	may("choiceKind", words{Set: reason.ChoiceKinds()}),
	may("choices", list{Of: text{Min: 1, Max: 256}, Min: 2, Max: 32, Unique: true}),
	may("choicesFrom", object{What: "a list of choices", Fields: []field{
		need("step", stepID),
		need("pointer", jsonPointer),
	}}),
}}}

// jsonPointer is an RFC 6901 JSON pointer.
var jsonPointer = text{Pattern: pattern.New(`^(/([^~/]|~[01])*)*$`), Max: limits.PathMax,
	Like: `a JSON pointer such as "/targets", or "" for the whole result`}
