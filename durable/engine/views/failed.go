package views

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/engine/submitted"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/projections/runs"
)

// commandFailed reports that the last result of the command that is pending at the tip of an open run is a
// failure. The result is read only where a gap says that it was refused.
func (o *observer) commandFailed(ctx context.Context, r *runs.Run, tip *runs.Node, status runs.Status) bool {
	if status != runs.Blocked && status != runs.InProgress || !slices.ContainsFunc(tip.OpenGaps, isRefusedResult) {
		return false
	}
	for _, out := range slices.Backward(tip.Outputs) {
		if out.Payload.ArtifactKind == command.Kind && tip.OfBranch(out) {
			result, err := o.resultOf(ctx, submitted.Artifact{Payload: out.Payload})
			return err == nil && !result.OK()
		}
	}
	return false
}

// isRefusedResult reports a critical gap about an invalid output of a step.
func isRefusedResult(g runs.Gap) bool {
	return g.Severity == event.Critical && g.Reason == reason.InvalidOutput && g.Pointer != nil &&
		g.Pointer.Kind == reason.AtWorkflowStep
}
