package read

import (
	"context"
	"errors"
	"io/fs"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/osfs"
)

// CachedHead implements ports.HeadCache. It returns at most most bytes, and none for a missing
// cache.
func (r *Reader) CachedHead(ctx context.Context, log manifest.Log, format int, most int64) ([]byte, error) {
	return r.readCache(ctx, layout.HeadPath(log, format), most)
}

// readCache reads at most most bytes of a cache file. Their validity is checked by the caller.
func (r *Reader) readCache(ctx context.Context, name string, most int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, disk.ReadFault(err)
	}
	f, err := r.d.Open(name, osfs.Read)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, disk.ReadFault(err)
	}
	defer f.Close()
	b, err := disk.ReadAll(f, most)
	return b[:min(int64(len(b)), most)], disk.ReadFault(err)
}
