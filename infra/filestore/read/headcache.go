package read

import (
	"context"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
)

// CachedHead implements ports.HeadCache. It returns at most most bytes, and none for a missing
// cache. The validity of the bytes is checked by the caller.
func (r *Reader) CachedHead(ctx context.Context, log manifest.Log, format int, most int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, disk.ReadFault(err)
	}
	b, err := r.d.ReadFile(layout.HeadPath(log, format), most)
	return b[:min(int64(len(b)), most)], disk.ReadFault(disk.UnlessMissing(err))
}
