package ports

import (
	"context"
	"io"
	"iter"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/bundle"
)

// Bundle is an opened bundle file: a read-only store of one session. Package bundle checked the
// structure of the file when it was opened; the logs are verified by reading them.
type Bundle interface {
	Logs
	Objects
	ObjectStreams
	Tombstones
	SideLogs
	Sessions
	Identity
	Inspector

	// Session returns the id of the session in the bundle.
	Session() id.Session
	// Each returns the objects of a kind in the order of their digests, with the erased ones.
	// Unlike Stored it makes no list: a bundle may hold many objects.
	Each(kind manifest.ObjectKind) iter.Seq[canon.Digest]
	// Envelope returns the bundle's statements about itself: format, producer, content.
	Envelope() bundle.Envelope
}

// Tombstones reads the records of artifacts whose bytes a person erased.
type Tombstones interface {
	// Tombstone returns the data of an artifact's tombstone; ok is false if it has none. One whose
	// member imported is true came with a bundle: it gives way to bytes that this store has, until
	// they are erased here.
	Tombstone(ctx context.Context, ref canon.Digest) (data canon.Value, ok bool, err error)
}

// Erased returns the ARTIFACT_ERASED fault of an artifact, with the data of its tombstone in the detail "erased"; null: they cannot
// be read. The message names who erased the artifact and why, where the data have it.
func Erased(ref canon.Digest, data canon.Value) *fault.Fault {
	f := fault.New(fault.ArtifactErased, "artifact %s was erased", ref).With("sha256", ref.String())
	if data.IsNull() {
		return f
	}
	if actor, ok := data.Get("actor"); ok {
		kind, _ := actor.Get("kind")
		who := kind.Text()
		if ref, ok := actor.Get("ref"); ok {
			who = ref.Text() + " (" + who + ")"
		}
		f.Message += " by " + who
	}
	if reason, ok := data.Get("reason"); ok {
		f.Message += ": " + reason.Text()
	}
	return f.With("erased", data)
}

// ObjectStreams reads objects that may be too large for memory.
type ObjectStreams interface {
	// ObjectStream opens an object of size bytes. Its digest is recomputed while reading: if it
	// differs from ref, the last Read returns STORE_CORRUPT in place of io.EOF. Opening returns the
	// errors of Objects. The caller closes r.
	ObjectStream(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) (r io.ReadCloser, size int64,
		err error)
}
