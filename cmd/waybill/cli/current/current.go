// Package current adds to a run what this machine and this store report about it now: whether the file of its workflow is
// another version, and which settings are others than at its start.
//
// It prints nothing. Start reading at Run.
package current

import (
	"context"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/projections/runs"
)

// Run returns a run with what is reported about it now.
func Run(ctx context.Context, a *cli.App, o *cli.Store, r views.RunDetails) views.RunDetails {
	return withSettings(ctx, a, o, withDrift(ctx, a, r))
}

// withDrift adds the warning that the file of the run's workflow is another version now, unless the run is
// over.
func withDrift(ctx context.Context, a *cli.App, r views.RunDetails) views.RunDetails {
	switch r.Status {
	case runs.CompleteStatus, runs.CompleteWithGaps, runs.Cancelled, runs.Failed:
		return r
	}
	if w := cli.Drift(ctx, a, cli.Pinned{Run: r.RunID, WorkflowID: r.Workflow.WorkflowID, Hash: r.Workflow.WorkflowHash,
		SourceKind: r.SourceKind, SourceRef: r.SourceRef}); w != nil {
		r.Warnings = append(r.Warnings, views.StepWarningOf(*w, ""))
	}
	return r
}

// withSettings adds under which settings the run was started, and which are others now. What cannot be read is
// left out: the run is shown all the same.
func withSettings(ctx context.Context, a *cli.App, o *cli.Store, r views.RunDetails) views.RunDetails {
	if r.SessionID.IsZero() {
		return r // it was not found
	}
	then, err := settings.AppliedAt(ctx, o.Settings, r.SessionID, r.StartedAtMs)
	if err != nil {
		log := a.Log()
		log.Debug().Str("code", string(fault.CodeOf(err))).Msg("the settings at the start of the run cannot be read")
		return r
	}
	r.AppliedConfigHash, r.SettingsChanged, r.SettingsUnknown = then.Hash, then.Changed, then.Unknown
	return r
}
