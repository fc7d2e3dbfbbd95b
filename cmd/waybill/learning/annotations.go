package learning

import (
	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
)

// annotationsLong is what 'waybill annotations --help' prints above the usage.
const annotationsLong = `Annotations are what people and agents said of runs: ratings, corrections, labels and
flags, each with an optional note. 'waybill annotate' adds one. They stand beside a run and
never in it: no step is shown them, and a fork of the run starts without any.`

// NewAnnotations makes the command "annotations" with its subcommands. Only
// retract writes to the store.
func NewAnnotations(a *cli.App) *cobra.Command {
	return cli.NewGroup("annotations", cli.GroupLook, "See what was said of runs, and take it back", annotationsLong,
		newAnnotationsList(a), newAnnotationsSummary(a), newAnnotationsRetract(a))
}
