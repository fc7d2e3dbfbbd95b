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

// SessionChanges is what changed in a store since a mark (docs/design.md#guard).
type SessionChanges struct {
	// Known is false where any session may have changed.
	Known bool
	// Changed are the sessions whose log may have changed.
	Changed []id.Session
	// Mark is the mark for the next call, of before the changes were read. It has no line break, and is "" if there is none.
	Mark string
}

// GuardList names a saved list of open runs, a closed set.
type GuardList string

// The lists.
const (
	// LatestRuns has the latest open runs of each repository. A hook reads it, and changes it for sessions that changed.
	LatestRuns GuardList = "latest"
	// AllRuns has all sessions, with their stamps and open runs. It is read where the other one cannot be used.
	AllRuns GuardList = "all"
)

// GuardFiles are the files that the hooks of clients keep in a store. They are derived, and may be lost
// (docs/design.md#guard).
type GuardFiles interface {
	// Changes returns what changed since the mark of an earlier call; "" for the first one. What changed within the last
	// seconds is returned by the next call too, since it may change again.
	Changes(ctx context.Context, mark string) (SessionChanges, error)

	// Stamps returns the stamps of the store's sessions, in no order.
	Stamps(ctx context.Context) ([]SessionStamp, error)

	// Saved returns a saved list, at most a number of bytes of it; none if there is none.
	Saved(ctx context.Context, l GuardList, most int64) ([]byte, error)

	// Save replaces a list. Readers see the old or the new one, complete.
	Save(ctx context.Context, l GuardList, data []byte) error
}
