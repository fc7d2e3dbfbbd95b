package pages

import (
	"slices"

	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/projections/runs"
)

// Next returns the words of the command with which a person continues a run of this program that is named as given, nil
// for one that is over: every view names the same one.
func Next(r views.RunDetails, name string) []string {
	switch {
	case r.Health == manifest.UnknownVersion:
		return nil
	case r.Health != manifest.Healthy: // a damaged session must be verified first
		return []string{"verify", name}
	case r.Status == runs.Cancelled || r.Status == runs.Failed:
		return nil
	case r.HandedOver != nil:
		return []string{"runs", "take-back", name}
	case r.Status == runs.Paused:
		return []string{"runs", "resume", name}
	case slices.ContainsFunc(r.Steps, isPending):
		return Continue(WaitsForApproval(r), name)
	}
	return nil
}

// Continue returns the words of the command that continues an open run.
func Continue(needsApproval bool, name string) []string {
	if needsApproval {
		return []string{"approve", name}
	}
	return []string{"run", "--run", name}
}

// WaitsForApproval reports whether the pending step has a gap because an approval is missing.
func WaitsForApproval(r views.RunDetails) bool {
	return slices.ContainsFunc(r.Gaps, func(g views.OpenGap) bool {
		return g.Reason == reason.NeedsApproval && g.Pointer != nil && slices.ContainsFunc(r.Steps,
			func(s views.StepRow) bool { return isPending(s) && *g.Pointer == reason.WorkflowStep(s.StepID) })
	})
}

// isPending reports whether a step is the pending one. A complete run has none.
func isPending(s views.StepRow) bool { return s.State == views.StepPending }
