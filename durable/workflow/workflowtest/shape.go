package workflowtest

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/workflow/shape"
)

const required, optional = shape.Required, shape.Optional

// statuses are those of package projections/runs that a run without a person's cancellation can have, and
// Unreached.
var statuses = []string{"in_progress", "blocked", "complete", "complete_with_gaps", "failed", Unreached}

// anyText is a text of any length: it is part of a file that is bounded.
var anyText = shape.Text{}

// someText is a text that is not empty.
var someText = shape.Text{Min: 1}

// object is a JSON object of any content.
var object = shape.OneKind{Kind: canon.Object, Text: "an object"}

// exit is an exit status.
var exit = shape.Amount{Min: -1, Max: 255, Whole: true}

// ranFields are the results of a command.
var ranFields = []shape.Field{{"exit", exit, optional}, {"stdout", anyText, optional}, {"stderr", anyText, optional}}

// answerShape is one answer to a step.
var answerShape = shape.Object{What: "an answer", Fields: append([]shape.Field{
	{"notes", anyText, optional},
	{"artifacts", shape.List{Of: shape.Anything{}, Max: limits.ArtifactsMax}, optional},
	{"context", object, optional},
	{"output", shape.ByKind{canon.Object: object, canon.String: anyText}, optional},
	{"checks", shape.Dictionary{Value: shape.ByKind{canon.String: shape.Words{"pass", "fail"},
		canon.Object: shape.Object{What: "the result of a check", Fields: ranFields}}}, optional},
	{"approve", shape.ByKind{canon.Bool: shape.Boolean, canon.String: personName,
		canon.Array: shape.List{Of: personName, Min: 1, Max: limits.TestPeopleMax, Unique: true}}, optional},
	{"sendBack", someText, optional},
	{"deny", someText, optional},
	{"confirm", shape.Boolean, optional},
}, ranFields...)}

// personName is the name of a person who approves.
var personName = shape.Text{Min: 1, Max: 64, Pattern: pattern.New(`^[A-Za-z0-9][A-Za-z0-9._@+-]*$`),
	Like: "a name without blanks"}

// matchShape describes blockers and warnings.
func matchShape(what string, more ...shape.Field) shape.Shape {
	return shape.List{Max: limits.TestAnswersMax, Of: shape.ByKind{canon.String: someText,
		canon.Object: shape.Object{What: what,
			Fields: append([]shape.Field{{"code", someText, optional}, {"message", someText, optional}}, more...)}}}
}

// expectShape is what a case expects.
var expectShape = shape.Object{What: "what a case expects", Fields: []shape.Field{
	{"path", shape.List{Of: someText, Max: limits.TestAnswersMax}, optional},
	{"status", shape.Words(statuses), optional},
	{"blockers", matchShape("a blocker", shape.Field{"step", someText, optional}), optional},
	{"prompts", shape.Dictionary{Value: shape.ByKind{canon.String: someText, canon.Array: shape.List{Of: someText, Min: 1}}}, optional},
	{"context", object, optional},
	{"warnings", matchShape("a warning", shape.Field{"path", someText, optional}), optional},
}}

// caseShape is one case.
var caseShape = shape.Object{What: "a case", Fields: []shape.Field{
	{"name", shape.Text{Min: 1, Max: 200}, required},
	{"context", object, optional},
	{"preferences", shape.Object{What: "preferences", Fields: []shape.Field{
		{"autonomy", shape.Words{"guided", "full_auto_stop_on_user_deps", "full_auto_never_stop"}, optional},
		{"riskPolicy", shape.Words{"conservative", "balanced", "aggressive"}, optional}}}, optional},
	{"answers", shape.Dictionary{Value: shape.List{Of: answerShape, Max: limits.TestAnswersMax}}, optional},
	{"expect", expectShape, required},
}}

// fileShape is a file of tests.
var fileShape = shape.Object{What: "a file of tests", Fields: []shape.Field{
	{"cases", shape.List{Of: caseShape, Max: limits.TestCasesMax, Key: "name"}, required}}}

// descriptions are those of the members for editors, by the object and the member.
var descriptions = map[string]string{
	"a file of tests.cases":        "The cases, each one run of the workflow",
	"a case.name":                  "What the case shows; no two cases have the same name",
	"a case.context":               "The context with which the run starts",
	"a case.preferences":           "The preferences with which the run starts",
	"a case.answers":               "The answers to each step, by its id, in the order in which it asks",
	"a case.expect":                "What is expected; members that are left out are not compared",
	"an answer.notes":              "The notes that are handed in",
	"an answer.artifacts":          "The artifacts that are handed in, as JSON values",
	"an answer.context":            "The context that is handed in; null removes a key",
	"an answer.output":             "What the command writes to $WAYBILL_OUTPUT: an object, or a text",
	"an answer.checks":             "The results of the checks of the step, by their ids; others pass",
	"an answer.approve":            "People approve what was handed in: true, or their names",
	"an answer.sendBack":           "A person sends back what was handed in, for this reason",
	"an answer.deny":               "A person ends the run, for this reason",
	"an answer.confirm":            "A person confirms the step, or with false does not continue",
	"an answer.exit":               "The exit status of the command; 0 if it is left out",
	"an answer.stdout":             "What the command prints",
	"an answer.stderr":             "What the command prints as errors",
	"what a case expects.path":     "The steps in the order in which they are shown, the last one included",
	"what a case expects.status":   "The status of the run at the end",
	"what a case expects.blockers": "Codes or parts of messages of blockers, those at the end included",
	"what a case expects.prompts":  "Texts that a prompt of each step contains, by its id",
	"what a case expects.context":  "Members of the context at the end; null: absent",
	"what a case expects.warnings": "Codes or parts of messages of warnings",
	"the result of a check.exit":   "The exit status of the check; 0 if it is left out",
	"the result of a check.stdout": "What the check prints",
	"the result of a check.stderr": "What the check prints as errors",
	"a blocker.code":               "The code of the blocker",
	"a blocker.message":            "A part of the message",
	"a blocker.step":               "The step at which the attempt was refused",
	"a warning.code":               "The code of the warning",
	"a warning.message":            "A part of the message",
	"a warning.path":               "The path of the warning",
	"preferences.autonomy":         "The autonomy of the run",
	"preferences.riskPolicy":       "The risk policy of the run",
}

// Schema returns the JSON Schema (draft 2020-12) of a file of tests, for editors. It is derived from the
// shapes with which Parse checks; whether steps exist is no part of it.
func Schema() canon.Value {
	return fileShape.Schema(func(what, key string) string { return descriptions[what+"."+key] }).
		With("$schema", canon.OfString("https://json-schema.org/draft/2020-12/schema")).
		With("title", canon.OfString("Waybill tests of a workflow")).
		With("description", canon.OfString("Cases of a workflow: what is answered at each step, and what is expected of the run"))
}
