package ports

import (
	"context"

	"github.com/waybill/waybill/durable/id"
)

// Performers ensures that a session has at most one performer (docs/design.md#ends-and-branches):
// two would run every command twice.
type Performers interface {
	// Hold makes this process the session's only performer until release is called or the process
	// ends in any way. It does not wait. RUN_BUSY: another performer is active; its process id is
	// in the detail "holderPid" if known.
	Hold(ctx context.Context, s id.Session) (release func() error, err error)
}
