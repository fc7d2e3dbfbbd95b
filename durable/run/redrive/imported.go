package redrive

import (
	"slices"

	"github.com/waybill/waybill/durable/log/event"
)

// imported is what is decided now, with the mark of an import where the log has one: who
// began the session sent nothing of the kind, and no decision is asked about it.
func imported(recorded, now []event.Event) []event.Event {
	if len(recorded) == 0 || len(now) == 0 {
		return now
	}
	was, ok := recorded[0].Data.(event.SessionCreated)
	if _, is := now[0].Data.(event.SessionCreated); !ok || !is || was.ImportedFrom == nil {
		return now
	}
	now = slices.Clone(now)
	now[0].Data = was
	return now
}
