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

// Timeline writes the lines of a history one after the other.
type Timeline struct {
	day      string // the heading that was written last; see page.Page.TimeInDay
	branches int    // that were written
	who      int    // width of the widest actor that was written
	// recent are the actors of the latest lines as they were written, on a page of the width nameWidth: most events are of the
	// engine and of one caller.
	recent    [recentMax]namedActor
	nameWidth int
	// at is the second atSecond as it was written last: many events have the same one.
	at       string
	atSecond int64
}

// recentMax is how many actors a Timeline remembers.
const recentMax = 4

// namedActor is an actor as it was written.
type namedActor struct {
	actor event.Actor
	name  string
	// lead is the beginning of the last line of the actor, at its time, on a page without a width; "" without one.
	lead, at string
}

// named returns an actor with ActorAndKind in a fifth of the page.
func (t *Timeline) named(p *page.Page, a event.Actor) *namedActor {
	if t.nameWidth != p.Width {
		t.recent, t.nameWidth = [recentMax]namedActor{}, p.Width
	}
	for i := range t.recent {
		if r := &t.recent[i]; r.name != "" && r.actor == a {
			return r
		}
	}
	copy(t.recent[1:], t.recent[:])
	t.recent[0] = namedActor{actor: a, name: actorWithin(a, p.Width/5)}
	return &t.recent[0]
}

// lead returns the beginning of a line: the time t.at and the actor.
func (t *Timeline) lead(p *page.Page, a event.Actor) string {
	r := t.named(p, a)
	if p.Width > 0 {
		t.who = max(t.who, page.TextWidth(r.name), actorWidthMin)
		return p.Dim(cmp.Or(t.at, "-")) + "  " + r.name + strings.Repeat(" ", t.who-page.TextWidth(r.name)) + "  "
	}
	if r.lead == "" || r.at != t.at {
		r.lead, r.at = p.Dim(cmp.Or(t.at, "-"))+"  "+r.name+"  ", t.at
	}
	return r.lead
}

// lanesMax bounds the lanes of branches; the branch of a line is then a number.
const lanesMax = 6

// Line writes one line. From the first line of a second branch on, each line has the branch to which its event belongs:
// as a sign in the lane of the branch at a terminal, else as a number.
func (t *Timeline) Line(p *page.Page, m runs.TimelineEntry) {
	if second := m.AtMs / 1000; second != t.atSecond || t.at == "" || m.AtMs <= 0 {
		t.atSecond = second
		t.at, t.day = p.TimeInDay(t.day, m.AtMs, time.TimeOnly)
	}
	paint := page.Plain
	// Entries about the internal work of the engine are less important to a reader.
	if m.Working {
		paint = p.Dim
	}
	mark := ""
	if m.Foreign {
		mark = p.Warn(ForeignMark) + " "
	}
	t.branches = max(t.branches, m.Branch)
	lead := t.lead(p, m.Actor)
	if p.Width > 0 && p.Width < page.TextWidth(lead)+page.TextWidthMin {
		p.Line("%s", lead) // the text has a line of its own where little is left beside the actor
		lead = "  "
	}
	p.StyledText(lead+t.lane(p, m)+mark, Sentence(m.Text)+stepFacts(m), paint)
}

// lane returns the lanes of all branches with a sign in that of an entry, "" for a run with one branch.
func (t *Timeline) lane(p *page.Page, m runs.TimelineEntry) string {
	switch {
	case t.branches < 2:
		return ""
	case p.Width == 0 && m.Branch == 0:
		return "-         "
	case p.Width == 0:
		return "branch " + page.Itoa(m.Branch) + "  "
	case t.branches > min(lanesMax, p.Width/laneShare):
		return p.Dim("#"+page.Itoa(m.Branch)) + " "
	}
	var out strings.Builder
	for i := 1; i <= t.branches; i++ {
		if i == m.Branch {
			out.WriteString(p.Accent("●") + " ")
		} else {
			out.WriteString(p.Dim("│") + " ")
		}
	}
	return out.String()
}

// laneShare is the part of the width, as its divisor, that a lane may take.
const laneShare = 12

// stepFacts returns the number of an attempt and how long the step took, "" for a first attempt of unknown duration.
func stepFacts(m runs.TimelineEntry) string {
	var facts []string
	if m.Attempt > 1 {
		facts = append(facts, "attempt "+page.Itoa(m.Attempt))
	}
	if m.TookMs > 0 {
		facts = append(facts, "after "+page.Duration(time.Duration(m.TookMs)*time.Millisecond))
	}
	if facts == nil {
		return ""
	}
	return " (" + strings.Join(facts, ", ") + ")"
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
