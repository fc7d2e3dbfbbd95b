package travel

import (
	"context"
	"fmt"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// describeImport fills in the runs of an imported session as this store shows
// them, with tokens if it can be continued: of more than limits.ImportRunsShownMax
// those that were started last. The import is complete at that time, so a run that
// cannot be shown is a warning.
func (c *Exchange) describeImport(ctx context.Context, out *Import) error {
	fold, v, err := c.e.ReadWindowed(ctx, out.SessionID)
	if err != nil {
		return err
	}
	out.Health, out.Head, out.Events, out.Runs = v.Health, v.Head.Digest, v.Head.Next, []ImportedRun{}
	counts := c.views.AnnotationCounter(ctx, out.SessionID)
	shown := fold.Order[max(0, len(fold.Order)-limits.ImportRunsShownMax):]
	if more := len(fold.Order) - len(shown); more > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf(
			"%d more runs, started earlier, are imported and not listed; 'waybill runs list' lists them.", more))
	}
	for _, runID := range shown {
		row, err := c.views.SummaryOf(ctx, out.SessionID, fold.Runs[runID], v.Health)
		if err == nil {
			row.Annotations = counts(runID)
			out.Runs = append(out.Runs, c.withToken(ctx, row, fold))
			continue
		}
		out.Warnings = append(out.Warnings, fmt.Sprintf("Run %s cannot be shown: %s.", runID, fault.Of(err).Message))
	}
	return nil
}

// withToken adds the token and the call to continue a run. It leaves both out
// on any error, and for unhealthy sessions.
func (c *Exchange) withToken(ctx context.Context, row views.RunSummary, fold *runs.Fold) ImportedRun {
	run := ImportedRun{RunSummary: row}
	if row.Health != manifest.Healthy {
		return run
	}
	keys, err := c.store.Keys(ctx, ports.MayCreate)
	if err != nil {
		return run
	}
	p, err := session.Resolve(fold, engine.Position{Session: row.SessionID, Run: row.RunID,
		Node: fold.Runs[row.RunID].Tip})
	if err != nil {
		return run
	}
	a, err := c.e.AnswerAt(ctx, keys, p)
	if err != nil {
		return run
	}
	run.StateToken = a.StateToken
	run.Next = &engine.Next{Command: []string{"waybill", "continue", "--run", row.RunID.String()},
		Tool:   "continue_workflow",
		Params: map[string]any{"stateToken": a.StateToken}}
	return run
}
