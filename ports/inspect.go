package ports

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Inspector examines a store as a whole, for verification.
type Inspector interface {
	// Inspect reports problems of a store outside of its logs: damaged control files, wrong
	// permissions, unknown files, objects whose digest does not match their name. A store that does
	// not exist has no findings.
	Inspect(ctx context.Context) ([]manifest.Finding, error)

	// Stored lists the objects of a kind by the digests in their file names, in order. Other files
	// in the directory are reported by Inspect.
	Stored(ctx context.Context, kind manifest.ObjectKind) ([]canon.Digest, error)
}
