package ports

import (
	"context"

	"github.com/waybill/waybill/durable/log/manifest"
)

// Locks provides the single-writer lock of each log (docs/design.md#commit-protocol).
type Locks interface {
	// Lock waits for the log's exclusive lock, across processes, up to the configured timeout.
	// SESSION_LOCKED (STORE_LOCKED for a log of the store) is retryable and has the holder in the
	// detail "holder", a Holder, as far as it is known. unlock releases the lock and must be called
	// at most once.
	Lock(ctx context.Context, log manifest.Log) (unlock func() error, err error)
}
