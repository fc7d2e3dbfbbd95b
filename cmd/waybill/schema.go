package main

import (
	"bytes"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/workflow"
)

const schemaLong = `Print the JSON Schema of a document. Editors use that of workflow files to complete
and check them while you write: put it beside your files, or name it in their settings.

The schema is made from the rules that 'waybill workflows validate' checks by, so that
the two cannot differ. What a schema cannot say, such as that ids are unique, only
validate finds.`

// schemaDocuments are the documents that have one.
var schemaDocuments = map[string]func() []byte{
	"workflow": func() []byte { return workflow.Schema().JCS() },
}

func newSchemaCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:       "schema NAME",
		GroupID:   groupSetup,
		Short:     "Print the JSON Schema of a document",
		Long:      schemaLong + "\n\nNAME is workflow.",
		Example:   "  waybill schema workflow > workflow.schema.json\n  waybill schema workflow | jq '.properties | keys'",
		Args:      exactly("NAME"),
		ValidArgs: sortedKeys(schemaDocuments),
		RunE: func(cmd *cobra.Command, args []string) error {
			make, ok := schemaDocuments[args[0]]
			if !ok {
				return usageFault(cmd, "there is no schema called %q", args[0]).Suggest("Use workflow.")
			}
			return a.write(schemaText(make()))
		},
	}
}

// schemaText is a schema as it is printed and kept: indented, one newline at the end.
func schemaText(raw []byte) []byte {
	var b bytes.Buffer
	_ = json.Indent(&b, raw, "", "  ") // what we wrote ourselves is JSON
	b.WriteByte('\n')
	return b.Bytes()
}
