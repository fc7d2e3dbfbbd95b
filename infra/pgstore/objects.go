package pgstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"hash"
	"io"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/infra/pgstore/rows"
	"github.com/waybill/waybill/ports"
)

// objects are the objects and tombstones of a store.
type objects struct{ db *db.DB }

// isImportedTombstone reports a tombstone that came with a bundle: it gives way to bytes that are stored here.
func isImportedTombstone(data canon.Value) bool {
	imported, _ := data.Get("imported")
	return imported.True()
}

// objectParts is the query of the parts of an object, behind the data of a tombstone.
func (s *objects) objectParts(kind manifest.ObjectKind, ref canon.Digest, each func(db.Row) error) db.Statement {
	return db.Query("select size, bytes from @.objects where kind = $1 and ref = $2 order by part", string(kind), ref.String()).Into(each)
}

// Object implements ports.Objects. An erased artifact or installed artifact is ARTIFACT_ERASED with the data of its tombstone.
func (s *objects) Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) ([]byte, error) {
	var b []byte
	found := false
	all := []db.Statement{s.objectParts(kind, ref, func(r db.Row) error {
		found, b = true, append(b, r[1]...)
		return nil
	})}
	var content []byte
	if kind.IsErasable() {
		all = append(all, rows.Tombstone(ref, &content))
	}
	if err := s.db.Run(ctx, all...); err != nil {
		return nil, err
	}
	if content != nil {
		data, err := rows.TombstoneData(ref, content)
		if err != nil {
			return nil, err
		}
		if !found || !isImportedTombstone(data) {
			return nil, ports.Erased(ref, data)
		}
	}
	switch {
	case !found:
		return nil, fault.New(fault.StoreCorrupt, "the %s %s is missing; the log refers to it", kind, ref).With("missing", true)
	case !ref.IsOf(b):
		return nil, damagedObject(kind, ref)
	}
	return b, nil
}

// damagedObject is the fault of an object that does not have its digest.
func damagedObject(kind manifest.ObjectKind, ref canon.Digest) error {
	return fault.New(fault.StoreCorrupt, "the %s %s does not have the digest of its name", kind, ref)
}

// ObjectStream implements ports.ObjectStreams. An object of one part is checked before; the digest of a longer one is checked
// while it is read, part by part.
func (s *objects) ObjectStream(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) (io.ReadCloser, int64, error) {
	size := int64(-1)
	err := s.db.Run(ctx, db.Query("select size from @.objects where kind = $1 and ref = $2 and part = 0", string(kind), ref.String()).
		Into(func(r db.Row) error { size = r.Int(0); return nil }))
	if err != nil {
		return nil, 0, err
	}
	if size <= partBytes {
		b, err := s.Object(ctx, kind, ref)
		return io.NopCloser(bytes.NewReader(b)), int64(len(b)), err
	}
	if data, erased, err := s.Tombstone(ctx, ref); err != nil || erased && kind.IsErasable() && !isImportedTombstone(data) {
		if err == nil {
			_, err = s.Object(ctx, kind, ref)
		}
		return nil, 0, err
	}
	return &stream{ctx: ctx, s: s, kind: kind, ref: ref, left: size, sum: sha256.New()}, size, nil
}

// stream reads an object part by part. It implements io.ReadCloser.
type stream struct {
	ctx  context.Context
	s    *objects
	kind manifest.ObjectKind
	ref  canon.Digest
	part int64
	left int64 // bytes of parts that were not read yet
	b    []byte
	sum  hash.Hash
	err  error
}

// Read implements io.Reader. The end is reported when the digest was found right.
func (t *stream) Read(p []byte) (int, error) {
	for len(t.b) == 0 && t.err == nil {
		t.err = t.next()
	}
	if len(t.b) == 0 {
		return 0, t.err
	}
	n := copy(p, t.b)
	t.b = t.b[n:]
	return n, nil
}

// next reads the next part; io.EOF behind the last one.
func (t *stream) next() error {
	if t.left == 0 {
		if canon.DigestOf([sha256.Size]byte(t.sum.Sum(nil))) != t.ref {
			return damagedObject(t.kind, t.ref)
		}
		return io.EOF
	}
	err := t.s.db.Run(t.ctx, db.Query("select bytes from @.objects where kind = $1 and ref = $2 and part = $3", string(t.kind),
		t.ref.String(), t.part).Into(func(r db.Row) error { t.b = r.Bytes(0); return nil }))
	if err == nil && (len(t.b) == 0 || int64(len(t.b)) > t.left) {
		err = damagedObject(t.kind, t.ref)
	}
	t.part++
	t.left -= int64(len(t.b))
	t.sum.Write(t.b)
	return err
}

// Close implements io.Closer.
func (t *stream) Close() error {
	t.err, t.b = io.ErrClosedPipe, nil
	return nil
}

// Tombstone implements ports.Tombstones.
func (s *objects) Tombstone(ctx context.Context, ref canon.Digest) (canon.Value, bool, error) {
	var content []byte
	if err := s.db.Run(ctx, rows.Tombstone(ref, &content)); err != nil || content == nil {
		return canon.Value{}, false, err
	}
	data, err := rows.TombstoneData(ref, content)
	return data, err == nil, err
}
