package learning

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
)

// annotationsLong is what 'waybill annotations --help' prints above the usage.
const annotationsLong = `Annotations are feedback of people and agents on runs: ratings, corrections, labels and
flags, each with an optional note. 'waybill annotate' adds one. They are stored in a log
of their own, never in the run: no step receives them, and a fork of the run starts
without any.`

// NewAnnotations returns the command "annotations" with its subcommands. Only
// retract writes to the store.
func NewAnnotations(a *cli.App) *cobra.Command {
	return cli.NewGroup("annotations", cli.GroupInspect, "List, summarize and retract annotations of runs",
		annotationsLong, newAnnotationsList(a), newAnnotationsSummary(a), newAnnotationsRetract(a))
}
