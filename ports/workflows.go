package ports

import (
	"context"

	"github.com/waybill/waybill/durable/workflow/catalog"
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

	// Beside reads the other workflow files of the folder of a named one, and of the
	// folder "routines" in it: what its steps may call.
	Beside(ctx context.Context, path string) ([]catalog.File, error)

	// Bindings reads what the project puts into extension points: the nearest
	// bindings file from the working directory upwards; none is none. One that is
	// there and cannot be used is WORKFLOW_INVALID.
	Bindings(ctx context.Context) (catalog.Bindings, error)
}
