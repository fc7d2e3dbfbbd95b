package engine

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Approve records a person's approval of the human_approval step that is
// pending at a position, bound to the outputs that the node holds now
// (docs/design.md#requirements-on-the-caller). If they are approved already, it
// appends nothing and returns the answer. The run advances with the next
// attempt at the step, not with the approval.
//
// Errors: RUN_WAITING if the actor is not a person or the outputs do not
// satisfy the step yet, VALIDATION_ERROR if the pending step needs no approval,
// RUN_CLOSED, POLICY_UNCONFIRMED if a person has to confirm the settings of the
// store first (docs/design.md#settings).
func (e *Engine) Approve(ctx context.Context, by Caller, at Position, comment string) (Answer, error) {
	return e.approve(ctx, by, at, comment, canon.Digest{})
}

// ApproveShown approves the content that was shown to a person. If the node
// holds other outputs by now, it is refused with RUN_WAITING.
func (e *Engine) ApproveShown(ctx context.Context, by Caller, shown Approvable, comment string) (Answer, error) {
	return e.approve(ctx, by, shown.Position, comment, shown.digest)
}

// approve records the approval. A non-zero shown is the digest of the outputs
// that were displayed; advance.Approve compares it under the lock.
func (e *Engine) approve(ctx context.Context, by Caller, at Position, comment string, shown canon.Digest) (Answer,
	error) {
	defer e.ledger.WritePending(ctx)
	by = by.Approver()
	if _, err := e.settings.Confirmed(ctx); err != nil {
		return Answer{}, err
	}
	h := e.TakeHistory(at.Session)
	p, err := h.OpenStep(ctx, at)
	if err != nil {
		return Answer{}, err
	}
	at = p.At
	keys, err := e.store.Keys(ctx, ports.MayCreate)
	if err != nil {
		return Answer{}, err
	}
	recordedComment := comment // replaced if an earlier approval is recorded
	appended, err := e.commitAt(ctx, h, at, func(p session.Resolved) (manifest.Plan, error) {
		if err := checkTakesFacts(p); err != nil {
			return manifest.Plan{}, err
		}
		w, facts, err := e.inputs(ctx, p)
		if err != nil {
			return manifest.Plan{}, err
		}
		plan, err := advance.Approve(w, facts, advance.Approval{Comment: comment, Actor: by.Actor, AtMs: by.AtMs,
			Seen: shown})
		// The content is approved already; only the comment can differ.
		if err == nil && len(plan.Events) == 0 {
			recordedComment = advance.ApprovalComment(facts.Outputs)
		}
		return plan, err
	})
	if err != nil {
		return Answer{}, err
	}
	a, err := e.answerCommitted(ctx, keys, at, h)
	if err != nil || appended {
		return a, err
	}
	if recordedComment != comment {
		a.warnDiffers("This is approved already, with another comment; nothing was stored.")
	}
	return a, h.Confirm(ctx)
}

// approval is how far the approval of a pending step is: a function of the log. The
// zero value is that of a step which needs none.
type approval struct {
	// required reports that the step can only be left with an approval. One that
	// was required once at a node stays so.
	required bool
	given    bool // the node's outputs are approved as they are
	// submitted reports that the outputs are approved, or lack nothing but that: a
	// refused attempt leaves them for a person to approve.
	submitted bool
}

// approvalAt returns the state of the approval that the pending step needs.
func (n *Answers) approvalAt(ctx context.Context, w compile.Compiled, p session.Resolved,
	s snapshot.State) (a approval, err error) {
	pending := s.PendingStep()
	if pending == nil {
		return a, nil
	}
	awaited := reason.Blocker{Code: reason.NeedsApproval.Blocker(), Pointer: reason.WorkflowStep(pending.StepID)}
	open := slices.ContainsFunc(p.Node.OpenGaps,
		func(g runs.Gap) bool { return g.Matches(reason.NeedsApproval, awaited.Pointer) })
	if !open && p.Node.Approvals == 0 && !interpreter.NeedsApproval(w, s, p.Node.Context) {
		return a, nil
	}
	a.required = true
	if a.given, err = n.isApproved(ctx, p, pending.Key()); err != nil {
		return a, err
	}
	// The blockers of the last attempt count, not the open gaps: a gap that an
	// attempt has filled stays open until an attempt is accepted
	// (docs/design.md#blocked-attempts).
	var blockers []reason.Blocker
	if n := len(p.Node.Attempts); n > 0 && p.Node.Attempts[n-1].Outcome.Kind == event.Blocked {
		blockers = p.Node.Attempts[n-1].Outcome.Blockers.Blockers
	}
	for _, b := range blockers {
		if b.Code != awaited.Code || b.Pointer != awaited.Pointer {
			return a, nil // another requirement is unmet
		}
	}
	a.submitted = a.given || len(blockers) > 0
	return a, nil
}

// isApproved reports whether a recorded approval is valid for the node's
// current outputs. Only the approval artifact is read; of the others the
// digests suffice.
func (n *Answers) isApproved(ctx context.Context, p session.Resolved, instance string) (bool, error) {
	current, err := n.countedOutputs(ctx, p)
	if err != nil {
		return false, err
	}
	outputs := make([]advance.Output, 0, len(current))
	for _, o := range current {
		out := advance.Output{ID: o.ID, Payload: o.Payload}
		if o.Payload.ArtifactKind == advance.ApprovalKind {
			out.JSON, err = n.artifact(ctx, o.Payload.SHA256)
			if err != nil && !fault.Is(err, fault.ArtifactErased) { // an erased one approves nothing
				return false, err
			}
		}
		outputs = append(outputs, out)
	}
	return advance.IsApproved(instance, p.Node.SnapshotRef, outputs), nil
}
