package ports

import (
	"context"

	"github.com/waybill/waybill/durable/id"
)

// Performers keeps the performers of one session apart (R23): two of them would
// run every command twice.
type Performers interface {
	// Hold makes this process the session's only performer until release, or until
	// it ends in whatever way. It does not wait: another performer is RUN_BUSY,
	// with its pid in details as "holderPid" where it is known.
	Hold(ctx context.Context, s id.Session) (release func() error, err error)
}
