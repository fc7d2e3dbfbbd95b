package runs

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/report"
	"github.com/waybill/waybill/durable/pages"
	"github.com/waybill/waybill/infra/bundlefile"
	"github.com/waybill/waybill/projections/markup"
)

// newReport returns "runs report".
func newReport(a *cli.App) *cobra.Command {
	var in reportInput
	return cli.WithOptions(&cobra.Command{
		Use:   "report [RUN]",
		Short: "Write a run as one file to hand on",
		Args:  cli.AtMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error {
				return writeReport(ctx, a, o, cli.RunArg(args), in)
			})
		},
	},
		cli.Opt(&in.file, "output,o FILE", "write to FILE, - for stdout"),
		cli.Opt(&in.force, "force", "replace an existing file"))
}

// reportInput has the values of the flags of report.
type reportInput struct {
	file  string
	force bool
}

// writeReport writes the report of one run.
func writeReport(ctx context.Context, a *cli.App, o *cli.Store, ref string, in reportInput) error {
	defer cli.LimitMemory()()
	r, err := o.Reports.Report(ctx, ref, report.Options{MadeAtMs: a.Clock().UnixMilli(), Version: a.Version})
	if err != nil {
		return err
	}
	render := func(w io.Writer) error { return markup.Render(w, pages.Report(r)) }
	if in.file == "-" {
		return a.StoredStream(render)
	}
	target, err := bundlefile.Create(in.file, in.force)
	if err != nil {
		return err
	}
	if err := render(target); err != nil {
		target.Abandon()
		return err
	}
	if err := target.Commit(); err != nil {
		return err
	}
	return a.Answer("report_file", nil, func(p *page.Page) { p.Text(p.Good("✓ "), in.file) })
}
