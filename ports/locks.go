package ports

import (
	"context"

	"github.com/waybill/waybill/durable/log/manifest"
)

// Locks gives the single-writer lock of a log (locks section 15).
type Locks interface {
	// Lock waits for the log's exclusive lock as long as the caller configured,
	// across processes. A busy one is SESSION_LOCKED (STORE_LOCKED for a log of
	// the store), retryable, with the holder's pid in details as "holderPid".
	// unlock releases it; it may be called once.
	Lock(ctx context.Context, log manifest.Log) (unlock func() error, err error)
}
