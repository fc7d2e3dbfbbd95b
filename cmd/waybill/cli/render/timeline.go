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
// kind is shown because every caller can choose its name. An email address behind the name is left out.
func ActorAndKind(a event.Actor) string {
	name := page.OneLine(a.Ref)
	if short, _, ok := strings.Cut(name, " <"); ok && short != "" {
		name = short
	}
	if name == "" || a.Kind == event.Human || a.Kind == "" {
		return cmp.Or(name, string(a.Kind), "-")
	}
	return name + " (" + string(a.Kind) + ")"
}

// ClaimNote prints how names of actors are to be read, below what shows any.
func ClaimNote(p *page.Page, anyName bool) {
	if anyName {
		p.StyledText("", "Names are claimed (--as, the setting identity, git or the account), not verified.", p.Dim)
	}
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
	who := actorWithin(m.Actor, p.Width/5)
	who += strings.Repeat(" ", max(actorWidthMin-page.TextWidth(who), 0))
	p.StyledText(p.Dim(cmp.Or(at, "-"))+"  "+who+"  "+mark, Sentence(m.Text), paint)
	return day
}

// actorWithin returns ActorAndKind in at most so many columns, 0 for any number: the name is cut, or left
// out beside the kind.
func actorWithin(a event.Actor, columns int) string {
	whole := ActorAndKind(a)
	if columns == 0 || page.TextWidth(whole) <= columns || a.Kind == "" {
		return whole
	}
	kind := ""
	if a.Kind != event.Human {
		kind = " (" + string(a.Kind) + ")"
	}
	room := columns - page.TextWidth(kind)
	if room < actorWidthMin {
		return string(a.Kind)
	}
	return page.Cut(strings.TrimSuffix(whole, kind), room) + kind
}

// actorWidthMin is the width of the longest kind of actor.
const actorWidthMin = len(event.Engine)
