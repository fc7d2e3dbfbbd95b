package audit

import (
	"strconv"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/store/imported"
)

// Imports are the imports that an audit log records: which events of which logs came with
// bundles. An intention counts without its outcome, because a crash may have left what was imported.
type Imports struct {
	spans map[string]imported.Span // by root
	// open has the sessions of imports without an outcome, which states the number of annotations.
	open map[id.Event]id.Session
}

// newImports returns the imports of an empty audit log.
func newImports() Imports { return Imports{map[string]imported.Span{}, map[id.Event]id.Session{}} }

// Span returns which events of the log at root came with bundles.
func (b *Imports) Span(root string) imported.Span { return b.spans[root] }

// visit folds one line of the audit log. A number that is not valid leaves the recorded one.
func (b *Imports) visit(e event.Event) {
	switch p := e.Data.(type) {
	case audit.Intended:
		s, err := id.ParseSession(p.Target.ID)
		if p.Action != audit.Import || err != nil {
			return
		}
		b.open[e.ID] = s
		b.record(manifest.SessionEvents(s).Root, p.Details["from"], p.Details["events"])
	case audit.Done:
		s, ok := b.open[p.IntendedEventID]
		if !ok {
			return
		}
		delete(b.open, p.IntendedEventID)
		b.record(feedback.LogOf(s).Root, p.Details["annotationsFrom"], p.Details["annotations"])
	}
}

// record records an interval as an import states it. Without a beginning the log came as a whole; with one its events
// follow those that the store had, and the interval is widened.
func (b *Imports) record(root, from, events string) {
	n, err := strconv.ParseInt(events, 10, 64)
	if err != nil {
		return
	}
	if from == "" {
		b.set(root, imported.Span{Events: n})
	} else if first, err := strconv.ParseInt(from, 10, 64); err == nil {
		b.set(root, b.spans[root].Widened(imported.Span{From: first, Events: n}))
	}
}

// set records which events of a log came with bundles.
func (b *Imports) set(root string, s imported.Span) {
	if s.IsEmpty() {
		delete(b.spans, root)
		return
	}
	b.spans[root] = s
}

// importRow is the saved state of an import without an outcome.
type importRow struct {
	EventID   id.Event   `json:"eventId"`
	SessionID id.Session `json:"sessionId"`
}

// rows returns the imports without an outcome, by event id.
func (b *Imports) rows() (out []importRow) {
	for e, s := range b.open {
		out = append(out, importRow{e, s})
	}
	sorting.By(out, func(a, b importRow) int { return a.EventID.Compare(b.EventID) })
	return out
}
