package main

import "github.com/spf13/cobra"

func newSessionsRestoreCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "restore SESSION|RUN",
		Short: "Take a session back from the trash",
		Long: `Move a session out of the trash again, as it was. It is named by its id, by one of its
runs, or as the JSON document of 'waybill sessions list' names it; of several with one
id it is the one that was deleted last.`,
		Example: "  waybill sessions restore k3j2a7\n  waybill sessions list --trash",
		Args:    exactly("SESSION or RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			t, err := o.RestoreSession(cmd.Context(), a.caller(), args[0])
			if err != nil {
				return err
			}
			return a.answer("restored", t, func(p *page) {
				p.line("%s %s is back.", p.good("✓"), clean(titleOfRuns(t.Runs)))
				// What a cleanup took for its age would go with the next one again.
				p.line("%s", p.dim("To let no cleanup take it: "+a.command("sessions", "keep", t.SessionID.String())))
			})
		},
	}
}
