package memstore

import (
	"bytes"
	"context"
	"io"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
)

// ObjectStream implements ports.ObjectStreams. The whole object is checked before the stream is
// returned, with the errors of Object; the size is in bytes. A file store checks the digest while
// the stream is read instead, so tests of that error use package filestore.
func (s *Store) ObjectStream(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) (io.ReadCloser, int64,
	error) {
	b, err := s.Object(ctx, kind, ref)
	return io.NopCloser(bytes.NewReader(b)), int64(len(b)), err
}
