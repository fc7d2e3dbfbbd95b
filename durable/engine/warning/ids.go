package warning

import (
	"fmt"

	"github.com/waybill/waybill/durable/workflow/catalog"
)

// OfIDs returns the warnings about the id of a workflow that is started: an id without a namespace,
// or a former id (docs/design.md#workflow-ids).
func OfIDs(e catalog.Entry) []Warning {
	var out []Warning
	if e.NamedAs != "" {
		out = append(out, Warning{Code: WorkflowAliasUsed, Message: fmt.Sprintf(
			"%q is a former id of the workflow %s; use that.", e.NamedAs, e.ID)})
	}
	if e.IDStatus != "legacy" {
		return out
	}
	text := fmt.Sprintf("The workflow id %q has no namespace, so that another file may use the same id.", e.ID)
	if e.SuggestedID != "" && e.Attached == "" {
		text += fmt.Sprintf(" Rename it to %q.", e.SuggestedID)
	}
	return append(out, Warning{Code: WorkflowIDLegacy, Message: text})
}
