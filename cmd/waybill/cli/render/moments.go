package render

import (
	"strings"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/projections"
)

// ActorWidthMax is how wide a column of names gets at most: one long name must
// not push all others to the edge.
const ActorWidthMax = 20

// ActorAndKind names the actor of an act, and its kind unless that is a person.
// A name alone proves nothing, since every caller chooses its own with --as.
func ActorAndKind(a event.Actor) string {
	if a.Ref == "" || a.Kind == event.Human {
		return strings.TrimRight(Actor(a), " ")
	}
	return page.Clean(a.Ref) + " (" + string(a.Kind) + ")"
}

// Moment writes one line of a timeline. On a terminal the date is a heading
// above the first line of each day; elsewhere each line has the whole time. day
// is the heading that was written last, and the result is the one for the next
// line.
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

// whoWidth is the width of the longest kind of actor.
const whoWidth = len(event.Engine)

// Actor is the actor's name, or its kind where it gave none, padded to a
// column.
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
