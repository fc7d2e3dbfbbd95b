// Package starter holds the templates of new workflow files, themselves workflows with tests.
// Their prompts and comments explain each part.
package starter

import (
	"bytes"
	"embed"
	"encoding/json"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/yaml"
)

// files are the templates, and their tests.
//
//go:embed *.yaml
var files embed.FS

// Template is a template of a new workflow file.
type Template struct {
	Name string // as arguments name it
	What string // what it shows, for help texts
}

// Templates are the templates; the first one is used where none is named.
var Templates = []Template{
	{"steps", "notes, an input, a condition and a confirmation"},
	{"code", "a change of code with a check and an approval"},
	{"release", "commands, their outputs, and an approval before the last one"},
	{"incident", "a loop until a condition holds, and an approval"},
	{"review", "a loop that a decision ends, with a check"},
	{"loop", "a loop over the items of a list"},
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

// NameList returns the names of the templates.
func NameList() (names []string) {
	for _, t := range Templates {
		names = append(names, t.Name)
	}
	return names
}

// Names lists the templates for messages.
func Names() string {
	names := NameList()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// read returns an embedded file.
func read(name string) string {
	data, err := files.ReadFile(name)
	if err != nil {
		panic("starter: " + err.Error()) // the files are those of Templates
	}
	return string(data)
}

// File returns a new workflow file with this id and name, as YAML. It validates without problems if
// the id is namespaced and the name has 1 to 128 characters.
func (t Template) File(id, name string) []byte {
	scalar := func(text string) string { return strings.TrimSuffix(string(yaml.Text(text)), "\n") }
	text := strings.Replace(read(t.Name+".yaml"), "\nname: Starter\n", "\nname: "+scalar(name)+"\n", 1)
	return []byte(strings.Replace(text, "\nid: project.starter\n", "\nid: "+scalar(id)+"\n", 1))
}

// JSON is File as indented JSON. Comments are left out.
func (t Template) JSON(id, name string) ([]byte, error) {
	v, err := yaml.Parse(t.File(id, name))
	if err != nil {
		return nil, err
	}
	return indented(v)
}

// Tests returns the file of tests of a new workflow file, as YAML.
func (t Template) Tests() []byte {
	return []byte("# What has to hold of the workflow beside this file. Perform it with 'waybill workflows test'.\n" + read(t.Name+".test.yaml"))
}

// indented returns a value as JSON with a line for each member.
func indented(v canon.Value) ([]byte, error) {
	var out bytes.Buffer
	err := json.Indent(&out, v.JCS(), "", "  ")
	out.WriteString("\n")
	return out.Bytes(), err
}
