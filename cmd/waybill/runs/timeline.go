package runs

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/cmd/waybill/cli/stream"
	"github.com/waybill/waybill/durable/canon"
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
				t, err := views.NewTimeline(ctx, o.Views, cli.RunArg(args))
				if err != nil {
					return err
				}
				if a.Flags.JSON {
					return documentTimeline(ctx, a, t, brief)
				}
				return printTimeline(ctx, a, t, brief)
			})
		},
	},
		cli.Opt(&brief, "brief", "omit facts about the internal work of the engine"), cli.Lines(a, "moments"))
}

// eachMoment passes the moments of a history; with brief without those about internal work. It applies to the
// document as well, so that both outputs agree.
func eachMoment(ctx context.Context, t *views.Timeline, brief bool, each func(runs.TimelineEntry) error) (views.History,
	error) {
	return t.Each(ctx, func(m runs.TimelineEntry) error {
		if brief && m.Working {
			return nil
		}
		return each(m)
	})
}

// documentTimeline prints the document "timeline". Its health precedes the moments and is known behind them: a
// history with more than momentsBytesMax of moments is read a second time.
func documentTimeline(ctx context.Context, a *cli.App, t *views.Timeline, brief bool) error {
	if a.PrintsLines() {
		return cli.StreamLines(a, "timeline", func(add func(any) error) (any, error) {
			return eachMoment(ctx, t, brief, func(m runs.TimelineEntry) error { return add(m) })
		})
	}
	var moments []byte
	all := true
	h, err := eachMoment(ctx, t, brief, func(m runs.TimelineEntry) error {
		if all = all && len(moments) < momentsBytesMax; !all {
			moments = nil
			return nil
		}
		if len(moments) > 0 {
			moments = append(moments, ',')
		}
		var err error
		moments, err = canon.Append(moments, m)
		return err
	})
	if err != nil {
		return err
	}
	return stream.New(a.WriteJSON, &a.Unfinished).Document("timeline", h, stream.List{Name: "moments", Each: func(add func(any) error) error {
		if all {
			return add(stream.Encoded(moments))
		}
		_, err := eachMoment(ctx, t, brief, func(m runs.TimelineEntry) error { return add(m) })
		return err
	}})
}

// momentsBytesMax bounds the encoded moments that are kept until the end of the first reading.
const momentsBytesMax = 4 << 20

// printTimeline prints a history while it is read.
func printTimeline(ctx context.Context, a *cli.App, t *views.Timeline, brief bool) error {
	p, out, lines := a.NewPage(a.Out), stream.New(a.Write, &a.Unfinished), timelineLines{}
	h, err := eachMoment(ctx, t, brief, func(m runs.TimelineEntry) error {
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
