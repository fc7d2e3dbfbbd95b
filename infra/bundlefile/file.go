// Package bundlefile opens a session bundle as a read-only store of one session, and writes bundles
// to files. Code that reads a store reads a bundle in the same way, so a bundle is verified as
// strictly as a store before any of it is imported (docs/design.md#bundles). It does not change
// bundles and does not import them. Start with Open and Spool for reading, and Create for writing.
package bundlefile

import (
	"context"
	"io"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/ports"
)

// File is an open bundle. It implements ports.Bundle and is safe for concurrent use. All digests,
// except those of logs, were checked on opening.
type File struct {
	*bundle.Bundle
	session id.Session
	content io.ReaderAt
	size    int64
	close   func() error
}

var _ ports.Bundle = (*File)(nil)

// Close closes the file and removes a temporary one.
func (f *File) Close() error { return f.close() }

// Content returns the bytes of the file from the first one on, for a signature over them. Reading ends with the
// context.
func (f *File) Content(ctx context.Context) io.Reader {
	return contextReader{ctx, io.NewSectionReader(f.content, 0, f.size)}
}

// Session implements ports.Bundle.
func (f *File) Session() id.Session { return f.session }

// Sessions implements ports.Sessions.
func (f *File) Sessions(context.Context) ([]id.Session, error) { return []id.Session{f.session}, nil }

// SideLogs implements ports.SideLogs. Any other owner than the bundle's session has none.
func (f *File) SideLogs(_ context.Context, owner string) ([]string, error) {
	if owner != f.session.String() {
		return nil, nil
	}
	return f.Logs(), nil
}

// StoreID implements ports.Identity: a bundle does not record the id of its store.
func (f *File) StoreID(context.Context, ports.Create) (id.Store, error) { return id.Store{}, nil }

// Inspect implements ports.Inspector: everything outside the logs was checked on opening.
func (f *File) Inspect(context.Context) ([]manifest.Finding, error) { return nil, nil }

// InspectSession implements ports.Inspector: Inspect covers the session.
func (f *File) InspectSession(context.Context, id.Session) ([]manifest.Finding, error) {
	return nil, nil
}

// WithoutChanges implements ports.Inspector: an open bundle does not change.
func (f *File) WithoutChanges(_ context.Context, _ manifest.Log, do func() error) error { return do() }

// Object implements ports.Objects. Errors are those of ObjectStream, and STORE_CORRUPT for a file
// that changed after opening.
func (f *File) Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) ([]byte, error) {
	r, _, err := f.ObjectStream(ctx, kind, ref)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if canon.Sum(data) != ref { // the file may have changed since it was opened
		return nil, fault.New(fault.StoreCorrupt, "the %s %s changed while the bundle was read", kind, ref)
	}
	return data, nil
}

// ObjectStream implements ports.ObjectStreams. The digest was checked on opening and is not
// computed again. Errors: ARTIFACT_ERASED, and STORE_CORRUPT with the detail "missing".
//
// The size is that of the object in bytes.
func (f *File) ObjectStream(_ context.Context, kind manifest.ObjectKind, ref canon.Digest) (io.ReadCloser, int64,
	error) {
	r, size, ok := f.Bundle.Object(kind, ref)
	if ok {
		return io.NopCloser(r), size, nil
	}
	if _, erased := f.Bundle.Tombstone(ref); erased && kind == manifest.Artifact {
		return nil, 0, fault.New(fault.ArtifactErased, "the bytes of artifact %s were erased", ref).
			With("sha256", ref.String())
	}
	return nil, 0, fault.New(fault.StoreCorrupt, "the bundle does not contain the %s %s", kind, ref).
		With("missing", true)
}

// Tombstone implements ports.Tombstones.
func (f *File) Tombstone(_ context.Context, ref canon.Digest) (canon.Value, bool, error) {
	data, ok := f.Bundle.Tombstone(ref)
	return data, ok, nil
}

// Confirm implements ports.Logs: a bundle is as durable as its file.
func (f *File) Confirm(context.Context, manifest.Log, manifest.Head) error { return nil }

// Append implements ports.Logs. It always returns STORE_READ_ONLY.
func (f *File) Append(_ context.Context, _ ports.Witness, at manifest.Head, _ manifest.Plan) (manifest.Head, error) {
	return at, readOnly()
}

// readOnly is the fault for writing to a bundle.
func readOnly() error {
	return fault.New(fault.StoreReadOnly, "a bundle is read, never written").
		Suggest("Import it with %s and continue there.", fault.Command{"import", "FILE"})
}
