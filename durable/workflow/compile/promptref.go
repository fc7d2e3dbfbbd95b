package compile

import (
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/source"
)

// fromTemplate makes a template's text the prompt of a step (RFC 0027). Of the template
// nothing but that text becomes a part of the document, and where it came from: a run
// that is pinned to it needs the template no more. What has no value yet is {{name}}
// still, which the run's context fills (R22).
func (u *unit) fromTemplate(out *Step, at problem.Place) {
	ref, err := promptref.RefOf(at.Value)
	if err != nil { // the shape let it through
		u.report.Error(at, "Report this as a bug of Waybill.", "the reference cannot be read: %s", err)
		return
	}
	t, refused := u.b.options.Prompts.Find(ref)
	if refused != nil {
		u.report.Error(at, refused.Fix, "%s", refused.Message)
		return
	}
	if !t.Kind.Prompts() {
		u.report.Error(at, "Refer to a template of kind user or system.",
			"%s is of kind %s, which is a part of a prompt and none by itself", t.Ref(), t.Kind)
		return
	}
	values := u.overrides(t, at.Member("variableOverrides"))
	for _, v := range t.Variables {
		u.variable(out, v, values, t.Ref(), at)
	}
	out.Prompt = t.Fill(values, u.b.spend)
	out.Injected = append(out.Injected, injection(t.Ref().String(), t.Text))
	u.featuresBeside()
}

// overrides are the values that the reference gives to variables. They are authored
// text, as the arguments of a call are.
func (u *unit) overrides(t promptref.Template, at problem.Place) map[string]string {
	out, known := map[string]string{}, make([]string, len(t.Variables))
	for i, v := range t.Variables {
		known[i] = v.Name
	}
	for _, name := range at.Names() {
		value := at.Member(name)
		v, declared := t.Variable(name)
		switch {
		case !declared:
			u.report.Warn(value, suggest(name, known), "%s has no variable %q, so that the value changes nothing",
				t.Ref(), name)
			continue
		case !v.Fits(value.Value):
			u.report.Error(value, fmt.Sprintf("Write a value of type %s.", v.Type),
				"variable %q of %s is of type %s, got %s", name, t.Ref(), v.Type, value.Value.Kind())
			continue
		}
		if out[name] = promptref.Spelled(value.Value); value.Value.Kind() == canon.String {
			out[name] = u.text(out[name])
		}
	}
	return out
}

// variable settles one that the reference may have given a value: an optional one has
// its default, a required one is asked of the caller before the step is left.
func (u *unit) variable(out *Step, v promptref.Variable, values map[string]string, t promptref.Ref, at problem.Place) {
	_, given := values[v.Name]
	switch {
	case v.Source == promptref.SecretSource:
		u.report.Error(at, "Use a template that says where the secret is kept, and not what it is.",
			"variable %q of %s is a secret, and what is put into a prompt is kept for ever", v.Name, t)
	case given:
	case !v.Required:
		if !v.Default.IsZero() {
			values[v.Name] = promptref.Spelled(v.Default)
		}
	default:
		out.Inputs = asking(out.Inputs, v, t)
	}
}

// asking adds a variable to what a step needs from its caller, unless that is declared
// already: the author knows better what it is for. Of the closed reasons the one that
// fits any value is that somebody has to hand it over (R20).
func asking(declared []source.Input, v promptref.Variable, t promptref.Ref) []source.Input {
	for _, in := range declared {
		if in.ContextKey == v.Name {
			return declared
		}
	}
	said := v.Description
	if said == "" {
		said = fmt.Sprintf("The value of %s in %s", v.Name, t)
	}
	return append(declared[:len(declared):len(declared)],
		source.Input{ContextKey: v.Name, Reason: reason.NeedsArtifact.Detail, Description: said})
}
