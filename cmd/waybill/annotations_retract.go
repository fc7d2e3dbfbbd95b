package main

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
)

const annotationsRetractLong = `Take an annotation of a run back: it counts no more, and 'waybill annotations list' shows
it only with --history. It stays on record, with who took it back and why. What it stood in
the place of does not come back. The same call again changes nothing.

ANNOTATION is an id or the beginning of one, as the list shows it.`

func newAnnotationsRetractCommand(a *app) *cobra.Command {
	var req engine.RetractRequest
	cmd := &cobra.Command{
		Use:   "retract RUN ANNOTATION",
		Short: "Take an annotation back",
		Long:  annotationsRetractLong,
		Example: "  waybill annotations retract @last k3j2a7\n" +
			"  waybill annotations retract k3j2a7 p4xq2m --reason \"Meant for another run\"",
		Args: exactly("RUN", "ANNOTATION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			o, err := a.open(ctx)
			if err != nil {
				return err
			}
			defer o.close()
			at, err := o.Locate(ctx, args[0])
			if err != nil {
				return err
			}
			if req.Annotation, err = o.annotationOf(ctx, at.Run, args[1]); err != nil {
				return err
			}
			done, err := o.Retract(ctx, a.caller(), at, req)
			if err != nil {
				return err
			}
			return a.answer("retracted", done, func(p *page) {
				what := "Annotation " + p.annotationName(done.AnnotationID) + " of run " + shortRun(at.Run) + " (" +
					p.signalWords(done.Signal) + ")"
				if done.Already {
					p.text("", what+" was taken back before.")
					return
				}
				p.text(p.good("✓ "), what+" is taken back. It stays on record.")
			})
		},
	}
	cmd.Flags().StringVar(&req.Reason, "reason", "", "put `TEXT` on record")
	return cmd
}
