package work

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/infra/gitobserver"
)

// forkLong is what 'waybill fork --help' prints above the usage.
const forkLong = `Start a new run from a node of another run, with the workflow, context and preferences
of that node, in a new session. The original run is not changed and may have ended.
Annotations are not copied. 'waybill runs graph' shows the nodes of a run.

To repeat a step within the same run, continue from its node instead: that creates a
branch.`

// NewFork returns the command "fork". It starts a run in a new session that continues from a
// node of another run; that run is not changed. Without --at it uses the current node of the
// run. Annotations of the other run are not copied. The answer is the pending step of the new
// run.
func NewFork(a *cli.App) *cobra.Command {
	var node, title string
	cmd := &cobra.Command{
		Use:     "fork RUN [--at NODE]",
		GroupID: cli.GroupRun,
		Short:   "Start a new run from a node of another run",
		Long:    forkLong,
		Example: "  waybill fork @last --at plan\n  waybill fork k3j2a7 --at node_4q2… --title \"Another way\"",
		Args:    cli.Exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			// Every run records observations of the repository that it was started in.
			_, root, err := a.Workspace()
			if err != nil {
				return err
			}
			// The ids of the new session and run are derived from the seed.
			seed, err := a.Seed()
			if err != nil {
				return err
			}
			return answerOf(ctx, a, func(o *cli.Store) (engine.Answer, error) {
				// --at accepts a node id, a prefix of it, or a step id.
				at, err := o.LocateNode(ctx, args[0], node)
				if err != nil {
					return engine.Answer{}, err
				}
				return o.Fork(ctx, o.Caller(), seed,
					engine.ForkRequest{At: at, Title: title, Observations: gitobserver.Observe(root)})
			}, showStep)
		},
	}
	f := cmd.Flags()
	f.StringVar(&node, "at", "",
		"start at `NODE`: its id, a prefix of the id, or the step that was pending there (default: the "+
			"current node)")
	f.StringVar(&title, "title", "", "title of the new run in lists: `TEXT`")
	return cmd
}
