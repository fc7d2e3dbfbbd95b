package render

import (
	"strings"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/projections/runs"
)

// ActorWidthMax bounds the width of a column of actors, in terminal columns, so that one long
// name does not displace the rest of the table.
const ActorWidthMax = 20

// ActorAndKind returns the name of an actor, followed by its kind unless that is human. The
// kind is shown because every caller can choose its name with --as.
func ActorAndKind(a event.Actor) string {
	if a.Ref == "" || a.Kind == event.Human {
		return strings.TrimRight(Actor(a), " ")
	}
	return page.Clean(a.Ref) + " (" + string(a.Kind) + ")"
}

// TimelineLine writes one line of a timeline. On a terminal the date is a heading above the first
// line of each day; otherwise each line has date and time (RFC 3339). day is the last heading
// that was written; pass the returned one for the next line.
func TimelineLine(p *page.Page, day string, m runs.TimelineEntry) string {
	at, paint := page.ClockTime(m.AtMs, time.RFC3339), page.Plain
	if p.Width > 0 {
		if d := page.ClockTime(m.AtMs, "Monday, 2 January 2006"); d != day && d != "" {
			p.Line("%s", p.Bold(d))
			day = d
		}
		at = page.ClockTime(m.AtMs, time.TimeOnly)
	}
	// Entries about the internal work of the engine are less important to a reader.
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
	p.StyledText(p.Dim(at)+"  "+Actor(m.Actor)+"  "+mark, m.Text, paint)
	return day
}

// actorWidthMin is the width of the longest kind of actor.
const actorWidthMin = len(event.Engine)

// Actor returns the name of an actor, or its kind if it has none, padded to a column; "-" if
// neither is recorded.
func Actor(a event.Actor) string {
	name := page.Clean(a.Ref)
	if name == "" {
		name = string(a.Kind)
	}
	if name == "" {
		name = "-"
	}
	for len(name) < actorWidthMin {
		name += " "
	}
	return name
}
