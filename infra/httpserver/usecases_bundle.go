package httpserver

import (
	"context"

	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/workflow/promptref"
)

// bundles are the use cases of debug bundles and of prompt templates.
type bundles interface {
	// DebugBundle returns a run for diagnosis.
	DebugBundle(ctx context.Context, run string) (openwop.DebugBundle, error)
	// Prompts returns a page of the templates that there are.
	Prompts(ctx context.Context, f promptref.Filter, cursor string, limit int) (promptref.Page, error)
	// Prompt returns the template that a reference names. TARGET_NOT_FOUND, and VALIDATION_ERROR for one that several
	// packs have.
	Prompt(ctx context.Context, ref promptref.Ref) (promptref.Template, error)
}
