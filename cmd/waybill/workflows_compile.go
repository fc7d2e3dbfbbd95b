package main

import (
	"bytes"
	"encoding/json"
	"os"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// compiledDocument is the document "compiled".
type compiledDocument struct {
	WorkflowHash canon.Digest     `json:"workflowHash"`
	Workflow     compile.Document `json:"workflow"`
}

func newWorkflowsCompileCommand(a *app) *cobra.Command {
	var out, kind string
	cmd := &cobra.Command{
		Use:   "compile FILE|ID",
		Short: "Print what a run of a workflow is pinned to",
		Long: `Compile a workflow and print the result: everything resolved, in the one form that a
run is pinned to. With -o its exact bytes are written to a file; their SHA-256 is the
workflow's hash.`,
		Example: "  waybill workflows compile wr.demo\n" +
			"  waybill workflows compile ./release.yaml -o release.compiled.json && sha256sum release.compiled.json",
		Args: exactly("FILE or ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			as, ok := sourceKind(kind)
			if !ok {
				return noSuchSourceKind(cmd, kind)
			}
			e, err := a.checked(cmd.Context(), args[0], as)
			if err == nil {
				err = e.Usable()
			}
			if err != nil {
				return err
			}
			w := e.Compiled
			if out != "" {
				// A file of the user's, not of the store: it gets the mode that they chose.
				if err := os.WriteFile(out, w.Bytes(), 0o666); err != nil {
					return fault.Wrap(err, fault.StoreIO, "%s cannot be written: %v", out, plainCause(err)).
						Suggest("Name a file that you may write.")
				}
			}
			return a.answer("compiled", compiledDocument{w.Hash(), w.Document}, func(p *page) {
				if out != "" {
					p.line("%s %s", w.Hash(), clean(out))
					return
				}
				var b bytes.Buffer
				_ = json.Indent(&b, w.Bytes(), "", "  ") // what we wrote ourselves is JSON
				p.line("%s", b.Bytes())
			})
		},
	}
	cmd.Flags().StringVar(&kind, "source-kind", "",
		"compile the file as one from `KIND`: bundled, installed, user, project, remote or plugin")
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the exact bytes to `FILE`")
	return cmd
}
