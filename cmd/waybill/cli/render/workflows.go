package render

import (
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/origin"
)

// WorkflowID returns the id of a workflow for one line of text, with its source if it has to be shown.
func WorkflowID(id, source string) string {
	if origin.IsPlugin(source) {
		id += " (" + source + ")"
	}
	return page.OneLine(id)
}
