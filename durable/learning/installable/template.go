package installable

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/nearest"
	"github.com/waybill/waybill/durable/workflow/placeholder"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// templateShape is OpenWOP's prompt template (docs/design.md#prompt-templates) without
// additional members.
var templateShape = shape.Object{What: "a prompt template", Fields: []shape.Field{
	{"templateId", promptref.IDShape, required},
	{"version", version, required},
	{"kind", shape.Words(promptref.Kinds()), required},
	{"text", anyText, required},
	{"name", shape.Text{Max: 200}, optional},
	{"description", shape.Text{Max: 2000}, optional},
	{"variables", shape.List{Of: variableShape, Key: "name"}, optional},
	// Hints are stored and shown; Waybill calls no model and does not apply them.
	{"modelHints", shape.Object{What: "hints for a model", Fields: []shape.Field{
		{"modelClass", anyText, optional},
		{"temperature", shape.Amount{Min: 0, Max: 2}, optional},
		{"maxTokens", shape.Amount{Min: 1, Whole: true}, optional},
		{"envelopeType", anyText, optional}}}, optional},
	{"tags", shape.List{Of: shape.Text{Min: 1, Max: 64}, Max: 32}, optional},
	{"meta", shape.Object{What: "a template's origin", Fields: []shape.Field{
		{"author", anyText, optional},
		{"createdAt", anyText, optional},
		{"updatedAt", anyText, optional},
		{"source", shape.Words{"host", "pack", "user"}, optional},
		{"packName", packName, optional},
		{"packVersion", version, optional}}}, optional}}}

// variableShape is the declaration of one placeholder of the text.
var variableShape = shape.Object{What: "a variable", Fields: []shape.Field{
	{"name", shape.Text{Pattern: pattern.New(`^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`),
		Like: "a name of at most 64 letters, digits and _"}, required},
	{"type", shape.Words{"string", "number", "boolean", "array", "object"}, required},
	{"required", shape.Boolean, required},
	{"source", shape.Words{"input", "variable", promptref.SecretSource, "context"}, optional},
	{"extractPath", anyText, optional},
	{"defaultValue", shape.Anything{}, optional},
	{"description", shape.Text{Max: 500}, optional}}}

// checkTemplate checks the template's shape, its size, its origin, and that text and
// variables match. An empty text and mismatches are warnings: the template can still be used.
func checkTemplate(at problem.SourceValue, report problem.Report) {
	templateShape.Check(at, report)
	text := at.Member("text")
	bytesAtMost(text, limits.PromptTextBytesMax, report)
	if text.Value.Kind() == canon.String && strings.TrimSpace(text.Value.Text()) == "" {
		report.Warn(text, "Write what is to be done.", "the text is empty, so that nothing would be shown")
	}
	// A template that claims to come from a pack must name it, so that its origin can be
	// traced.
	if meta := at.Member("meta"); meta.Member("source").Value.Text() == "pack" {
		for _, key := range []string{"packName", "packVersion"} {
			if !meta.Has(key) {
				report.Error(meta, `Add "`+key+`", or write another source.`,
					"a template from a pack names it: %q is missing", key)
			}
		}
	}
	// Declarations are compared with the placeholders in the text in both directions.
	asked := placeholder.Paths(text.Value.Text())
	var declared []string
	for _, v := range at.Member("variables").Items() {
		declared = append(declared, v.Member("name").Value.Text())
		checkVariable(v, asked, report)
	}
	for _, name := range asked {
		checkPlaceholder(text, name, declared, report)
	}
	for _, name := range placeholder.Tokens(text.Value.Text()) {
		report.Warn(text, "Remove it: a template has no extension points.",
			"{{%s}} is not replaced; it is shown unchanged", name)
	}
}

// checkPlaceholder warns about a placeholder without a declaration. Most are typing errors;
// the others are filled from the run's context, but no step asks for their values.
func checkPlaceholder(text problem.SourceValue, name string, declared []string, report problem.Report) {
	if slices.Contains(declared, name) {
		return
	}
	switch near := nearest.Of(name, declared); {
	case near != "":
		report.Warn(text, "Did you mean {{"+near+"}}?", "no variable %q is declared", name)
	default:
		report.Warn(text, "Declare it under variables.",
			"no variable %q is declared; it is filled from the run's context if that has the key", name)
	}
}

// checkVariable warns about a declaration that has no effect, or less than its author
// expects.
func checkVariable(at problem.SourceValue, asked []string, report problem.Report) {
	name, value := at.Member("name").Value.Text(), at.Member("defaultValue")
	v := promptref.Variable{Type: at.Member("type").Value.Text()}
	if name != "" && !slices.Contains(asked, name) {
		report.Warn(at, "Write {{"+name+"}} into the text, or remove the variable.",
			"the text has no {{%s}}, so that a value changes nothing", name)
	}
	switch {
	case !at.Has("defaultValue"):
	case at.Member("required").Value.True():
		report.Warn(value, "Remove it, or write \"required\": false.",
			"the default of a required variable is never used")
	case v.Type != "" && !v.Fits(value.Value):
		report.Warn(value, "Write a value of that type.", "the default is of type %s, the variable of type %s",
			value.Value.Kind(), v.Type)
	}
	// The remaining declarations are valid in OpenWOP and without effect in Waybill.
	if at.Member("source").Value.Text() == promptref.SecretSource {
		report.Warn(at.Member("source"), "Describe in the text where the secret is stored.",
			"no workflow can use a template with a secret: prompt text is stored permanently")
	}
	if at.Has("extractPath") {
		report.Warn(at.Member("extractPath"), "Name the context key that holds the value.",
			"extractPath is not followed; {{%s}} is filled from the context key of that name", name)
	}
}
