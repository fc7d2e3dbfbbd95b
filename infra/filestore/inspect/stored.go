package inspect

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
)

// EachStored implements ports.Digests.
func (n *Inspector) EachStored(ctx context.Context, kind manifest.ObjectKind, each func(canon.Digest)) error {
	if err := ctx.Err(); err != nil {
		return disk.ReadFault(err)
	}
	entries, err := n.d.List(manifest.ObjectDir(kind))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for i, e := range entries {
		if ref, err := canon.ParseFileName(strings.TrimSuffix(e.Name, ".json")); err == nil &&
			manifest.ObjectName(kind, ref) == e.Name {
			each(ref)
		}
		entries[i].Name = "" // release the name: there may be a million
	}
	return disk.ReadFault(err)
}
