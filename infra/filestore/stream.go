package filestore

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
	"github.com/waybill/waybill/infra/osfs"
)

// ObjectStream implements ports.ObjectStreams.
func (s *Store) ObjectStream(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) (io.ReadCloser, int64,
	error) {
	if kind == manifest.Artifact {
		if err := s.erased(ref); err != nil { // as Object has it
			return nil, 0, err
		}
	}
	name := path.Join(manifest.ObjectDir(kind), manifest.ObjectName(kind, ref))
	f, err := s.fs.Open(name, osfs.Read)
	if errors.Is(err, fs.ErrNotExist) {
		// What is missing is told as Object tells it: it may have been erased.
		if _, err := s.Object(ctx, kind, ref); err != nil {
			return nil, 0, err
		}
		f, err = s.fs.Open(name, osfs.Read) // somebody brought it meanwhile
	}
	if err != nil {
		return nil, 0, readFault(err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, 0, readFault(err)
	}
	if info.Size > int64(objectBytesMax(kind)) {
		_ = f.Close()
		return nil, 0, corrupt(name, "the %s is larger than any that a store takes", kind)
	}
	return &stream{ctx: ctx, f: f, r: io.NewSectionReader(f, 0, info.Size), sum: sha256.New(), kind: kind, ref: ref,
		name: name}, info.Size, nil
}

// stream hashes what passes through it.
type stream struct {
	ctx  context.Context
	f    osfs.File
	r    io.Reader
	sum  hash.Hash
	kind manifest.ObjectKind
	ref  canon.Digest
	name string
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, readFault(err)
	}
	n, err := s.r.Read(p)
	s.sum.Write(p[:n])
	if errors.Is(err, io.EOF) {
		if canon.DigestOf([sha256.Size]byte(s.sum.Sum(nil))) != s.ref {
			return n, corrupt(s.name, "the %s does not have the digest that its name says", s.kind)
		}
		return n, err
	}
	return n, readFault(err)
}

// Close implements io.Closer.
func (s *stream) Close() error { return s.f.Close() }
