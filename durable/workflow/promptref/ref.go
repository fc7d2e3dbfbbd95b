// Package promptref implements prompt templates and references to them
// (docs/design.md#prompt-templates): Ref is a parsed reference, Library finds the template
// it refers to, and Template.Fill replaces the placeholders in the template's text.
//
// The package does not install templates and performs no I/O. A Library contains exactly
// the templates that its caller passes to NewLibrary.
package promptref

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// The patterns of the published schemas of templates and references
// (docs/design.md#prompt-templates).
const (
	idText      = `[a-z0-9][a-z0-9._-]{0,127}`
	versionText = `\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?`
	// Scheme begins a reference in its short form.
	Scheme = "prompt:"
)

// Shapes that templates and references have in common.
var (
	IDShape = shape.Text{Pattern: pattern.New(`^` + idText + `$`),
		Like: `an id of lowercase letters, digits, . _ - such as "review.strict"`}
	VersionShape = shape.Text{Pattern: pattern.New(`^` + versionText + `$`), Like: `a semantic version such as "1.0.0"`}
)

// RefShape is the shape of a reference in a workflow file: a string, or an object, which
// can also give values for variables and name a library.
var RefShape = shape.ByKind{
	canon.String: shape.Text{Pattern: pattern.New(`^` + Scheme + idText + `(@` + versionText + `)?$`),
		Like: `a reference such as "prompt:review" or "prompt:review@1.0.0"`},
	canon.Object: shape.Object{What: "a prompt reference", Fields: []shape.Field{
		{"templateId", IDShape, shape.Required},
		{"version", VersionShape, shape.Optional},
		{"libraryId", IDShape, shape.Optional},
		{"variableOverrides", shape.AnyObject, shape.Optional}}},
}

// Ref refers to a template. Without a version it refers to the newest.
type Ref struct {
	TemplateID string `json:"templateId"`
	Version    string `json:"version,omitzero"`
	// LibraryID restricts the reference to the templates of one pack.
	LibraryID string `json:"libraryId,omitzero"`
	// Overrides is an object of values for the template's variables, by name; null for none.
	Overrides canon.Value `json:"variableOverrides,omitzero"`
}

// RefOf decodes a reference in either form. The value must have passed RefShape; RefOf
// checks only what it needs.
func RefOf(v canon.Value) (Ref, error) {
	if v.Kind() != canon.String {
		var r Ref
		err := canon.Decode(v, &r)
		return r, err
	}
	name, ok := strings.CutPrefix(v.Text(), Scheme)
	if !ok {
		return Ref{}, fmt.Errorf("a reference starts with %s, got %q", Scheme, v.Text())
	}
	// Ids do not contain @, so the first one starts the version.
	id, version, _ := strings.Cut(name, "@")
	return Ref{TemplateID: id, Version: version}, nil
}

// String returns the short form, prompt:id or prompt:id@version, without library and
// values.
func (r Ref) String() string {
	if r.Version == "" {
		return Scheme + r.TemplateID
	}
	return Scheme + r.TemplateID + "@" + r.Version
}
