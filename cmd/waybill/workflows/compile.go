package workflows

import (
	"bytes"
	"encoding/json"
	"os"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
)

// newCompile makes "workflows compile". It prints the compiled document, or
// with -o writes its exact bytes, whose SHA-256 is the workflow's hash. A
// workflow that does not validate is an error.
//
// The file is written with the mode that the user's umask gives, since it is no
// part of a store. An existing file is replaced: it can be made again at any
// time.
func newCompile(a *cli.App) *cobra.Command {
	var out, kind string
	cmd := &cobra.Command{
		Use:   "compile FILE|ID",
		Short: "Print what a run of a workflow is pinned to",
		Long: `Compile a workflow and print the result: everything resolved, in the one form that a
run is pinned to. With -o its exact bytes are written to a file; their SHA-256 is the
workflow's hash.`,
		Example: "  waybill workflows compile wr.demo\n" +
			"  waybill workflows compile ./release.yaml -o release.compiled.json && sha256sum release.compiled.json",
		Args: cli.Exactly("FILE or ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			// The kind decides which ids and features are allowed.
			as, ok := sourceKind(kind)
			if !ok {
				return noSuchSourceKind(cmd, kind)
			}
			e, err := checkSource(cmd.Context(), a, args[0], as)
			// What cannot be run has no compiled form.
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
					return fault.Wrap(err, fault.StoreIO, "%s cannot be written: %v", out, cli.PlainCause(err)).
						Suggest("Name a file that you may write.")
				}
			}
			return a.Answer("compiled", document.Compiled{WorkflowHash: w.Hash(), Workflow: w.Document},
				func(p *page.Page) {
					if out != "" {
						p.Line("%s %s", w.Hash(), page.Clean(out))
						return
					}
					var b bytes.Buffer
					_ = json.Indent(&b, w.Bytes(), "", "  ") // what we wrote ourselves is JSON
					p.Line("%s", b.Bytes())
				})
		},
	}
	cmd.Flags().StringVar(&kind, "source-kind", "",
		"compile the file as one from `KIND`: bundled, installed, user, project, remote or plugin")
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the exact bytes to `FILE`")
	return cmd
}
