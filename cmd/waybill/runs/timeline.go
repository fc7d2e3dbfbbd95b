package runs

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections"
)

// newTimeline makes "runs timeline". --brief leaves out how the engine worked,
// in the document as well.
func newTimeline(a *cli.App) *cobra.Command {
	var brief bool
	cmd := &cobra.Command{
		Use:   "timeline [RUN]",
		Short: "Tell what happened in a run, fact by fact",
		Long: `Tell what happened in a run in words: one line for each fact that was recorded, who
caused it and when. Without RUN, of the latest run. --brief leaves out how the engine
went about it.`,
		Example: "  waybill runs timeline\n  waybill runs timeline k3j2a7 --brief",
		Args:    cli.AtMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.Show(a, cmd, "timeline",
				func(ctx context.Context, o *cli.Store) (engine.History, error) {
					h, err := o.Timeline(ctx, cli.RunArg(args))
					// It is shortened before it is printed, so that both
					// forms agree.
					if brief {
						h.Moments = briefly(h.Moments)
					}
					return h, err
				},
				showTimeline)
		},
	}
	cmd.Flags().BoolVar(&brief, "brief", false, "leave out how the engine went about it")
	return cmd
}

// briefly leaves out the moments that only show how the engine worked, such as
// conditions that were evaluated.
func briefly(all []projections.Moment) []projections.Moment {
	out := []projections.Moment{}
	for _, m := range all {
		if !m.Working {
			out = append(out, m)
		}
	}
	return out
}

// showTimeline prints a line for each moment, and below them that the log does
// not end there where it is damaged. Times are those of the reader's zone.
func showTimeline(p *page.Page, h engine.History) {
	day := ""
	for _, m := range h.Moments {
		day = render.Moment(p, day, m)
	}
	switch h.Health {
	case manifest.Healthy:
	case manifest.UnknownVersion:
		p.Text(p.Warn(render.ForeignMark+" "), render.ForeignNote)
	default:
		p.Line("%s", p.Warn("The session is "+render.Health(h.Health)+": what stands behind is not told."))
	}
}
