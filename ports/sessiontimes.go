package ports

import (
	"context"

	"github.com/waybill/waybill/durable/id"
)

// SessionTime is when the log of a session changed, as the file system says. It is a hint: files are copied and restored.
type SessionTime struct {
	Session   id.Session
	ChangedMs int64 // since 1970 UTC
}

// SessionTimes orders the sessions of a store without reading their logs.
type SessionTimes interface {
	// LatestFirst returns the sessions, the one whose log changed last first. Sessions without commits may be left out. It
	// takes no lock.
	LatestFirst(ctx context.Context) ([]SessionTime, error)
}
