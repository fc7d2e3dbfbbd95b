// Package starter holds the templates of new workflow files, themselves workflows. JSON has no
// comments, so their prompts explain each part.
package starter

import (
	_ "embed" // for the templates
	"strings"

	"github.com/waybill/waybill/durable/canon"
)

//go:embed steps.json
var steps string

//go:embed code.json
var code string

// Template is a template of a new workflow file.
type Template struct {
	Name string // as arguments name it
	What string // what it shows, for help texts
	text string
}

// Templates are the templates; the first one is used where none is named.
var Templates = []Template{
	{"steps", "notes, an input, a condition and a confirmation", steps},
	{"code", "a change of code with a check and an approval", code},
}

// Of returns a template by its name.
func Of(name string) (Template, bool) {
	for _, t := range Templates {
		if t.Name == name {
			return t, true
		}
	}
	return Template{}, false
}

// Names lists the templates for messages.
func Names() string {
	var names []string
	for _, t := range Templates {
		names = append(names, t.Name)
	}
	return strings.Join(names, " or ")
}

// File returns a new workflow file with this id and name, as JSON. It validates without problems if
// the id is namespaced and the name has 1 to 128 characters.
func (t Template) File(id, name string) []byte {
	own := strings.NewReplacer(`"project.starter"`, string(canon.AppendString(nil, id)),
		`"Starter"`, string(canon.AppendString(nil, name)))
	return []byte(own.Replace(t.text))
}
