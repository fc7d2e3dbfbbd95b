package render

import (
	"cmp"
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
	return page.OneLine(a.Ref) + " (" + string(a.Kind) + ")"
}

// TimelineLine writes one line of a timeline; for day and the result see page.Page.TimeInDay.
func TimelineLine(p *page.Page, day string, m runs.TimelineEntry) string {
	at, day := p.TimeInDay(day, m.AtMs, time.TimeOnly)
	paint := page.Plain
	// Entries about the internal work of the engine are less important to a reader.
	if m.Working {
		paint = p.Dim
	}
	mark := ""
	if m.Foreign {
		mark = p.Warn(ForeignMark) + " "
	}
	p.StyledText(p.Dim(cmp.Or(at, "-"))+"  "+Actor(m.Actor)+"  "+mark, m.Text, paint)
	return day
}

// actorWidthMin is the width of the longest kind of actor.
const actorWidthMin = len(event.Engine)

// Actor returns the name of an actor, or its kind if it has none, padded to a column; "-" if
// neither is recorded.
func Actor(a event.Actor) string {
	name := cmp.Or(page.OneLine(a.Ref), string(a.Kind), "-")
	return name + strings.Repeat(" ", max(actorWidthMin-len(name), 0))
}
