package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections"
)

func newRunsTimelineCommand(a *app) *cobra.Command {
	var brief bool
	cmd := &cobra.Command{
		Use:   "timeline [RUN]",
		Short: "Tell what happened in a run, fact by fact",
		Long: `Tell what happened in a run in words: one line for each fact that was recorded, who
caused it and when. Without RUN, of the latest run. --brief leaves out how the engine
went about it.`,
		Example: "  waybill runs timeline\n  waybill runs timeline k3j2a7 --brief",
		Args:    atMost("RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer o.close()
			h, err := o.Timeline(cmd.Context(), runArg(args))
			if err != nil {
				return err
			}
			if brief {
				h.Moments = briefly(h.Moments)
			}
			return a.answer("timeline", h, func(p *page) { p.timeline(h) })
		},
	}
	cmd.Flags().BoolVar(&brief, "brief", false, "leave out how the engine went about it")
	return cmd
}

// briefly keeps what was done and leaves out how the engine went about it.
func briefly(all []projections.Moment) []projections.Moment {
	out := []projections.Moment{}
	for _, m := range all {
		if !m.Working {
			out = append(out, m)
		}
	}
	return out
}

// timeline writes one line a moment.
func (p *page) timeline(h engine.History) {
	day := ""
	for _, m := range h.Moments {
		day = p.moment(day, m)
	}
	switch h.Health {
	case manifest.Healthy:
	case manifest.UnknownVersion:
		p.text(p.warn(foreignMark+" "), foreignNote)
	default:
		p.line("%s", p.warn("The session is "+toldHealth(h.Health)+": what stands behind is not told."))
	}
}

// moment writes a line: with the date above each day at a terminal, with the whole
// time in every line elsewhere. It returns the day that now stands above.
func (p *page) moment(day string, m projections.Moment) string {
	at, paint := clockTime(m.AtMs, time.RFC3339), plainly
	if p.width > 0 {
		if d := clockTime(m.AtMs, "Monday, 2 January 2006"); d != day && d != "" {
			p.line("%s", p.bold(d))
			day = d
		}
		at = clockTime(m.AtMs, time.TimeOnly)
	}
	if m.Working {
		paint = p.dim
	}
	if at == "" {
		at = "-"
	}
	mark := ""
	if m.Foreign {
		mark = p.warn(foreignMark) + " "
	}
	p.painted(p.dim(at)+"  "+who(m.Actor)+"  "+mark, m.Text, paint)
	return day
}

// whoWidth is that of the longest actor kind.
const whoWidth = len(event.Engine)

// who is the actor's name for itself where it gave one, in a column of its own.
func who(a event.Actor) string {
	name := clean(a.Ref)
	if name == "" {
		name = string(a.Kind)
	}
	if name == "" {
		name = "-"
	}
	for len(name) < whoWidth {
		name += " "
	}
	return name
}
