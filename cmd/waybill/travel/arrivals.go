package travel

import (
	"cmp"
	"context"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
)

// arriving are the texts of a question about what is added to a session: where it comes from, and where the session is.
type arriving struct{ from, session string }

// acceptance shows what is added to a session of the store, and asks whether it is. With --accept nothing is
// asked; without a person at a terminal it is refused.
func acceptance(a *cli.App, accept bool, text arriving) travel.Acceptance {
	return func(_ context.Context, doc travel.Import) error {
		if accept {
			return nil
		}
		if !a.AtTerminal() {
			return fault.New(fault.RunWaiting,
				"%s continues session %s with %s that were made elsewhere, and no person at a terminal accepted them",
				text.from, doc.SessionID, page.Plural(int(doc.Arrived.Events), "event")).
				Suggest("Add --accept, or run the command at a terminal. Nothing was written.").
				With("relation", string(doc.Relation)).With("sessionId", doc.SessionID.String()).With("arrived", doc.Arrived)
		}
		return a.Asked(func(p *page.Page) {
			p.Text("", text.session+" "+doc.SessionID.String()+" is extended from "+text.from+":")
			showArrivals(*doc.Arrived, p)
		}, "Extend the session?")
	}
}

// showArrivals prints who did what elsewhere. Everything is a claim of the bundle.
func showArrivals(came travel.Arrivals, p *page.Page) {
	p.Line("  %s from event %d on", page.Plural(int(came.Events), "event"), came.FromEvent)
	for _, a := range came.Actors {
		p.Text("    ", actorName(a.Actor)+": "+page.Plural(int(a.Events), "event"))
	}
	for _, s := range came.Steps {
		p.Text("  ", "step "+cmp.Or(s.StepID, "?")+" advanced by "+actorName(s.By)+", "+page.ClockTime(s.AtMs, "2 Jan 2006 15:04"))
	}
	for _, d := range came.Decisions {
		text := "step " + cmp.Or(d.StepID, "?") + ": " + string(d.Decision) + " by " + page.OneLine(d.By) + "; it does not count here"
		if d.Reason != "" {
			text += ": " + page.OneLine(d.Reason)
		}
		p.Text("  ", text)
	}
	if came.Annotations > 0 {
		p.Line("  %s", page.Plural(int(came.Annotations), "annotation"))
	}
}

// actorName is the name of an actor, with its kind.
func actorName(a event.Actor) string {
	if a.Ref == "" {
		return string(a.Kind)
	}
	return page.OneLine(a.Ref) + " (" + string(a.Kind) + ")"
}
