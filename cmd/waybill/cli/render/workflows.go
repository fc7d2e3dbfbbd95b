package render

import (
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
)

// IsPlugin reports the source of a workflow that other people published: it is shown wherever the id
// of the workflow is, because the id alone may be taken for a bundled one
// (docs/design.md#workflow-sources).
func IsPlugin(source string) bool { return strings.HasPrefix(source, "plugin") }

// WorkflowID returns the id of a workflow for one line of text, with its source if it has to be shown.
func WorkflowID(id, source string) string {
	if IsPlugin(source) {
		id += " (" + source + ")"
	}
	return page.OneLine(id)
}
