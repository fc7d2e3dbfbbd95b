package ports

import (
	"context"

	"github.com/waybill/waybill/durable/id"
)

// SessionState identifies the content of the files of a session that a commit, an annotation or a mark changes
// (docs/design.md#index). Equal states of a session that is not changing mean equal content, unless a program sets
// the times of files.
type SessionState struct {
	Session id.Session
	// State is a digest of what the file system says of the files: two states of changed files differ.
	State [16]byte
	// ChangedNs is when one of the files changed last, in nanoseconds since 1970 UTC. The clock of the file system
	// may be coarse: a change that follows within limits.IndexSettleNs may leave State as it is.
	ChangedNs int64
}

// SessionStates observes the sessions of a store without reading their logs.
type SessionStates interface {
	// States returns the states of all sessions that Sessions lists, in the same order, and the time at which the
	// observation began, in nanoseconds since 1970 UTC. It takes no lock. A session that cannot be observed has the
	// zero State.
	States(ctx context.Context) (states []SessionState, atNs int64, err error)
}
