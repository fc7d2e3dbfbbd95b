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
	// State is a digest of what the file system says of the files: two states of changed files differ. It is zero for
	// a session that cannot be observed.
	State [16]byte
	// ChangedNs is when one of the files changed last, in nanoseconds since 1970 UTC. The clock of the file system
	// may be coarse: a change that follows within limits.IndexSettleNs may leave State as it is.
	ChangedNs int64
	// Folder is the part of State that the session's directory contributes. It is zero for a session that has
	// annotations, or may get them without a change of its directory.
	Folder [8]byte
}

// SessionsState is an observation of all sessions of a store.
type SessionsState struct {
	Sessions []SessionState // in the order of their ids
	AtNs     int64          // when the observation began, in nanoseconds since 1970 UTC
	// Others reports that there are directories among the sessions that are not named like one.
	Others bool
}

// SessionStates observes the sessions of a store without reading their logs.
type SessionStates interface {
	// States observes all sessions that Sessions lists. It takes no lock. known returns a Folder that was observed
	// earlier of a session, the zero one for none: as long as the directory is the same, the session has no
	// annotations. It is called for the sessions in order, by several goroutines, with the position of each.
	States(ctx context.Context, known func(i int, s id.Session) (folder [8]byte)) (SessionsState, error)
}
