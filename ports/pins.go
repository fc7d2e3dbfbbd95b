package ports

import (
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Pins reads the files that checks depend on, below the root of one project
// (docs/design.md#checks). No path leads through a symbolic link, and only regular files are read.
type Pins interface {
	// Fix returns the pins, the programs and the environment of checks as they are now. The error
	// names the check and the file: VALIDATION_ERROR for one that is missing, no regular file, behind
	// a link, or too large.
	Fix(ctx context.Context, checks []source.Check) (trust.Fixed, error)
	// Compare returns the digests of the pins of a check that are readable now, and the names of the
	// pins and of the program that differ from fixed, are missing or cannot be read, sorted.
	Compare(ctx context.Context, c source.Check, fixed trust.Fixed) (now map[string]canon.Digest, changed []string, err error)
}
