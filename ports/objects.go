package ports

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Objects reads the content-addressed objects of a store. They are written by Logs.Append as part of
// a plan, and by imports.
type Objects interface {
	// Object returns the bytes whose digest is ref; the digest is recomputed at every read.
	// STORE_CORRUPT: the object is missing or damaged although an event refers to it; a missing one
	// has the detail "missing".
	Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) ([]byte, error)
}
