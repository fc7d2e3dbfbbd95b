package ports

import (
	"context"

	"github.com/waybill/waybill/durable/log/manifest"
)

// HeadCache keeps one small file a log and format: what the log comes to, for whoever
// goes on with it (R11). It is no truth. What comes back may be old, torn, of another
// log or of nobody's making, and is gone when somebody deletes it; whoever reads it
// checks it.
type HeadCache interface {
	// CachedHead gives at most most bytes from the beginning of what was kept; none
	// is no error. An error is the world's, and says no more than none does.
	CachedHead(ctx context.Context, log manifest.Log, format int, most int64) ([]byte, error)

	// KeepHead replaces what was kept. It promises nothing, waits for no disk, and
	// makes no session and no store: readers find the old bytes, the new ones, or none.
	KeepHead(ctx context.Context, log manifest.Log, format int, data []byte) error
}
