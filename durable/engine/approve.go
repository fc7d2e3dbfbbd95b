package engine

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// Approve records a person's approval of the human_approval step that is pending at
// a position, bound to what the node holds now (R20). Approved already, it answers
// and records nothing. The step itself moves on with its next attempt.
func (g *Engine) Approve(ctx context.Context, by Caller, at Position, comment string) (Answer, error) {
	return g.approve(ctx, by, at, comment, canon.Digest{})
}

// ApproveShown is Approve of what a person was shown, and of nothing else: where
// something other has been handed in since, it is refused with RUN_WAITING.
func (g *Engine) ApproveShown(ctx context.Context, by Caller, shown Approvable, comment string) (Answer, error) {
	return g.approve(ctx, by, shown.Position, comment, shown.digest)
}

func (g *Engine) approve(ctx context.Context, by Caller, at Position, comment string, shown canon.Digest) (Answer,
	error) {
	defer g.writePendingAudit(ctx)
	fold := g.takeFold(at.Session)
	p, err := g.openStep(ctx, at, fold)
	if err != nil {
		return Answer{}, err
	}
	at.Node = p.node.ID
	keys, err := g.Keyring.Keys(ctx, ports.MayCreate)
	if err != nil {
		return Answer{}, err
	}
	recordedComment := comment // with the approval that is on record
	appended, err := g.commitPlanned(ctx, at, fold, func(p resolvedPosition) (manifest.Plan, error) {
		if err := checkTakesFacts(p); err != nil {
			return manifest.Plan{}, err
		}
		facts, err := g.facts(ctx, at, p)
		if err != nil {
			return manifest.Plan{}, err
		}
		w, err := g.workflow(ctx, p.run.Started.WorkflowHash)
		if err != nil {
			return manifest.Plan{}, err
		}
		plan, err := advance.Approve(w, facts, advance.Approval{Comment: comment, Actor: by.Actor, AtMs: by.AtMs,
			Seen: shown})
		if err == nil && len(plan.Events) == 0 {
			recordedComment = advance.ApprovalComment(facts.Outputs)
		}
		return plan, err
	})
	if err != nil {
		return Answer{}, err
	}
	a, err := g.answerCommitted(ctx, keys, at, fold)
	if err != nil || appended {
		return a, err
	}
	if recordedComment != comment {
		a.warnDiffers("This is approved already, with another comment; nothing was stored.")
	}
	return a, g.confirm(ctx, at.Session, fold)
}

// noteApproval says in an answer how far the approval of the pending step is. What
// an attempt was refused for is a person's to do; once it is done, the next attempt
// must bring nothing, or it would void what was approved.
func (g *Engine) setApproval(ctx context.Context, a *Answer, w compile.Compiled, p resolvedPosition,
	s snapshot.State) error {
	if a.Pending == nil {
		return nil
	}
	awaited := reason.Blocker{Code: reason.NeedsApproval.Blocker(), Pointer: reason.WorkflowStep(a.Pending.StepID)}
	open := slices.ContainsFunc(p.node.OpenGaps,
		func(g projections.Gap) bool { return g.Same(reason.NeedsApproval, awaited.Pointer) })
	if !open && p.node.Approvals == 0 && !interpreter.NeedsApproval(w, s, p.node.Context) {
		return nil
	}
	approved, err := g.isApproved(ctx, a.Session.SessionID, p, a.Pending.StepInstanceKey)
	if err != nil {
		return err
	}
	// What the last attempt lacked counts, not what is open: a gap that an attempt has
	// filled stays open until one is accepted (R16).
	var blockers []reason.Blocker
	if n := len(p.node.Attempts); n > 0 && p.node.Attempts[n-1].Outcome.Kind == event.Blocked {
		blockers = p.node.Attempts[n-1].Outcome.Blockers.Blockers
	}
	for _, b := range blockers {
		if b.Code != awaited.Code || b.Pointer != awaited.Pointer {
			return nil // something else has to be handed in first
		}
	}
	refused := len(blockers) > 0
	a.outputsSubmitted = approved || refused
	if refused && !approved && a.NextIntent == PerformThenContinue {
		a.NextIntent = AwaitConfirmation
	}
	return nil
}

// approved reports whether an approval holds for what a node has. Only its own
// artifact is looked into: of the others the digests count.
func (g *Engine) isApproved(ctx context.Context, s id.Session, p resolvedPosition, instance string) (bool, error) {
	current, err := g.countedOutputs(ctx, s, p.node, p.fold.Next)
	if err != nil {
		return false, err
	}
	outputs := make([]advance.Output, 0, len(current))
	for _, o := range current {
		out := advance.Output{ID: o.ID, Payload: o.Payload}
		if o.Payload.ArtifactKind == advance.ApprovalKind {
			out.JSON, err = g.artifact(ctx, o.Payload.SHA256)
			if err != nil && !fault.Is(err, fault.ArtifactErased) { // an erased one approves nothing
				return false, err
			}
		}
		outputs = append(outputs, out)
	}
	return advance.ApprovalHolds(instance, p.node.SnapshotRef, outputs), nil
}
