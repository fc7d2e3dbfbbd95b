package workflow

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/reason"
)

// Shapes that stand in several places.
var (
	title      = text{min: 1, max: 128}
	shortText  = text{min: 1, max: 256}
	lowerID    = pattern.New(`^[a-z][a-z0-9_-]*$`)
	identifier = text{pattern: pattern.New(`^[a-zA-Z_][a-zA-Z0-9_]*$`), like: "a name of letters, digits and _"}
	semver     = pattern.New(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)` +
		`(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?` +
		`(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$`)
	modelTier = oneOf("lightweight", "mid", "heavy")
)

// shortTexts is a list of distinct lines such as metaGuidance.
var shortTexts = list{of: shortText, unique: true}

// workflowShape is the whole file. What the published schema requires stands first;
// the rest is in alphabetical order, Waybill's own keys among it.
var workflowShape = object{"a workflow", []field{
	need("id", text{min: 3, max: 64}),
	need("name", title),
	need("description", text{min: 1, max: 512}),
	need("version", text{pattern: semver, like: `a semantic version such as "0.1.0"`}),
	need("steps", list{of: stepShape, min: 1}),
	may("about", text{min: 1, max: 4096}),
	may("agentRole", agentRole),
	may("assessments", list{of: assessmentShape, key: "id"}),
	may("capabilities", capabilitiesShape),
	may("clarificationPrompts", shortTexts),
	may("conditions", conditionsShape),
	may("examples", list{of: text{min: 10, max: 120}, min: 1, max: 6, unique: true}),
	may("extensionPoints", list{of: extensionPointShape, key: "slotId"}),
	may("features", list{of: title, unique: true}),
	may("functionDefinitions", functionsShape),
	may("inputs", inputsShape),
	may("metaGuidance", shortTexts),
	may("metricsProfile", oneOf("coding", "review", "research", "design", "ticket", "none")),
	may("modelTier", modelTier),
	may("preconditions", shortTexts),
	may("recommendedPreferences", object{"recommended preferences", []field{
		may("recommendedAutonomy", oneOf("guided", "full_auto_stop_on_user_deps", "full_auto_never_stop")),
		may("recommendedRiskPolicy", oneOf("conservative", "balanced", "aggressive")),
	}}),
	may("references", list{of: referenceShape, key: "id"}),
	may("validatedAgainstSpecVersion", amount{min: 1, whole: true}),
}}

// extensionPointShape is a slot that a project may fill with a routine of its own.
var extensionPointShape = object{"an extension point", []field{
	need("slotId", text{min: 2, max: 64, pattern: pattern.New(`^[a-z][a-z0-9_]*$`), like: "a lowercase name"}),
	need("purpose", shortText),
	need("default", title),
	may("acceptedKinds", list{of: oneOf("routine", "workflow"), unique: true}),
}}

// referenceShape points at a document. It is never read when compiling, so that a
// hash depends on the workflow alone.
var referenceShape = object{"a reference", []field{
	need("id", text{min: 2, max: 64, pattern: lowerID, like: "a lowercase name"}),
	need("title", title),
	need("source", text{min: 1, max: 512}),
	need("purpose", text{min: 1, max: 512}),
	need("authoritative", boolean),
	may("resolveFrom", oneOf("workspace", "package")),
}}

// capabilitiesShape is the locks' closed set, by how much a workflow wants each.
var capabilitiesShape = object{"capabilities", []field{
	may("required", capabilityList),
	may("preferred", capabilityList),
	may("disabled", capabilityList),
}}

// capabilityList is closed: a capability that nobody can observe cannot be asked for.
var capabilityList = list{of: oneOf("delegation", "web_browsing"), unique: true}

// functionsShape stands on workflows, loops and steps; the nearest definition of a
// name counts, so that only one list may not hold it twice.
var functionsShape = list{key: "name", of: object{"a function", []field{
	need("name", identifier),
	need("definition", text{}),
	may("parameters", list{of: parameterShape, key: "name"}),
	may("scope", oneOf("workflow", "loop", "step")),
}}}

// parameterShape tells whoever follows a function what to fill in. Nothing is
// checked against it.
var parameterShape = object{"a parameter", []field{
	need("name", identifier),
	need("type", oneOf("string", "number", "boolean", "array", "object")),
	may("required", boolean),
	may("description", text{}),
	may("enum", list{min: 1, of: byKind{canon.String: text{}, canon.Number: oneKind{canon.Number, "a number"}, canon.Bool: boolean}}),
	may("default", anything{}),
}}

// inputsShape declares what only the caller can give (R20). The reason is what the
// run will say when it has to stop for it.
var inputsShape = list{key: "contextKey", of: object{"an input", []field{
	need("contextKey", text{pattern: pattern.New(`^[A-Za-z_][A-Za-z0-9_.-]{0,127}$`), like: "a context key: a letter or _, then letters, digits, _ . -"}),
	need("reason", words{reason.UserOnlyDetails()}),
	need("description", text{min: 1, max: 512}),
	may("choiceKind", words{reason.ChoiceKinds()}),
	may("choices", list{of: text{min: 1, max: 256}, min: 2, max: 32, unique: true}),
}}}
