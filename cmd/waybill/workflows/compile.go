package workflows

import (
	"bytes"
	"context"
	"encoding/json"
	"os"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/difference"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// newCompile returns "workflows compile". It prints the compiled workflow, or with -o writes
// its exact bytes, whose SHA-256 is the workflow hash. An invalid workflow is
// WORKFLOW_INVALID.
//
// The file gets the mode of the user's umask, since it is not part of a store. An existing
// file is overwritten, since it can be created again at any time.
func newCompile(a *cli.App) *cobra.Command {
	var out, kind, against string
	cmd := &cobra.Command{
		Use:   "compile FILE|ID",
		Short: "Print the compiled form of a workflow",
		Long: `Compile a workflow and print the result: the canonical form with all references resolved,
to which runs are pinned. With -o, write its exact bytes to a file; their SHA-256 is the
workflow hash. An existing file is overwritten. With --against, print how it differs from the
version to which a run is pinned.`,
		Example: "  waybill workflows compile wr.demo\n" +
			"  waybill workflows compile ./ship.yaml -o ship.json && sha256sum ship.json\n" +
			"  waybill workflows compile ./release.yaml --against @last",
		Args: cli.Exactly("FILE or ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if against != "" && out != "" {
				return cli.UsageFault(cmd, "--against prints a difference and cannot be combined with --output")
			}
			e, err := checkAs(cmd, a, args[0], kind)
			// An invalid workflow has no compiled form.
			if err == nil {
				err = e.Usable()
			}
			if err != nil {
				return err
			}
			w := e.Compiled
			if against != "" {
				return compare(cmd.Context(), a, w, against)
			}
			if out != "" {
				// Not a file of the store: its mode is left to the umask.
				if err := os.WriteFile(out, w.Bytes(), 0o666); err != nil {
					return fault.Wrap(err, fault.StoreIO, "%s cannot be written: %v", out, cli.PlainCause(err)).
						Suggest("Give the path of a writable file.")
				}
			}
			if out == "" && !a.Flags.JSON {
				// Indented for reading; the hash is that of the compact bytes.
				var b bytes.Buffer
				_ = json.Indent(&b, w.Bytes(), "", "  ") // compiled bytes are always JSON
				b.WriteByte('\n')
				return a.WriteStored(b.Bytes())
			}
			return a.Answer("compiled", document.Compiled{WorkflowHash: w.Hash(), Workflow: w.Document},
				func(p *page.Page) { p.Line("%s %s", w.Hash(), page.OneLine(out)) })
		},
	}
	cli.WithOptions(cmd,
		cli.OptOf(&kind, "source-kind KIND", kindNames(),
			"compile by the rules of KIND: bundled, installed, user, project, remote or plugin"),
		cli.Opt(&against, "against RUN", "print the difference from what the run RUN is pinned to"),
		cli.Opt(&out, "output,o FILE", "write the exact bytes to FILE"))
	return cmd
}

// compare prints the difference between the version to which a run is pinned and a compiled workflow, as a
// unified difference of both compiled forms with one member on a line. The run is only read.
func compare(ctx context.Context, a *cli.App, w compile.Compiled, run string) error {
	return a.WithStore(ctx, func(ctx context.Context, o *cli.Store) error {
		r, err := o.Run(ctx, run)
		if err != nil {
			return err
		}
		pinned, err := o.Workflow(ctx, r.Workflow.WorkflowHash)
		if err != nil {
			return err
		}
		doc := document.Compiled{WorkflowHash: w.Hash(), Workflow: w.Document, Against: &document.Against{RunID: r.RunID,
			WorkflowHash: pinned.Hash(), Diff: difference.Lines(pinned.Bytes(), w.Bytes())}}
		return a.Answer("compiled", doc, func(p *page.Page) {
			if len(doc.Against.Diff) == 0 {
				p.Line("No difference: run %s is pinned to this version.", page.ShortRun(r.RunID))
			}
			for _, line := range doc.Against.Diff {
				p.Line("%s", page.Clean(line))
			}
		})
	})
}
