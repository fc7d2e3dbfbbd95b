package main

import "github.com/spf13/cobra"

const runsLong = `A run is one execution of one workflow. Runs are named by their id, by the beginning
of it ('k3j2a7' is enough while no other run begins so), or as @last, the one that
something happened to most recently. Only cancel changes a run.`

func newRunsCommand(a *app) *cobra.Command {
	return newGroup("runs", groupLook, "List runs and see what happened in them", runsLong,
		newRunsListCommand(a), newRunsShowCommand(a), newRunsTimelineCommand(a), newRunsEventsCommand(a),
		newRunsGraphCommand(a), newRunsWatchCommand(a), newRunsCancelCommand(a))
}

// runArg is the run that an optional argument names.
func runArg(args []string) string {
	if len(args) == 0 {
		return "@last"
	}
	return args[0]
}
