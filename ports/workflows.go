package ports

import (
	"context"

	"github.com/waybill/waybill/durable/workflow/catalog"
)

// Workflows reads workflow files.
type Workflows interface {
	// Workflows returns every workflow file of the configured locations. A file that cannot be read
	// is included with the reason; a location that does not exist has none. Paths are relative: the
	// result may not contain a directory of the machine.
	Workflows(ctx context.Context) ([]catalog.File, error)

	// WorkflowFile reads the file at a path that the user gave, as a workflow of the project.
	// WORKFLOW_NOT_FOUND: it does not exist; WORKFLOW_INVALID: it cannot be read or is larger than
	// limits.SourceBytesMax.
	WorkflowFile(ctx context.Context, path string) (catalog.File, error)

	// SiblingFiles reads the other workflow files in the directory of path and in its subdirectory
	// "routines": its steps may call them.
	SiblingFiles(ctx context.Context, path string) ([]catalog.File, error)

	// Bindings reads the project's bindings of extension points: the nearest bindings file from the
	// working directory upwards, none without error if there is no such file. WORKFLOW_INVALID: the
	// file cannot be used.
	Bindings(ctx context.Context) (catalog.Bindings, error)
}
