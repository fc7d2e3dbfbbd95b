package main

import "github.com/spf13/cobra"

const annotationsLong = `Annotations are what people and agents said of runs: ratings, corrections, labels and
flags, each with an optional note. 'waybill annotate' adds one. They stand beside a run and
never in it: no step is shown them, and a fork of the run starts without any.`

func newAnnotationsCommand(a *app) *cobra.Command {
	return newGroup("annotations", groupLook, "See what was said of runs, and take it back", annotationsLong,
		newAnnotationsListCommand(a), newAnnotationsSummaryCommand(a), newAnnotationsRetractCommand(a))
}
