package engine

import (
	"slices"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/run/wait"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections/runs"
)

// PendingWait is the wait of a pending step (docs/design.md#waiting). One of its members is set.
type PendingWait struct {
	// UntilMs is the moment until which the step waits, in milliseconds since 1970 UTC.
	UntilMs int64 `json:"untilMs,omitzero"`
	// Unset is the path in the context whose value names that moment, while it names none.
	Unset string `json:"unset,omitzero"`
}

// WaitAt returns the wait of the step that is pending at a node, nil for a step that does not wait
// and for one whose wait is recorded as over.
func WaitAt(w compile.Compiled, s snapshot.State, n *runs.Node) *PendingWait {
	at, waits := advance.WaitAt(w, s, n.CreatedAtMs, n.Context)
	isOver := func(o runs.Output) bool { return o.Payload.ArtifactKind == wait.Kind }
	switch {
	case !waits || slices.ContainsFunc(n.Outputs, isOver) || slices.ContainsFunc(n.Left, isOver):
		return nil
	case at.Unfilled != nil:
		return &PendingWait{Unset: at.Unfilled.Key}
	}
	return &PendingWait{UntilMs: at.DueMs}
}

// WaitOver returns the moment until which the step of a node waited, false for a step that does not
// wait and for one whose wait has no moment.
func WaitOver(w compile.Compiled, s snapshot.State, n *runs.Node) (int64, bool) {
	at, waits := advance.WaitAt(w, s, n.CreatedAtMs, n.Context)
	return at.DueMs, waits && at.Unfilled == nil
}

// refuseEarly refuses with RUN_WAITING an attempt at a step that waits, unless the performer of the
// session makes it or the attempt may set the moment: an agent that asks again and again would
// otherwise make the log grow. Nothing is recorded.
func refuseEarly(p session.Resolved, w compile.Compiled, f advance.Facts, a advance.Attempt) error {
	at := WaitAt(w, f.State, p.Node)
	if at == nil || at.Unset != "" || a.Performed {
		return nil
	}
	run := p.Run.ID.String()
	message := "the step %q waits until %s: nothing has to be done until then, and nothing was recorded"
	if at.UntilMs <= a.AtMs {
		message = "the wait of the step %q is over since %s, and a performer continues the run; nothing was recorded"
	}
	return fault.New(fault.RunWaiting, message, f.State.PendingStep().StepID, event.TimeText(at.UntilMs)).
		Suggest("%s continues every run whose wait is over, %s this one.", fault.Command{"due", "--run"},
			fault.Command{"run", "--run", run}).
		With("runId", run).With("stepId", f.State.PendingStep().StepID).With("untilMs", at.UntilMs)
}
