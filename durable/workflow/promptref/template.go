package promptref

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
)

// Kind is the closed set of roles that a template plays (RFC 0027).
type Kind string

// The kinds.
const (
	System     Kind = "system"
	User       Kind = "user"
	FewShot    Kind = "few-shot"
	SchemaHint Kind = "schema-hint"
)

// Kinds are all of them, as words of a schema.
func Kinds() []string {
	return []string{string(System), string(User), string(FewShot), string(SchemaHint)}
}

// Prompts reports whether a step may show a template of the kind as its prompt. The
// others are parts of one.
func (k Kind) Prompts() bool { return k == System || k == User }

// Template is a prompt with a name, a version and variables, in the published shape.
// What only programs that show lists read stays a value.
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

// Variable is a slot of the text, written {{name}} there.
type Variable struct {
	Name        string      `json:"name"`
	Type        string      `json:"type"` // string, number, boolean, array or object
	Required    bool        `json:"required"`
	Source      string      `json:"source,omitzero"` // input, which is the default, variable, secret or context
	ExtractPath string      `json:"extractPath,omitzero"`
	Default     canon.Value `json:"defaultValue,omitzero"`
	Description string      `json:"description,omitzero"`
}

// SecretSource is the source of variables that hold secrets.
const SecretSource = "secret"

// TemplateOf reads a template that was checked when it was installed.
func TemplateOf(v canon.Value) (Template, error) {
	var t Template
	err := canon.Decode(v, &t)
	return t, err
}

// Ref names exactly this version.
func (t Template) Ref() Ref { return Ref{TemplateID: t.ID, Version: t.Version} }

// LibraryID is the pack that the template came in, "" when it came by itself.
func (t Template) LibraryID() string {
	name, _ := t.Meta.Get("packName")
	return name.Text()
}

// Variable finds a declaration by its name.
func (t Template) Variable(name string) (Variable, bool) {
	i := slices.IndexFunc(t.Variables, func(v Variable) bool { return v.Name == name })
	if i < 0 {
		return Variable{}, false
	}
	return t.Variables[i], true
}

// Fits reports whether a value is of the declared type.
func (v Variable) Fits(value canon.Value) bool {
	kinds := map[string]canon.Kind{"string": canon.String, "number": canon.Number, "boolean": canon.Bool,
		"array": canon.Array, "object": canon.Object}
	kind, known := kinds[v.Type]
	return known && value.Kind() == kind
}

// placeholder is what a prompt fills while a run goes on: a dotted path in double
// braces, with blanks or without (R22).
var placeholder = pattern.New(`\{\{ *([A-Za-z_][A-Za-z0-9_.-]*) *\}\}`)

// Placeholders are the names that a text asks for, each once, in its order.
func Placeholders(text string) []string {
	var out []string
	placeholder.ReplaceAllStringFunc(text, func(token string) string {
		if name := placeholder.FindStringSubmatch(token)[1]; !slices.Contains(out, name) {
			out = append(out, name)
		}
		return token
	})
	return out
}

// Fill is the text with values in the place of their names. It is read once from left
// to right: what a value brings is not read again, and a name without a value stays
// for the run's context. room is asked before bytes are copied, since a text may name
// one value ten thousand times; where it says no the name stays.
func (t Template) Fill(values map[string]string, room func(bytes int) bool) string {
	return placeholder.ReplaceAllStringFunc(t.Text, func(token string) string {
		value, ok := values[placeholder.FindStringSubmatch(token)[1]]
		if !ok || !room(len(value)) {
			return token
		}
		return value
	})
}

// Spelled is how a value stands in a text: strings as they are, all else as JCS.
func Spelled(v canon.Value) string {
	if v.Kind() == canon.String {
		return v.Text()
	}
	return string(v.JCS())
}

// listed names a few of many.
func listed(all []string) string {
	const shown = 5
	if len(all) > shown {
		return strings.Join(all[:shown], ", ") + ", …"
	}
	return strings.Join(all, ", ")
}
