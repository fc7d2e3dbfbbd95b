package inbox

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/choices"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections/runs"
)

// WaitsFor returns why the pending step of a run waits for a person, and the step; "" if it waits for the one
// who performs it, for a moment or for the host, and of a run that has ended. row is the summary of the run in
// the fold. Trust is taken as given.
func (b Inbox) WaitsFor(ctx context.Context, fold *runs.Fold, row views.RunSummary) (Kind, string, error) {
	var item Item
	err := b.waitsFor(ctx, fold, row, &Query{}, &item)
	return item.Kind, item.StepID, err
}

// waitsFor adds to an item what WaitsFor returns.
func (b Inbox) waitsFor(ctx context.Context, fold *runs.Fold, row views.RunSummary, q *Query, item *Item) error {
	if row.Health != manifest.Healthy || !row.IsOpen() {
		return nil
	}
	r := fold.Runs[row.RunID]
	tip := r.Node(r.Tip)
	w, err := b.r.Workflow(ctx, r.Started.WorkflowHash)
	if err != nil {
		return err
	}
	state, err := b.r.State(ctx, tip)
	if err != nil || state.PendingStep() == nil {
		return err
	}
	step, _ := w.Step(state.PendingStep().StepID)
	item.StepID = step.StepID
	if row.Status == runs.Paused {
		item.Kind = Paused
		return nil
	}
	guided := tip.Preferences.Autonomy == event.Guided
	vars := interpreter.Variables(w, state, tip.Context)
	approval, err := b.waitsForApproval(ctx, session.Resolved{
		At:   engine.Position{Session: row.SessionID, Run: r.ID, Node: tip.ID},
		Fold: fold, Run: r, Node: tip}, step.StepID)
	if err != nil {
		return err
	}
	switch {
	case row.CommandFailed:
		item.Kind = Failed
	case approval:
		item.Kind = Approval
	case step.Host != nil:
	case tip.Preferences.Autonomy != event.FullAutoNeverStop && hasQuestion(w, step, vars):
		item.Kind = Question
	case row.Status == runs.Blocked:
		item.Kind = Blocked
	case step.Action != nil && !q.isTrusted(ctx, w.Hash()):
		item.Kind, item.trust = Confirmation, w.Hash().String()
	case guided && interpreter.NeedsConfirmation(w, state, tip.Context):
		item.Kind = Confirmation
	}
	return nil
}

// waitsForApproval reports that the outputs of a step were handed in and lack approvals. Without outputs, and
// after a person sent the step back, it is the turn of the one who performs it.
func (b Inbox) waitsForApproval(ctx context.Context, p session.Resolved, stepID string) (bool, error) {
	at := reason.WorkflowStep(stepID)
	awaited := slices.ContainsFunc(p.Node.OpenGaps, func(g runs.Gap) bool { return g.Matches(reason.NeedsApproval, at) })
	if !awaited || b.views.Approval == nil || isSentBack(p.Node) {
		return false, nil
	}
	needs, err := b.views.Approval(ctx, p)
	return needs != nil && needs.Given < needs.Needed, err
}

// handedIn reports that outputs at a node need an approval, or did before a person decided.
func handedIn(n *runs.Node) bool {
	return slices.ContainsFunc(n.OpenGaps, func(g runs.Gap) bool { return g.Reason == reason.NeedsApproval })
}

// isSentBack reports that a person sent the step of a node back after the last attempt at it.
func isSentBack(n *runs.Node) bool {
	return slices.ContainsFunc(n.Outputs, func(o runs.Output) bool {
		return o.Decision != nil && o.Decision.Decision == event.SentBack && o.Attempt == int64(len(n.Attempts))
	})
}

// hasQuestion reports that an input of a step has no value that counts. Choices from an earlier result are not
// read: a value of such an input that is none of them is refused at the next attempt.
func hasQuestion(w compile.Compiled, step compile.Step, vars canon.Value) bool {
	return slices.ContainsFunc(choices.Needed(w, step, vars, nil), func(in choices.Input) bool {
		return in.ChoicesFrom == nil || in.Wrong.IsNull()
	})
}
