package compile

import (
	"cmp"
	"fmt"

	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/placeholder"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/source"
)

// fromTemplate sets the prompt of a step to the text of a template
// (docs/design.md#prompt-templates). The document contains the text and its origin only, so
// a pinned run does not depend on the template. Placeholders without a value remain as
// {{name}} and are filled from the run's context (docs/design.md#loops).
func (u *unit) fromTemplate(out *Step, at problem.SourceValue) {
	ref, err := promptref.RefOf(at.Value)
	if err != nil { // promptref.RefShape accepted what RefOf cannot decode
		u.report.Error(at, "Report this as a bug of Waybill.", "the reference cannot be decoded: %s", err)
		return
	}
	t, refused := u.b.library.Prompts.Find(ref)
	if refused != nil {
		u.report.Error(at, refused.Fix, "%s", refused.Message)
		return
	}
	if !t.Kind.IsPrompt() {
		u.report.Error(at, "Refer to a template of kind user or system.",
			"%s is of kind %s, which is a part of a prompt and not a prompt", t.Ref(), t.Kind)
		return
	}
	values := u.overrides(t, at.Member("variableOverrides"))
	for _, v := range t.Variables {
		u.variable(out, v, values, t.Ref(), at)
	}
	out.Prompt = t.Fill(values, u.b.spend)
	out.Injected = append(out.Injected, injection(t.Ref().String(), t.Text))
	u.featuresInPreamble()
}

// overrides returns the values that the reference gives to variables, as texts. Bindings and
// arguments are filled into string values, as into other authored text. Undeclared variables
// are a warning, values of another type an error.
func (u *unit) overrides(t promptref.Template, at problem.SourceValue) map[string]string {
	out, known := map[string]string{}, make([]string, len(t.Variables))
	for i, v := range t.Variables {
		known[i] = v.Name
	}
	for _, name := range at.Names() {
		value := at.Member(name)
		v, declared := t.Variable(name)
		switch {
		case !declared:
			u.report.Warn(value, Suggest(name, known), "%s has no variable %q, so that the value changes nothing",
				t.Ref(), name)
			continue
		case !v.Fits(value.Value):
			u.report.Error(value, fmt.Sprintf("Write a value of type %s.", v.Type),
				"variable %q of %s is of type %s, got %s", name, t.Ref(), v.Type, value.Value.Kind())
			continue
		}
		out[name] = u.value(value.Value)
	}
	return out
}

// variable resolves one declared variable: the value of the reference, else the default of
// an optional one; a required one without a value becomes an input of the step. A secret
// variable is an error.
func (u *unit) variable(out *Step, v promptref.Variable, values map[string]string, t promptref.Ref,
	at problem.SourceValue) {
	_, given := values[v.Name]
	switch {
	case v.Source == promptref.SecretSource:
		u.report.Error(at, "Use a template that names where the secret is kept instead of its value.",
			"variable %q of %s is a secret, and prompts are stored permanently", v.Name, t)
	case given:
	case !v.Required:
		if !v.Default.IsZero() {
			values[v.Name] = placeholder.Text(v.Default)
		}
	default:
		// NeedsArtifact is the only reason that applies to values of all kinds
		// (docs/design.md#requirements-on-the-caller). The words are part of the workflow hash.
		description := cmp.Or(v.Description, fmt.Sprintf("The value of %s in %s", v.Name, t))
		out.Inputs = withInput(out.Inputs,
			source.Input{ContextKey: v.Name, Reason: reason.NeedsArtifact.Detail, Description: description})
	}
}
