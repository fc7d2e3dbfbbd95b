package ports

import (
	"context"

	"github.com/waybill/waybill/durable/log/manifest"
)

// HeadCache stores one small entry for each log and format: the folded state of the log at a head,
// from which a process continues (docs/design.md#head-cache). It is a cache and never
// authoritative. Its content may be outdated, torn, of another log or forged, and may disappear;
// the reader verifies it.
type HeadCache interface {
	// CachedHead returns the first most bytes of the stored entry, none without error if it does not
	// exist. After an error of the operating system the caller continues as if the entry did not
	// exist.
	CachedHead(ctx context.Context, log manifest.Log, format int, most int64) ([]byte, error)

	// StoreHead replaces the stored entry. It promises no durability, does not wait for it, and creates
	// neither session nor store: readers find the old bytes, the new bytes, or none.
	StoreHead(ctx context.Context, log manifest.Log, format int, data []byte) error
}
