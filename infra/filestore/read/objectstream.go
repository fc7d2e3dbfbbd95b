package read

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"io/fs"
	"path"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/osfs"
)

// ObjectStream implements ports.ObjectStreams. It returns the bytes of an object and their number.
// The digest is checked while the bytes are read: the reader returns STORE_CORRUPT instead of
// io.EOF when they do not match ref. Errors are those of Object otherwise.
//
// The caller closes the reader. Bytes that were read before an error must not be used.
func (s *Reader) ObjectStream(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) (io.ReadCloser, int64,
	error) {
	if kind == manifest.Artifact {
		if err := s.ErasedFault(ref); err != nil { // same order as in Object
			return nil, 0, err
		}
	}
	name := path.Join(manifest.ObjectDir(kind), manifest.ObjectName(kind, ref))
	f, err := s.d.Open(name, osfs.Read)
	if errors.Is(err, fs.ErrNotExist) {
		// Object reports whether the bytes are missing or were erased.
		if _, err := s.Object(ctx, kind, ref); err != nil {
			return nil, 0, err
		}
		f, err = s.d.Open(name, osfs.Read) // another process wrote it in between
	}
	if err != nil {
		return nil, 0, disk.ReadFault(err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, 0, disk.ReadFault(err)
	}
	if info.Size > int64(layout.ObjectBytesMax(kind)) {
		_ = f.Close()
		return nil, 0, disk.Corrupt(name, "the %s is larger than a store accepts", kind)
	}
	return &stream{ctx: ctx, f: f, r: io.NewSectionReader(f, 0, info.Size), sum: sha256.New(), kind: kind, ref: ref,
		name: name}, info.Size, nil
}

// stream is a reader that hashes the bytes that pass through it and compares the digest at the end.
type stream struct {
	ctx  context.Context
	f    osfs.File
	r    io.Reader
	sum  hash.Hash
	kind manifest.ObjectKind
	ref  canon.Digest
	name string
}

// Read implements io.Reader. A canceled context ends it with INTERRUPTED.
func (s *stream) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, disk.ReadFault(err)
	}
	n, err := s.r.Read(p)
	s.sum.Write(p[:n])
	if errors.Is(err, io.EOF) {
		if canon.DigestOf([sha256.Size]byte(s.sum.Sum(nil))) != s.ref {
			return n, disk.Corrupt(s.name, "the %s does not have the digest that its name says", s.kind)
		}
		return n, err
	}
	return n, disk.ReadFault(err)
}

// Close implements io.Closer.
func (s *stream) Close() error { return s.f.Close() }
