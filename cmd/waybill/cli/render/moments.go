package render

import (
	"strings"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/projections"
)

// ActorWidthMax is up to where names stand in a column: one long name must not push all
// others to the edge.
const ActorWidthMax = 20

// ActorAndKind names the actor, and its kind where that is not a person: who an approval is
// by must not be told by a name alone, which everybody chooses for themselves.
func ActorAndKind(a event.Actor) string {
	if a.Ref == "" || a.Kind == event.Human {
		return strings.TrimRight(Actor(a), " ")
	}
	return page.Clean(a.Ref) + " (" + string(a.Kind) + ")"
}

// Moment writes a line: with the date above each day at a terminal, with the whole
// time in every line elsewhere. It returns the day that now stands above.
func Moment(p *page.Page, day string, m projections.Moment) string {
	at, paint := page.ClockTime(m.AtMs, time.RFC3339), page.Plainly
	if p.Width > 0 {
		if d := page.ClockTime(m.AtMs, "Monday, 2 January 2006"); d != day && d != "" {
			p.Line("%s", p.Bold(d))
			day = d
		}
		at = page.ClockTime(m.AtMs, time.TimeOnly)
	}
	if m.Working {
		paint = p.Dim
	}
	if at == "" {
		at = "-"
	}
	mark := ""
	if m.Foreign {
		mark = p.Warn(ForeignMark) + " "
	}
	p.Painted(p.Dim(at)+"  "+Actor(m.Actor)+"  "+mark, m.Text, paint)
	return day
}

// whoWidth is that of the longest actor kind.
const whoWidth = len(event.Engine)

// Actor is the actor's name for itself where it gave one, in a column of its own.
func Actor(a event.Actor) string {
	name := page.Clean(a.Ref)
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
