// Package runs holds the commands that show runs and end them, and the one that replays
// what a run recorded. Only cancel writes to the store.
package runs

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
)

const long = `A run is one execution of one workflow. Runs are named by their id, by the beginning
of it ('k3j2a7' is enough while no other run begins so), or as @last, the one that
something happened to most recently. Only cancel changes a run.`

func New(a *cli.App) *cobra.Command {
	return cli.NewGroup("runs", cli.GroupLook, "List runs and see what happened in them", long,
		newList(a), newShow(a), newTimeline(a), newEvents(a),
		newGraph(a), newWatch(a), newCancel(a))
}
