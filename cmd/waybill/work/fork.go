package work

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/infra/gitobserver"
)

// forkLong is what 'waybill fork --help' prints above the usage.
const forkLong = `Begin a new run from a node of another one: with its workflow, its context and its
preferences, in a session of its own. The run that it comes from is not touched, and
may be finished. 'waybill runs graph' shows the nodes of a run.

To try a step again within the same run, continue from it instead: that opens a branch.`

// NewFork makes the command "fork". It starts a run in a new session that
// continues from a node of another run; that run is not changed. Without --at
// it continues from where the run is now. Annotations of the other run are not
// taken along. The answer is the pending step of the new run.
func NewFork(a *cli.App) *cobra.Command {
	var node, title string
	cmd := &cobra.Command{
		Use:     "fork RUN [--at NODE]",
		GroupID: cli.GroupWork,
		Short:   "Begin a new run from a node of another one",
		Long:    forkLong,
		Example: "  waybill fork @last --at plan\n  waybill fork k3j2a7 --at node_4q2… --title \"Another way\"",
		Args:    cli.Exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			// The new run records where it was started, as every run does.
			_, root, err := a.Workspace()
			if err != nil {
				return err
			}
			// A fork is a session of its own, with new ids.
			seed, err := a.Seed()
			if err != nil {
				return err
			}
			o, err := a.Open(ctx)
			if err != nil {
				return err
			}
			defer o.Close()
			at, err := o.LocateNode(ctx, args[0], node)
			if err != nil {
				return err
			}
			answer, err := o.Fork(ctx, a.Caller(), seed,
				engine.ForkRequest{At: at, Title: title, Observations: gitobserver.Observe(root)})
			if err != nil {
				return err
			}
			return showAnswer(ctx, a, o, answer, false)
		},
	}
	f := cmd.Flags()
	f.StringVar(&node, "at", "",
		"begin at `NODE`: its id, the beginning of it, or the step that was pending there; where the run stands "+
			"otherwise")
	f.StringVar(&title, "title", "", "call the new run `TEXT` in lists")
	return cmd
}
