package ports

import (
	"context"

	"github.com/waybill/waybill/durable/manifest"
)

// Inspector looks at a store as a whole, for verification.
type Inspector interface {
	// Inspect reports what is wrong or odd about the store outside its logs:
	// control files, permissions, files that nobody put there, objects whose
	// digest does not hold. A store that is not there has no findings.
	Inspect(ctx context.Context) ([]manifest.Finding, error)
}
