package runs

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections/runs"
)

// newTimeline returns "runs timeline". --brief omits entries about the engine's internal work,
// from the document as well.
func newTimeline(a *cli.App) *cobra.Command {
	var brief bool
	return cli.WithOptions(&cobra.Command{
		Use:   "timeline [RUN]",
		Short: "Show the history of a run, one line per fact",
		Long: `Show the history of a run in words: one line per recorded fact, with time and actor.
Without RUN, show the latest run. --brief omits facts about the internal work of the
engine, such as evaluated conditions.`,
		Example: "  waybill runs timeline\n  waybill runs timeline k3j2a7 --brief",
		Args:    cli.AtMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.Show(a, cmd, "timeline",
				func(ctx context.Context, o *cli.Store) (views.History, error) {
					h, err := o.Timeline(ctx, cli.RunArg(args))
					// Applied to the document, so that both outputs agree.
					if brief {
						h.Moments = slices.DeleteFunc(h.Moments, func(m runs.TimelineEntry) bool { return m.Working })
					}
					return h, err
				},
				showTimeline)
		},
	},
		cli.Opt(&brief, "brief", "omit facts about the internal work of the engine"))
}

// showTimeline prints one line per entry and, for a damaged log, a warning that later facts
// are missing. Times are in the local time zone.
func showTimeline(p *page.Page, h views.History) {
	// day is the date heading printed last; see render.TimelineLine.
	day := ""
	for _, m := range h.Moments {
		day = render.TimelineLine(p, day, m)
	}
	render.ClaimNote(p, slices.ContainsFunc(h.Moments, func(m runs.TimelineEntry) bool { return m.Actor.Ref != "" }))
	switch h.Health {
	case manifest.Healthy:
	case manifest.UnknownVersion:
		p.Text(p.Warn(render.ForeignMark+" "), render.ForeignNote)
	default:
		p.Line("%s", p.Warn("The log of the session is "+render.Health(h.Health)+": later facts are not shown."))
	}
}
