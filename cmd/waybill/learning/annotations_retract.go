package learning

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
)

// annotationsRetractLong is what 'waybill annotations retract --help' prints
// above the usage.
const annotationsRetractLong = `Retract an annotation of a run: it is no longer counted, and 'waybill annotations list'
shows it only with --history. It stays on record, with who retracted it and why. An
annotation that it superseded does not become valid again. The call is idempotent.

ANNOTATION is an id or a prefix of one, as 'waybill annotations list' shows it.`

// newAnnotationsRetract returns "annotations retract". It records that an
// annotation does not count any more; the annotation stays in the log.
// Retracting it again is no error: the answer has "already" set.
func newAnnotationsRetract(a *cli.App) *cobra.Command {
	var req learning.RetractRequest
	return cli.WithOptions(&cobra.Command{
		Use:   "retract RUN ANNOTATION",
		Short: "Retract an annotation of a run",
		Long:  annotationsRetractLong,
		Example: "  waybill annotations retract @last k3j2a7\n" +
			"  waybill annotations retract k3j2a7 p4xq2m --reason \"Meant for another run\"",
		Args: cli.Exactly("RUN", "ANNOTATION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var at engine.Position
			return cli.Show(a, cmd, "retracted", func(ctx context.Context, o *cli.Store) (done learning.Retracted,
				err error) {
				if at, err = o.Locate(ctx, args[0]); err != nil {
					return done, err
				}
				if req.Annotation, err = findAnnotation(ctx, o, at.Run, args[1]); err != nil {
					return done, err
				}
				return o.Retract(ctx, o.Caller(), at, req)
			}, func(p *page.Page, done learning.Retracted) {
				what := "Annotation " + render.AnnotationName(p, done.AnnotationID) + " of run " +
					page.ShortRun(at.Run) + " (" +
					render.SignalText(p, done.Signal) + ")"
				if done.Already {
					p.Text("", what+" was already retracted.")
				} else {
					p.Text(p.Good("✓ "), what+" is retracted. It stays on record.")
				}
				render.Redactions(p, done.Redactions)
			})
		},
	},
		cli.Opt(&req.Reason, "reason TEXT", "record TEXT as the reason"))
}
