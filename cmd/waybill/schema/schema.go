// Package schema implements the command that prints JSON Schemas: of workflow files, of stored
// records and of the documents that commands print. The schemas are derived from the types and
// tables of the program and therefore agree with it. The program does not validate anything
// against them. Start reading at allSchemas.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/nearest"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/durable/workflow/workflowtest"
	"github.com/waybill/waybill/infra/discovery"
	"github.com/waybill/waybill/infra/schema"
)

// long is what 'waybill schema --help' prints above the usage.
const long = `Print the JSON Schema of a workflow file, a stored record or a document. Without NAME, or
with --list, list the names.

  workflow        workflow files. Editors use it for completion and validation: store it
                  next to your files, or configure it in the editor.
  workflow-test   files of tests of workflows.
  document-KIND   the documents of --json, by kind. Later versions may add members.
  openwop-NAME    what clients of the OpenWOP protocol send and get, such as the lines of
                  'waybill runs events --format openwop'. Later versions may add members.
  all others      the records in a store and in a bundle. A record with a member that
                  the schema does not contain was written by another version.

The schemas are derived from the types of the program. Rules that a schema cannot
express, such as unique ids and correct digests, are checked only by 'waybill workflows
validate' and 'waybill verify'.`

// schemaList is the document "schemas".
type schemaList struct {
	Schemas []entry `json:"schemas"`
}

// entry is a schema that can be printed. make returns it as compact JSON; see entryOf.
//
// Name is the argument of 'waybill schema'. Title is a phrase for the list and the member
// title of the schema.
type entry struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	make  func() []byte
}

// entryOf returns the entry of a schema. The schema is built on demand: building all of them
// takes longer than most calls. make panics if the schema cannot be encoded, which is a bug.
func entryOf(name, title string, make func() *schema.Schema) entry {
	return entry{name, title, func() []byte {
		s := make()
		// Editors need the draft and the id of a schema.
		s.Schema, s.ID, s.Title = schema.Draft, "urn:waybill:schema:"+name+":v1", title
		raw, err := json.Marshal(s)
		v, parseErr := canon.Parse(raw) // canonical order of members, independent of the library
		if err = errors.Join(err, parseErr); err != nil {
			panic("schema " + name + ": " + err.Error()) // impossible for these types
		}
		return v.JCS()
	}}
}

// allSchemas returns all schemas: those of workflow files and of their tests, those of stored records, those of the OpenWOP
// protocol, and those of documents, each group in alphabetical order.
func allSchemas() []entry {
	out := []entry{{"workflow", "A workflow file", func() []byte { return source.Schema(discovery.Routines()).JCS() }},
		{"workflow-test", "A file of tests of a workflow", func() []byte { return workflowtest.Schema().JCS() }}}
	out = append(out, storedSchemas()...)
	out = append(out, wireSchemas()...)
	for _, kind := range documentKinds() {
		out = append(out, entryOf(DocumentPrefix+kind, "The document "+kind,
			func() *schema.Schema { return documentSchema(kind) }))
	}
	return out
}

// DocumentPrefix is the prefix of the names of document schemas; the kind follows.
const DocumentPrefix = "document-"

// Names returns the names of all schemas in the order of 'waybill schema'.
func Names() []string {
	var out []string
	for _, s := range allSchemas() {
		out = append(out, s.Name)
	}
	return out
}

// JSON returns the schema with a name as compact JSON; ok is false for an unknown name.
func JSON(name string) (raw []byte, ok bool) {
	all := allSchemas()
	at := slices.IndexFunc(all, func(s entry) bool { return s.Name == name })
	if at < 0 {
		return nil, false
	}
	return all[at].make(), true
}

// New returns the command "schema". With a name it prints that schema, indented; without one,
// or with --list, the document "schemas" with the names. It opens no store.
func New(a *cli.App) *cobra.Command {
	var list bool
	cmd := &cobra.Command{
		Use:     "schema [NAME]",
		GroupID: cli.GroupSetup,
		Short:   "Print the JSON Schema of a file, a record or a document",
		Long:    long,
		Example: "  waybill schema workflow > workflow.schema.json\n" +
			"  waybill schema document-run | jq '.properties.data.properties | keys'\n  waybill schema --list",
		Args: cli.AtMost("NAME"),
		// Completion of NAME; file names are never offered.
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listSchemas(a)
			}
			// --list takes no name.
			if list {
				return cli.UsageFault(cmd, "--list cannot be combined with NAME")
			}
			raw, ok := JSON(args[0])
			if !ok {
				f := cli.UsageFault(cmd, "unknown schema %q", args[0]).
					Suggest("%s lists the names.", fault.Command{"schema"})
				if near := nearest.Of(args[0], Names()); near != "" {
					f.Suggest("Did you mean %s? %s lists all.", near, fault.Command{"schema"})
				}
				return f
			}
			return a.WriteJSON(schemaText(raw))
		},
	}
	cli.WithOptions(cmd, cli.Opt(&list, "list", "list the names"))
	return cmd
}

// listSchemas prints the names and titles of all schemas.
func listSchemas(a *cli.App) error {
	all := allSchemas()
	return a.Answer("schemas", schemaList{all}, func(p *page.Page) {
		// The titles are a spare column, omitted on a narrow terminal.
		var rows [][]page.Cell
		for _, s := range all {
			rows = append(rows, []page.Cell{{Text: s.Name, Paint: p.Bold}, {Text: s.Title}})
		}
		p.Table([]page.Column{{Title: "NAME"}, {Title: "DESCRIBES", Flex: true, Spare: true}}, rows)
	})
}

// schemaText returns a schema as it is printed: indented, with one newline at the end.
func schemaText(raw []byte) []byte {
	var b bytes.Buffer
	_ = json.Indent(&b, raw, "", "  ") // raw is always valid JSON
	b.WriteByte('\n')
	return b.Bytes()
}
