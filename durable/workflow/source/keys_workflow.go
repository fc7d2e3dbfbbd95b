package source

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/reason"
)

// Shapes that stand in several places.
var (
	title      = text{Min: 1, Max: 128}
	shortText  = text{Min: 1, Max: 256}
	lowerID    = pattern.New(`^[a-z][a-z0-9_-]*$`)
	identifier = text{Pattern: pattern.New(`^[a-zA-Z_][a-zA-Z0-9_]*$`), Like: "a name of letters, digits and _"}
	semver     = pattern.New(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)` +
		`(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?` +
		`(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$`)
	modelTier = oneOf("lightweight", "mid", "heavy")
)

// shortTexts is a list of distinct lines such as metaGuidance.
var shortTexts = list{Of: shortText, Unique: true}

// workflowShape is the whole file. What the published schema requires stands first;
// the rest is in alphabetical order, Waybill's own keys among it.
var workflowShape = object{What: "a workflow", Fields: []field{
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
	may("features", list{Of: title, Unique: true}),
	may("functionDefinitions", functionsShape),
	may("inputs", inputsShape),
	may("metaGuidance", shortTexts),
	may("metricsProfile", oneOf("coding", "review", "research", "design", "ticket", "none")),
	may("modelTier", modelTier),
	may("preconditions", shortTexts),
	may("recommendedPreferences", object{What: "recommended preferences", Fields: []field{
		may("recommendedAutonomy", oneOf("guided", "full_auto_stop_on_user_deps", "full_auto_never_stop")),
		may("recommendedRiskPolicy", oneOf("conservative", "balanced", "aggressive")),
	}}),
	may("references", list{Of: referenceShape, Key: "id"}),
	may("validatedAgainstSpecVersion", amount{Min: 1, Whole: true}),
}}

// extensionPointShape is a slot that a project may fill with a routine of its own.
var extensionPointShape = object{What: "an extension point", Fields: []field{
	need("slotId", text{Min: 2, Max: 64, Pattern: pattern.New(`^[a-z][a-z0-9_]*$`), Like: "a lowercase name"}),
	need("purpose", shortText),
	need("default", title),
	may("acceptedKinds", list{Of: oneOf("routine", "workflow"), Unique: true}),
}}

// referenceShape points at a document. It is never read when compiling, so that a
// hash depends on the workflow alone.
var referenceShape = object{What: "a reference", Fields: []field{
	need("id", text{Min: 2, Max: 64, Pattern: lowerID, Like: "a lowercase name"}),
	need("title", title),
	need("source", text{Min: 1, Max: 512}),
	need("purpose", text{Min: 1, Max: 512}),
	need("authoritative", boolean),
	may("resolveFrom", oneOf("workspace", "package")),
}}

// capabilitiesShape is the locks' closed set, by how much a workflow wants each.
var capabilitiesShape = object{What: "capabilities", Fields: []field{
	may("required", capabilityList),
	may("preferred", capabilityList),
	may("disabled", capabilityList),
}}

// capabilityList is closed: a capability that nobody can observe cannot be asked for.
var capabilityList = list{Of: oneOf("delegation", "web_browsing"), Unique: true}

// functionsShape stands on workflows, loops and steps; the nearest definition of a
// name counts, so that only one list may not hold it twice.
var functionsShape = list{Key: "name", Of: object{What: "a function", Fields: []field{
	need("name", identifier),
	need("definition", text{}),
	may("parameters", list{Of: parameterShape, Key: "name"}),
	may("scope", oneOf("workflow", "loop", "step")),
}}}

// parameterShape tells whoever follows a function what to fill in. Nothing is
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

// inputsShape declares what only the caller can give (R20). The reason is what the
// run will say when it has to stop for it.
var inputsShape = list{Key: "contextKey", Of: object{What: "an input", Fields: []field{
	need("contextKey", text{Pattern: pattern.New(`^[A-Za-z_][A-Za-z0-9_.-]{0,127}$`),
		Like: "a context key: a letter or _, then letters, digits, _ . -"}),
	need("reason", words{Set: reason.UserOnlyDetails()}),
	need("description", text{Min: 1, Max: 512}),
	may("choiceKind", words{Set: reason.ChoiceKinds()}),
	may("choices", list{Of: text{Min: 1, Max: 256}, Min: 2, Max: 32, Unique: true}),
}}}
