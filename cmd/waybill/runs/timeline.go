package runs

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/cmd/waybill/cli/stream"
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
			return a.WithStore(cmd.Context(), func(ctx context.Context, o *cli.Store) error {
				defer cli.LimitHeap()()
				// each passes the moments; with brief without those about internal work, in the document as well.
				each := func(add func(runs.TimelineEntry) error) (views.History, error) {
					return views.EachMoment(ctx, o.Views, cli.RunArg(args), func(m runs.TimelineEntry) error {
						if brief && m.Working {
							return nil
						}
						return add(m)
					})
				}
				if a.Flags.JSON {
					return documentTimeline(a, each)
				}
				return printTimeline(a, each)
			})
		},
	},
		cli.Opt(&brief, "brief", "omit facts about the internal work of the engine"), cli.Lines(a, "moments"))
}

// moments passes the moments of a history to add, and returns the history without them.
type moments func(add func(runs.TimelineEntry) error) (views.History, error)

// documentTimeline prints the document "timeline". Its health is known behind the moments.
func documentTimeline(a *cli.App, each moments) error {
	all := func(add func(any) error) (any, error) {
		return each(func(m runs.TimelineEntry) error { return add(m) })
	}
	if a.PrintsLines() {
		return cli.StreamLines(a, "timeline", all)
	}
	return stream.New(a.WriteJSON, &a.Unfinished).DocumentAfter("timeline", "moments", all)
}

// printTimeline prints a history while it is read.
func printTimeline(a *cli.App, each moments) error {
	p, out, lines := a.NewPage(a.Out), stream.New(a.Write, &a.Unfinished), timelineLines{}
	h, err := each(func(m runs.TimelineEntry) error {
		lines.show(p, m)
		return out.Page(p)
	})
	if err != nil {
		return err
	}
	lines.end(p, h)
	return out.End(p.Bytes())
}

// timelineLines prints one line per entry and, for a damaged log, a warning that later facts are missing. Times are
// in the local time zone.
type timelineLines struct {
	render.Timeline
	// named reports that a line names an actor.
	named bool
}

// show prints an entry.
func (l *timelineLines) show(p *page.Page, m runs.TimelineEntry) {
	l.Line(p, m)
	l.named = l.named || m.Actor.Ref != ""
}

// end prints what follows the entries: the state of the run, which is known when its history was read.
func (l *timelineLines) end(p *page.Page, h views.History) {
	if h.Status != "" {
		p.Line("")
		p.StyledText(render.Mark(p, h.Status)+" ", h.Title+"  "+render.Status(h.Status), p.Bold)
	}
	render.ClaimNote(p, l.named)
	switch h.Health {
	case manifest.Healthy:
	case manifest.UnknownVersion:
		p.Text(p.Warn(render.ForeignMark+" "), render.ForeignNote)
	default:
		p.Line("%s", p.Warn("The log of the session is "+render.Health(h.Health)+": later facts are not shown."))
	}
}
