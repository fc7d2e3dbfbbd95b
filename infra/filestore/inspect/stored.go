package inspect

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/layout"
)

// EachStored implements ports.Digests.
func (n *Inspector) EachStored(ctx context.Context, kind manifest.ObjectKind, each func(canon.Digest)) error {
	entries, err := n.d.EntriesFor(ctx, manifest.ObjectDir(kind))
	for i, e := range entries {
		if ref, ok := layout.ParseObjectName(kind, e.Name); ok {
			each(ref)
		}
		entries[i].Name = "" // release the name: there may be a million
	}
	return err
}
