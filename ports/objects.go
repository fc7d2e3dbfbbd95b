package ports

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Objects reads the content-addressed files of a store. They are written only
// as part of a plan.
type Objects interface {
	// Object returns bytes whose digest is ref: it is recomputed on every read.
	// Absent or damaged ones are STORE_CORRUPT, since something refers to them; an
	// absent one says so in the detail "missing".
	Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest) ([]byte, error)
}
