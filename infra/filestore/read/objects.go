package read

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/infra/filestore/disk"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Object implements ports.Objects. The digest is recomputed on every read, since the name of a file
// does not prove its content. Errors: ARTIFACT_ERASED where a tombstone exists, STORE_CORRUPT for
// missing bytes (with the detail "missing") and for a wrong digest, STORE_IO.
func (r *Reader) Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) ([]byte, error) {
	defer ports.Enter(ctx, ports.Reading)()
	if err := ctx.Err(); err != nil {
		return nil, disk.ReadFault(err)
	}
	if kind.IsErasable() {
		// Before the bytes are read: bytes beside a tombstone are left by a crash or were stored
		// again.
		if err := ErasedFault(r.d, ref); err != nil {
			return nil, err
		}
	}
	name := layout.ObjectPath(kind, ref)
	if b := r.smallObject(name, ref); b != nil {
		return b, nil
	}
	b, within, err := r.d.ReadWithin(name, int64(layout.ObjectBytesMax(kind)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if kind.IsErasable() { // erased since
			if err := ErasedFault(r.d, ref); err != nil {
				return nil, err
			}
		}
		return nil, disk.Corrupt(name, "the %s is referred to and not there", kind).With("missing", true)
	case err != nil:
		return nil, disk.ReadFault(err)
	case !within:
		return nil, disk.Corrupt(name, "the %s is larger than a store accepts", kind)
	case !ref.IsOf(b):
		return nil, disk.Corrupt(name, "the %s does not have the digest that its name says", kind)
	}
	return b, nil
}

// smallBytes is the length of a buffer for small objects, which most snapshots are.
const smallBytes = 8 << 10

// smallBuffers hold objects until their length is known.
var smallBuffers = sync.Pool{New: func() any { return new([smallBytes]byte) }}

// smallObject returns a small object, nil for any that has to be examined.
func (r *Reader) smallObject(name string, ref canon.Digest) []byte {
	b := smallBuffers.Get().(*[smallBytes]byte)
	defer smallBuffers.Put(b)
	if n, ok := disk.ReadStart(r.d, name, b[:]); ok && ref.IsOf(b[:n]) {
		return bytes.Clone(b[:n])
	}
	return nil
}

// Sessions implements ports.Sessions. A symbolic link is not listed: its target is not in this
// store.
//
// The result is sorted by id. Directories with other names are omitted; Inspect reports them.
func (r *Reader) Sessions(ctx context.Context) ([]id.Session, error) {
	if _, err := r.d.State(); err != nil {
		return nil, err
	}
	entries, err := r.d.EntriesFor(ctx, "sessions")
	// The listing includes the kinds of entries: one stat for each of ten thousand sessions would
	// cost more than the rest of a list command.
	sessions := make([]id.Session, 0, len(entries))
	for _, e := range entries {
		if parsed, err := id.ParseSession(e.Name); err == nil && e.Kind == osfs.Directory {
			sessions = append(sessions, parsed)
		}
	}
	sorting.By(sessions, func(a, b id.Session) int { return a.Compare(b) })
	return sessions, err
}
