package main

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/projections"
)

const runsCancelLong = `End a run for good: it takes no further steps. Where 'waybill run' carries it out at
this moment, its command is stopped and it closes the run; else the run is closed at
once. What is on record stays. The same call again changes nothing.`

func newRunsCancelCommand(a *app) *cobra.Command {
	var req engine.CancelRequest
	cmd := &cobra.Command{
		Use:   "cancel RUN",
		Short: "End a run for good",
		Long:  runsCancelLong,
		Example: "  waybill runs cancel @last --reason \"Not needed any more\"\n" +
			"  waybill runs cancel k3j2a7 --failed --reason \"The release was withdrawn\"",
		Args: exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			at, err := o.Locate(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			done, err := o.Cancel(cmd.Context(), a.caller(), o.performers(), at, req)
			if err != nil {
				return err
			}
			return a.answer("cancelled", done, func(p *page) {
				switch {
				case done.Status == projections.Cancelling:
					p.text(p.warn("!")+" ", "Run "+shortRun(done.RunID)+
						" is told to stop; whoever carries it out closes it.")
				case done.Already:
					p.line("%s Run %s is %s already.", p.mark(done.Status), shortRun(done.RunID), told(done.Status))
				default:
					p.line("%s Run %s is %s.", p.good("✓"), shortRun(done.RunID), told(done.Status))
				}
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&req.Reason, "reason", "", "put `TEXT` on record")
	f.BoolVar(&req.Failed, "failed", false, "let the run count as failed instead of cancelled")
	return cmd
}
