package read

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"io/fs"

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
func (r *Reader) ObjectStream(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) (io.ReadCloser, int64,
	error) {
	if kind == manifest.Artifact {
		if err := ErasedFault(r.d, ref); err != nil { // same order as in Object
			return nil, 0, err
		}
	}
	name := layout.ObjectPath(kind, ref)
	f, err := r.d.Open(name, osfs.Read)
	if errors.Is(err, fs.ErrNotExist) {
		// Object reports whether the bytes are missing or were erased.
		b, err := r.Object(ctx, kind, ref)
		if err != nil {
			return nil, 0, err
		}
		return io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil // another process wrote it in between
	}
	if err != nil {
		return nil, 0, disk.ReadFault(err)
	}
	info, err := f.Stat()
	if err == nil && info.Size > int64(layout.ObjectBytesMax(kind)) {
		err = disk.Corrupt(name, "the %s is larger than a store accepts", kind)
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, disk.ReadFault(err)
	}
	return &stream{canceled: ctx.Err, f: f, r: io.NewSectionReader(f, 0, info.Size), sum: sha256.New(), kind: kind,
		ref:  ref,
		name: name}, info.Size, nil
}

// stream is a reader that hashes the bytes that pass through it and compares the digest at the end.
type stream struct {
	canceled func() error // the error of the caller's context

	f    osfs.File
	r    io.Reader
	sum  hash.Hash
	kind manifest.ObjectKind
	ref  canon.Digest
	name string
}

// Read implements io.Reader. A canceled context ends it with INTERRUPTED.
func (s *stream) Read(p []byte) (int, error) {
	if err := s.canceled(); err != nil {
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
