package verify

import (
	"context"

	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// reservedIDs returns a finding for each run of a bundle whose workflow has a reserved id and is of a
// source that may not have it (docs/design.md#workflow-sources). Workflows of another program are not
// compiled by our rules and have none.
func (x reading) reservedIDs(ctx context.Context, log manifest.Log, started []event.Event) (out []manifest.Finding) {
	for _, e := range started {
		run := e.Data.(event.RunStarted) // sessionCheck.Visit
		data, err := x.store.Object(ctx, manifest.Workflow, run.WorkflowHash)
		if err == nil {
			_, err = compile.Decode(data)
		}
		if err != nil {
			continue
		}
		f := manifest.NewFinding(manifest.UnknownEvents, log.Root,
			"workflow ids that start with wr. are those of bundled and attached workflows, got %q of the source %s",
			run.WorkflowID, run.WorkflowSourceKind).AtEvent(e.Index)
		f.Severity = manifest.SeverityError
		out = append(out, f)
	}
	return out
}
