package ports

import "context"

// AuditCache keeps one small file a format for the store: from where its audit log is
// completed (R10). It is no truth, as what a HeadCache keeps is none: what comes back
// may be old, torn or of nobody's making, and whoever reads it checks it.
type AuditCache interface {
	// CachedAudit gives at most most bytes from the beginning of what was kept; none is
	// no error. An error is the world's, and says no more than none does.
	CachedAudit(ctx context.Context, format int, most int64) ([]byte, error)

	// KeepAudit replaces what was kept. It promises nothing, waits for no disk, and makes
	// no store: readers find the old bytes, the new ones, or none.
	KeepAudit(ctx context.Context, format int, data []byte) error
}
