package ports

import (
	"context"

	"github.com/waybill/waybill/durable/id"
)

// SessionStamp is what the file system says of a session's log. It is a hint: who acts on the session reads its log
// (docs/design.md#guard).
type SessionStamp struct {
	Session id.Session
	// Stamp differs after a commit to the log. It has no white space.
	Stamp string
	// ChangedMs is when the log changed, in milliseconds since 1970 UTC, as the file system says.
	ChangedMs int64
}

// GuardFiles are the files that the hooks of clients keep in a store. They are derived or counts, and may be lost
// (docs/design.md#guard).
type GuardFiles interface {
	// Stamps returns the stamps of the store's sessions, in no order.
	Stamps(ctx context.Context) ([]SessionStamp, error)

	// OpenRuns returns the saved list of open runs, at most a number of bytes of it; none if there is none.
	OpenRuns(ctx context.Context, most int64) ([]byte, error)

	// SaveOpenRuns replaces the list. Readers see the old or the new one, complete.
	SaveOpenRuns(ctx context.Context, list []byte) error

	// UpdateNotes replaces the record of refusals by the result of change, which gets nil without one. No other update
	// happens in between. It waits for another update for a fraction of a second. An error of change leaves the record
	// unchanged, and is returned.
	UpdateNotes(ctx context.Context, change func([]byte) ([]byte, error)) error
}
