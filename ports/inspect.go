package ports

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Inspector looks at a store as a whole, for verification.
type Inspector interface {
	// Inspect reports what is wrong or odd about the store outside its logs:
	// control files, permissions, files that nobody put there, objects whose
	// digest does not hold. A store that is not there has no findings.
	Inspect(ctx context.Context) ([]manifest.Finding, error)

	// Stored lists the objects of a kind by the digests that their names give, in
	// order; other files in their folder are Inspect's to report.
	Stored(ctx context.Context, kind manifest.ObjectKind) ([]canon.Digest, error)
}
