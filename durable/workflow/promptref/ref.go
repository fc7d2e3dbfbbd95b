// Package promptref is prompt templates and the references to them (RFC 0027): what a
// step names in place of a prompt, which of the templates at hand that is, and what
// the template's text becomes with values in it.
//
// It installs nothing and looks nothing up beyond the templates that it is handed: a
// template that nobody hands over cannot be referred to.
package promptref

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// The patterns of the published schemas (RFC 0027 A and B).
const (
	idText      = `[a-z0-9][a-z0-9._-]{0,127}`
	versionText = `\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?`
	scheme      = "prompt:"
)

// What templates and references have in common, for the tables of both.
var (
	IDShape = shape.Text{Pattern: pattern.New(`^` + idText + `$`),
		Like: `an id of lowercase letters, digits, . _ - such as "review.strict"`}
	VersionShape = shape.Text{Pattern: pattern.New(`^` + versionText + `$`), Like: `a semantic version such as "1.0.0"`}
)

// RefShape is a reference as it is written: a text, or an object where variables are
// given values or a library is named.
var RefShape = shape.ByKind{
	canon.String: shape.Text{Pattern: pattern.New(`^` + scheme + idText + `(@` + versionText + `)?$`),
		Like: `a reference such as "prompt:review" or "prompt:review@1.0.0"`},
	canon.Object: shape.ObjectOf("a prompt reference",
		shape.Need("templateId", IDShape),
		shape.May("version", VersionShape),
		shape.May("libraryId", IDShape),
		shape.May("variableOverrides", shape.AnyObject)),
}

// Ref names a template. Without a version the newest is meant.
type Ref struct {
	TemplateID string `json:"templateId"`
	Version    string `json:"version,omitzero"`
	// LibraryID narrows it to the templates of one pack.
	LibraryID string `json:"libraryId,omitzero"`
	// Overrides are values for the template's variables, by name; null for none.
	Overrides canon.Value `json:"variableOverrides,omitzero"`
}

// RefOf reads a reference that RefShape found nothing wrong with, in either form.
func RefOf(v canon.Value) (Ref, error) {
	if v.Kind() != canon.String {
		var r Ref
		err := canon.Decode(v, &r)
		return r, err
	}
	name, ok := strings.CutPrefix(v.Text(), scheme)
	if !ok {
		return Ref{}, fmt.Errorf("a reference starts with %s, got %q", scheme, v.Text())
	}
	// No id holds an @, so that the first one begins the version.
	id, version, _ := strings.Cut(name, "@")
	return Ref{TemplateID: id, Version: version}, nil
}

// String is the short form, without library and values.
func (r Ref) String() string {
	if r.Version == "" {
		return scheme + r.TemplateID
	}
	return scheme + r.TemplateID + "@" + r.Version
}
