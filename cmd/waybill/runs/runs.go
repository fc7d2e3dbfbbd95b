// Package runs holds the commands that show runs: list, show, events, timeline,
// graph and watch, the one that ends a run, cancel, and replay, which decides
// what a run recorded once more.
//
// Only cancel writes to the store. Where a RUN can be left out, the latest run
// is meant. A session that is damaged is shown as far as its log is valid, and
// the answer says so: no command here repairs anything.
package runs

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
)

// long is what 'waybill runs --help' prints above the usage.
const long = `A run is one execution of one workflow. Runs are named by their id, by the beginning
of it ('k3j2a7' is enough while no other run begins so), or as @last, the one that
something happened to most recently. Only cancel changes a run.`

// New makes the command "runs" with its subcommands. Where they take a RUN and
// none is given, the latest run is meant, but for cancel.
func New(a *cli.App) *cobra.Command {
	return cli.NewGroup("runs", cli.GroupLook, "List runs and see what happened in them", long,
		newList(a), newShow(a), newTimeline(a), newEvents(a),
		newGraph(a), newWatch(a), newCancel(a))
}
