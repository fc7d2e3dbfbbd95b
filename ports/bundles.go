package ports

import (
	"context"
	"io"
	"iter"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/bundle"
)

// Bundle is a bundle file that was opened: a store of one session, to which nothing
// can be written. What package bundle checks was checked when it was opened; whether
// its logs hold together is seen by reading them.
type Bundle interface {
	Logs
	Objects
	ObjectStreams
	Tombstones
	SideLogs
	Sessions
	Identity
	Inspector

	// Session is the one session in it.
	Session() id.Session
	// Each gives the objects of a kind by their digests, in order; erased ones are among
	// them. It is Stored for those that are too many to list.
	Each(kind manifest.ObjectKind) iter.Seq[canon.Digest]
	// Envelope is what the bundle says about itself.
	Envelope() bundle.Envelope
}

// Tombstones are what is left of artifacts whose bytes a person erased.
type Tombstones interface {
	// Tombstone gives the data of an artifact's tombstone; ok is false where none is.
	Tombstone(ctx context.Context, ref canon.Digest) (data canon.Value, ok bool, err error)
}

// ObjectStreams reads objects that may be too large to hold.
type ObjectStreams interface {
	// ObjectStream opens an object of size bytes. Its digest is recomputed on the way:
	// the last Read gives STORE_CORRUPT in place of io.EOF when it is another. Errors
	// of opening are those of Objects.
	ObjectStream(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) (r io.ReadCloser, size int64,
		err error)
}
