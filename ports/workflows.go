package ports

import (
	"context"

	"github.com/waybill/waybill/durable/catalog"
)

// Workflows finds workflow files.
type Workflows interface {
	// Workflows gives every file of the places where workflows are looked for. One
	// that cannot be read is among them, with the reason; a place that is not there
	// has none. Places are relative: nothing here may name a folder of the machine.
	Workflows(ctx context.Context) ([]catalog.File, error)

	// WorkflowFile reads the file that a caller named, as a project's. One that is
	// not there is WORKFLOW_NOT_FOUND, one that cannot be read or is over
	// limits.SourceBytesMax is WORKFLOW_INVALID.
	WorkflowFile(ctx context.Context, path string) (catalog.File, error)
}
