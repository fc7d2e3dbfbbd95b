package work

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/infra/gitobserver"
	"github.com/waybill/waybill/ports"
)

// forkLong is what 'waybill fork --help' prints above the usage.
const forkLong = `Start a new run from a node of another run, with the workflow, context and preferences
of that node, in a new session. The original run is not changed and may have ended.
Annotations and approvals are not copied. 'waybill runs graph' shows the nodes of a run.

With --workflow the new run continues with another definition, such as a corrected file. It
must have the step that is pending at the node, in the same loops; steps that the run
completed stay completed where the definition has them. The log of the new run records
both definitions.

With --from-store the original run is in the store in DIR, which is read and never
written, and the new one in the store of the call. DIR can be a store of WorkRail: its
workflow is compiled here, and a run with events of a kind that Waybill does not know is
refused.

To repeat a step within the same run, continue from its node instead: that creates a
branch.`

// forkInput holds the flags of fork.
type forkInput struct {
	node, title, workflow, fromStore string
}

// NewFork returns the command "fork". It starts a run in a new session that continues from a
// node of another run; that run is not changed. Without --at it uses the current node of the
// run. Annotations of the other run are not copied. The answer is the pending step of the new
// run.
func NewFork(a *cli.App) *cobra.Command {
	var in forkInput
	cmd := &cobra.Command{
		Use:     "fork RUN [--at NODE]",
		GroupID: cli.GroupRun,
		Short:   "Start a new run from a node of another run",
		Long:    forkLong,
		Example: "  waybill fork @last --at plan\n  waybill fork k3j2a7 --at node_4q2… --title \"Another way\"\n" +
			"  waybill fork @last --at test --workflow ./release.yaml\n" +
			"  waybill fork run_4q2… --from-store ~/.workrail/data",
		Args: cli.Exactly("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			req, err := in.request(ctx, a)
			if err != nil {
				return err
			}
			// The ids of the new session and run are derived from the seed.
			seed, err := a.Seed()
			if err != nil {
				return err
			}
			return answerOf(ctx, a, func(o *cli.Store) (engine.Answer, error) {
				point, err := fromStore(ctx, a, o, in.fromStore, func(from *cli.Store) (engine.ForkPoint, error) {
					// --at accepts a node id, a prefix of it, or a step id.
					at, err := from.LocateNode(ctx, args[0], in.node)
					if err != nil {
						return engine.ForkPoint{}, err
					}
					return from.ForkPoint(ctx, at)
				})
				if err != nil {
					return engine.Answer{}, err
				}
				req.From = point
				return o.Fork(ctx, o.Caller(), seed, req)
			}, showStep)
		},
	}
	cli.WithOptions(cmd,
		cli.Opt(&in.node, "at NODE",
			"start at NODE: its id, a prefix of the id, or the step that was pending there (default: the "+
				"current node)"),
		cli.Opt(&in.title, "title TEXT", "title of the new run in lists: TEXT"),
		cli.Opt(&in.workflow, "workflow FILE", "continue with the definition in FILE, or of a workflow ID"),
		cli.Opt(&in.fromStore, "from-store DIR", "read the run from the store in DIR, also of WorkRail"))
	return cmd
}

// request returns the fork for the flags, without its node. The definition is read and compiled
// before a store is opened. Errors are those of App.Workflow and App.Workspace.
func (in *forkInput) request(ctx context.Context, a *cli.App) (out engine.ForkRequest, err error) {
	if in.workflow != "" {
		w, err := a.Workflow(ctx, in.workflow)
		if err != nil {
			return out, err
		}
		out.Definition = &engine.Definition{Workflow: w.Compiled, SourceKind: cli.RecordedSourceKind(w.Kind),
			SourceRef: w.Ref}
	}
	// Every run records observations of the repository that it was started in.
	_, root, err := a.Workspace()
	out.Title, out.Observations = in.title, gitobserver.Observe(root)
	return out, err
}

// fromStore asks the store in a directory beside that of the call; an empty dir is store itself. Nothing is written to
// the other one, and commands that errors suggest select it. The error is RUN_NOT_FOUND if the directory holds no store.
func fromStore[T any](ctx context.Context, a *cli.App, store *cli.Store, dir string, ask func(*cli.Store) (T, error)) (T, error) {
	if dir == "" {
		return ask(store)
	}
	other := cli.OtherStore(a, dir, ports.MayCreate) // it is checked here
	none := fault.New(fault.RunNotFound, "there is no store in %s", dir).
		Suggest("Give the directory that contains sessions, as --from-store DIR.")
	out, err := cli.Ask(ctx, other, func(ctx context.Context, from *cli.Store) (out T, err error) {
		switch exists, err := from.Ports.Exists(ctx); {
		case err != nil:
			return out, err
		case !exists:
			return out, none
		}
		return ask(from)
	})
	if fault.Is(err, fault.StoreInvalid) {
		return out, none
	}
	return out, other.Selecting(err)
}
