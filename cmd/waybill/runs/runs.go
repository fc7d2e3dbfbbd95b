// Package runs implements the commands that show runs (list, show, events, timeline, graph,
// diff, report, logs, search, watch), close a run (cancel), hold it (pause, resume), and re-execute its recorded inputs (replay).
//
// Only cancel, pause and resume write to the store. An optional RUN defaults to the latest run. For a damaged
// session the commands show the valid prefix of its log together with its health; none of
// them repairs anything.
package runs

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
)

// long is what 'waybill runs --help' prints above the usage.
const long = `A run is one execution of one workflow. RUN is its id, a prefix of the id without run_
('k3j2a7', if no other run has that prefix), or @last, the run with the latest event.
Only cancel, pause and resume change a run.`

// New returns the command "runs" with its subcommands, of which the report is another package's. RUN is optional and
// defaults to the latest run, except for those that change it.
func New(a *cli.App, report *cobra.Command) *cobra.Command {
	return cli.NewGroup("runs", cli.GroupInspect, "List, show, report, pause and cancel runs", long,
		newList(a), newShow(a), newTimeline(a), newEvents(a),
		newGraph(a), report, newDiff(a), newLogs(a), newSearch(a), newWatch(a), newPause(a),
		newResume(a), newCancel(a), newReclaim(a))
}
