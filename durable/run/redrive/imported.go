package redrive

import (
	"slices"

	"github.com/waybill/waybill/durable/log/event"
)

// imported returns the re-executed events with importedFrom of the recorded session_created,
// if it has one. An import adds that member after the decisions were made: no caller sent it,
// so no plan function can produce it.
func imported(recorded, now []event.Event) []event.Event {
	if len(recorded) == 0 || len(now) == 0 {
		return now
	}
	// Only the first event of a session can carry the member.
	was, ok := recorded[0].Data.(event.SessionCreated)
	if _, is := now[0].Data.(event.SessionCreated); !ok || !is || was.ImportedFrom == nil {
		return now
	}
	now = slices.Clone(now)
	now[0].Data = was
	return now
}
