// Package schema holds the command that prints JSON Schemas, and the schemas of
// workflow files, of stored records and of the documents that commands print.
// They are made from the types and tables of the program, so that they cannot
// differ from it; nothing is checked against them here.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/nearest"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/schema"
)

// long is what 'waybill schema --help' prints above the usage.
const long = `Print the JSON Schema of what Waybill reads, stores or answers. Without NAME, or with
--list, list the names.

  workflow        files that you write. Editors use it to complete and check them: put
                  it beside your files, or name it in their settings.
  document-KIND   what --json prints, by its kind. They may get more members later.
  all others      what lies in a store and in a bundle, record by record. A member
                  that the schema does not name makes it a record of another version.

The schemas are made from the rules and types that the program itself works with. What
a schema cannot say, such as that ids are unique or digests right, only 'waybill
workflows validate' and 'waybill verify' find.`

// schemaList is the document "schemas".
type schemaList struct {
	Schemas []entry `json:"schemas"`
}

// entry is a schema that can be printed. make builds it; see entryOf.
type entry struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	make  func() []byte
}

// entryOf is a schema with its name and title. It is built only when it is
// asked for: to build all of them takes longer than most calls.
func entryOf(name, title string, make func() *schema.Schema) entry {
	return entry{name, title, func() []byte {
		s := make()
		// Every schema names its draft and itself, for editors.
		s.Schema, s.ID, s.Title = schema.Draft, "urn:waybill:schema:"+name+":v1", title
		raw, err := json.Marshal(s)
		v, parseErr := canon.Parse(raw) // one order of members, whatever the library's
		if err = errors.Join(err, parseErr); err != nil {
			panic("schema " + name + ": " + err.Error()) // its types rule that out
		}
		return v.JCS()
	}}
}

// allSchemas are all schemas: the one for authors of workflow files, those of
// stored records, and those of documents.
func allSchemas() []entry {
	out := []entry{{"workflow", "A workflow file", func() []byte { return source.Schema().JCS() }}}
	stored := storedSchemas()
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		out = append(out, entryOf(name, stored[name].title, stored[name].make))
	}
	for _, kind := range documentKinds() {
		out = append(out, entryOf(DocumentPrefix+kind, "The document "+kind,
			func() *schema.Schema { return documentSchema(kind) }))
	}
	return out
}

// DocumentPrefix begins the names of the schemas of documents; the kind
// follows.
const DocumentPrefix = "document-"

// Names lists the names of all schemas in the order in which they are listed to
// people.
func Names() []string {
	var out []string
	for _, s := range allSchemas() {
		out = append(out, s.Name)
	}
	return out
}

// JSON is the schema of a name as compact JSON; ok is false where no schema has it.
func JSON(name string) (raw []byte, ok bool) {
	all := allSchemas()
	at := slices.IndexFunc(all, func(s entry) bool { return s.Name == name })
	if at < 0 {
		return nil, false
	}
	return all[at].make(), true
}

// New makes the command "schema". With a name it prints that schema, indented;
// without one, or with --list, the names as the document "schemas". It opens no
// store.
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
			// The list is of names, so a name beside it is a mistake.
			if list {
				return cli.UsageFault(cmd, "--list lists the names, and takes none")
			}
			raw, ok := JSON(args[0])
			if !ok {
				f := cli.UsageFault(cmd, "there is no schema called %q", args[0]).
					Suggest("'waybill schema' lists the names.")
				if near := nearest.Of(args[0], Names()); near != "" {
					f.Suggest("Did you mean %s? 'waybill schema' lists all.", near)
				}
				return f
			}
			return a.Write(schemaText(raw))
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the names")
	return cmd
}

// listSchemas prints the names and titles of all schemas.
func listSchemas(a *cli.App) error {
	all := allSchemas()
	return a.Answer("schemas", schemaList{all}, func(p *page.Page) {
		// Titles are left out where there is no room for them.
		var rows [][]page.Cell
		for _, s := range all {
			rows = append(rows, []page.Cell{{Text: s.Name, Paint: p.Bold}, {Text: s.Title}})
		}
		p.Table([]page.Column{{Title: "NAME"}, {Title: "DESCRIBES", Flex: true, Spare: true}}, rows)
	})
}

// schemaText is a schema as it is printed and kept: indented, one newline at the end.
func schemaText(raw []byte) []byte {
	var b bytes.Buffer
	_ = json.Indent(&b, raw, "", "  ") // what we wrote ourselves is JSON
	b.WriteByte('\n')
	return b.Bytes()
}
