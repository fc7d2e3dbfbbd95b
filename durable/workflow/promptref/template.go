package promptref

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/placeholder"
)

// Kind is the role of a template (docs/design.md#prompt-templates), a closed set.
type Kind string

// The kinds of templates.
const (
	System     Kind = "system"
	User       Kind = "user"
	FewShot    Kind = "few-shot"
	SchemaHint Kind = "schema-hint"
)

// Kinds returns all kinds as strings, for the shape of a template.
func Kinds() []string {
	return []string{string(System), string(User), string(FewShot), string(SchemaHint)}
}

// Known reports a kind of the closed set.
func (k Kind) Known() bool { return slices.Contains(Kinds(), string(k)) }

// IsPrompt reports whether a step may use a template of the kind as its prompt. The other
// kinds are parts of a prompt.
func (k Kind) IsPrompt() bool { return k == System || k == User }

// Template is a prompt text with an id, a version and variables, in its published JSON
// form. Members that only other programs read are kept as canon values.
type Template struct {
	ID          string      `json:"templateId"`
	Version     string      `json:"version"`
	Kind        Kind        `json:"kind"`
	Text        string      `json:"text"`
	Name        string      `json:"name,omitzero"`
	Description string      `json:"description,omitzero"`
	Variables   []Variable  `json:"variables,omitzero"`
	ModelHints  canon.Value `json:"modelHints,omitzero"`
	Tags        []string    `json:"tags,omitzero"`
	Meta        canon.Value `json:"meta,omitzero"`
}

// Variable declares a placeholder of the text, which has the form {{name}}.
type Variable struct {
	Name        string      `json:"name"`
	Type        string      `json:"type"` // string, number, boolean, array or object
	Required    bool        `json:"required"`
	Source      string      `json:"source,omitzero"` // input, which is the default, variable, secret or context
	ExtractPath string      `json:"extractPath,omitzero"`
	Default     canon.Value `json:"defaultValue,omitzero"`
	Description string      `json:"description,omitzero"`
}

// SecretSource is the Source of variables whose values are secret. The compiler rejects
// references to templates with such variables, since prompts are stored permanently.
const SecretSource = "secret"

// TemplateOf decodes a template, which was validated when it was installed. It fails if a
// required member is missing or has another type.
func TemplateOf(v canon.Value) (Template, error) {
	var t Template
	err := canon.Decode(v, &t)
	return t, err
}

// Ref returns a reference to exactly this version.
func (t Template) Ref() Ref { return Ref{TemplateID: t.ID, Version: t.Version} }

// LibraryID returns the name of the pack that contained the template, "" when it was
// installed by itself.
func (t Template) LibraryID() string {
	name, _ := t.Meta.Get("packName")
	return name.Text()
}

// Variable returns the declaration with a name; false for an undeclared name.
func (t Template) Variable(name string) (Variable, bool) {
	i := slices.IndexFunc(t.Variables, func(v Variable) bool { return v.Name == name })
	if i < 0 {
		return Variable{}, false
	}
	return t.Variables[i], true
}

// Fits reports whether a value has the declared type; false for every value if the type is
// unknown.
func (v Variable) Fits(value canon.Value) bool {
	kinds := map[string]canon.Kind{"string": canon.String, "number": canon.Number, "boolean": canon.Bool,
		"array": canon.Array, "object": canon.Object}
	kind, known := kinds[v.Type]
	return known && value.Kind() == kind
}

// Fill returns the text with placeholders replaced by their values, in one pass from left
// to right: placeholders inside values are not replaced. A placeholder without a value
// remains and is filled from the run's context. reserve is called with the length of each
// value before it is copied, since a text may use one value ten thousand times; when it
// returns false, the placeholder remains.
func (t Template) Fill(values map[string]string, reserve func(bytes int) bool) string {
	return placeholder.Replace(t.Text, func(p placeholder.Part) string {
		value, ok := values[p.Path]
		if !ok || !reserve(len(value)) {
			return p.Text
		}
		return value
	})
}

// listed joins the first five names, for messages.
func listed(all []string) string {
	const shown = 5
	if len(all) > shown {
		return strings.Join(all[:shown], ", ") + ", …"
	}
	return strings.Join(all, ", ")
}
