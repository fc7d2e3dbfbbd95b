package audit

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Imports are the imports that an audit log records: how many events of which logs came with a
// bundle. An intention counts without its outcome, because a crash may have left what was imported.
type Imports struct {
	events map[string]int64 // by root; none is 0
	// open has the sessions of imports without an outcome, which states the number of annotations.
	open map[id.Event]id.Session
}

// newImports returns the imports of an empty audit log.
func newImports() Imports { return Imports{map[string]int64{}, map[id.Event]id.Session{}} }

// Events returns how many events of the log at root came with a bundle; these are its first ones.
func (b *Imports) Events(root string) int64 { return b.events[root] }

// visit folds one line of the audit log. A number that is not valid leaves the recorded one.
func (b *Imports) visit(e event.Event) {
	switch p := e.Data.(type) {
	case audit.Intended:
		s, err := id.ParseSession(p.Target.ID)
		if p.Action != audit.Import || err != nil {
			return
		}
		b.open[e.ID] = s
		if n, err := strconv.ParseInt(p.Details["events"], 10, 64); err == nil {
			b.set(manifest.SessionEvents(s).Root, n)
		}
	case audit.Done:
		s, ok := b.open[p.IntendedEventID]
		if !ok {
			return
		}
		delete(b.open, p.IntendedEventID)
		if n, err := strconv.ParseInt(p.Details["annotations"], 10, 64); err == nil {
			b.set(feedback.LogOf(s).Root, n)
		}
	}
}

// set records the number of imported events of a log.
func (b *Imports) set(root string, n int64) {
	if n == 0 {
		delete(b.events, root)
		return
	}
	b.events[root] = n
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
	slices.SortFunc(out, func(a, b importRow) int { return cmp.Compare(a.EventID.String(), b.EventID.String()) })
	return out
}
