package advance

import (
	"cmp"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/prompt"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// Approval is a person's consent to the outputs of a human_approval step at a node.
type Approval struct {
	Comment string
	Actor   event.Actor // a human
	AtMs    int64       // clock reading in milliseconds since 1970
	// Seen is the approval digest of what the person was shown. Zero: nothing was shown, and
	// the state at the time of recording is approved.
	Seen canon.Digest
}

// ApprovalDigest returns the digest of what an approval at a node would be bound to. It changes with
// the pending step and with every output, and is zero if no step is pending.
func ApprovalDigest(f Facts) canon.Digest {
	pending := f.State.PendingStep()
	if pending == nil {
		return canon.Digest{}
	}
	return canon.Sum(binding(pending.Key(), f.SnapshotRef, f.Outputs).JCS())
}

// Approve plans an approval: the records that resolve the open gaps waiting for it, then the
// wr.human_approval artifact, bound to the pending step, the node's snapshot and its current
// outputs (docs/design.md#requirements-on-the-caller). A plan without events means that the
// same content is approved already. Errors: RUN_WAITING for an actor that is not a person and
// for content that differs from Seen, VALIDATION_ERROR for a node that requires no approval.
func Approve(w compile.Compiled, f Facts, a Approval) (manifest.Plan, error) {
	step, err := approvable(w, f, a)
	if err != nil {
		return manifest.Plan{}, err
	}
	if !a.Seen.IsZero() && a.Seen != ApprovalDigest(f) {
		return manifest.Plan{},
			fault.New(
				fault.RunWaiting,
				"the outputs submitted for step %q have changed since they were shown; nothing was approved",
				step.StepID,
			).
				Suggest("Review them with %s.", fault.Command{"approve", f.Run.String()})
	}
	key := f.State.PendingStep().Key()
	waiting := waitingForApproval(f.OpenGaps, step.StepID)
	seg := newSegment(f.Session, f.Next, a.AtMs, a.Actor)
	// Repeating an approval of the same content records nothing.
	if len(waiting) == 0 && IsApproved(key, f.SnapshotRef, f.Outputs) {
		return seg.plan, nil
	}
	// The attempt's id follows from the number of earlier approvals, so that a repeated call
	// plans the same ids.
	origin := id.FromAttempt(id.NextAttempt(f.Node, id.OpApprove, f.Approvals), id.OpApprove)
	at := event.Scope{RunID: f.Run, NodeID: f.Node}
	// Gaps are resolved before the approval appears, as in every segment.
	for i, g := range waiting {
		seg.gap(at, origin.Gap(i), event.Info,
			reason.Unmet{Code: g.Reason, Pointer: *g.Pointer, Message: "Resolved: a person approved the step."}, &g.ID)
	}
	payloads := seg.artifacts([]Artifact{JSONArtifact(approvalValue(key, f.SnapshotRef, f.Outputs, a))})
	seg.caller(
		at,
		event.NodeOutputAppended{OutputChannel: event.Artifact, OutputID: origin.Output(0), Payload: payloads[0],
			SupersedesOutputID: earlierApproval(f.Outputs)},
	)
	return seg.plan, nil
}

// IsApproved reports whether a current approval among a node's outputs is bound to exactly
// the pending step, the snapshot and the other outputs
// (docs/design.md#requirements-on-the-caller). outputs are the node's current ones as
// replaced by an attempt's: an attempt without outputs, or with the same bytes, keeps an
// approval valid; any other invalidates it.
func IsApproved(stepKey string, snapshotRef canon.Digest, outputs []Output) bool {
	want := binding(stepKey, snapshotRef, outputs)
	return slices.ContainsFunc(outputs, func(o Output) bool {
		if o.Payload.ArtifactKind != ApprovalKind {
			return false
		}
		// Approver and comment are not part of the binding.
		return o.JSON.Without("approvedBy").Without("comment").Equal(want)
	})
}

// approvable returns the step to be approved, or the fault that Approve returns.
func approvable(w compile.Compiled, f Facts, a Approval) (step compile.Step, err error) {
	if a.Actor.Kind != event.Human {
		return step, fault.New(fault.RunWaiting, "only a person can approve a step; the caller is of kind %q",
			a.Actor.Kind).
			Suggest("Ask a person to run %s at a terminal.", fault.Command{"approve", f.Run.String()})
	}
	if err := checkText("the comment", a.Comment, limits.NotesBytesMax); err != nil {
		return step, err
	}
	pending := f.State.PendingStep()
	if pending == nil {
		return step, fault.New(fault.ValidationError, "no step is pending at node %s",
			f.Node).
			Suggest("See %s.", fault.Command{"runs", "show", f.Run.String()})
	}
	step, ok := w.Step(pending.StepID)
	if !ok {
		return step, fault.New(fault.Invariant, "the pinned workflow has no step %q, which the node's snapshot names",
			pending.StepID)
	}
	// A condition that held before, and does not any more, still permits the approval.
	if !interpreter.NeedsApproval(w, f.State, f.Context) && !f.gated(step.StepID) {
		return step, fault.New(fault.ValidationError, "step %q (%s) is pending, and it needs no approval", step.StepID,
			prompt.Title(step.Title, interpreter.Variables(w, f.State, f.Context)).Text).
			Suggest("Continue with %s.", fault.Command{"continue", "--run", f.Run.String()})
	}
	return step, nil
}

// gated reports that the node has required approval before: an attempt was refused for the
// lack of it, or a person approved (docs/decisions/0027-approval-conditions-read-both-contexts.md).
func (f Facts) gated(stepID string) bool {
	return f.Approvals > 0 || len(waitingForApproval(f.OpenGaps, stepID)) > 0
}

// waitingForApproval returns the open gaps that approving a step resolves. A missing input
// can have the same reason, but another pointer.
func waitingForApproval(open []OpenGap, stepID string) []OpenGap {
	var out []OpenGap
	for _, g := range open {
		if g.Reason == reason.NeedsApproval && g.Pointer != nil && *g.Pointer == reason.WorkflowStep(stepID) {
			out = append(out, g)
		}
	}
	return out
}

// ApprovalComment returns the comment of the current approval among outputs, "" if there is
// none.
func ApprovalComment(outputs []Output) string {
	for _, o := range outputs {
		if o.Payload.ArtifactKind == ApprovalKind {
			comment, _ := o.JSON.Get("comment")
			return comment.Text()
		}
	}
	return ""
}

// earlierApproval returns the output that a new approval supersedes, nil if there is none.
func earlierApproval(outputs []Output) *id.Output {
	i := slices.IndexFunc(outputs, func(o Output) bool { return o.Payload.ArtifactKind == ApprovalKind })
	if i < 0 {
		return nil
	}
	return &outputs[i].ID
}

// approvalValue returns the artifact: the binding, the approver and the comment.
func approvalValue(stepKey string, ref canon.Digest, outputs []Output, a Approval) canon.Value {
	v := binding(stepKey, ref, outputs)
	if a.Actor.Ref != "" {
		v = v.With("approvedBy", canon.OfString(a.Actor.Ref))
	}
	if a.Comment != "" {
		v = v.With("comment", canon.OfString(a.Comment))
	}
	return v
}

// binding returns the value that identifies what is approved. Outputs are listed by kind and
// digest and sorted, so that the order in which they were sent does not matter.
func binding(stepKey string, ref canon.Digest, outputs []Output) canon.Value {
	// bound is one output in the binding.
	type bound struct{ kind, sha256 string }
	var all []bound
	for _, o := range outputs {
		switch p := o.Payload; {
		// An approval does not bind earlier approvals.
		case p.ArtifactKind == ApprovalKind:
		case p.PayloadKind == event.Notes:
			// As stored: the notes of an attempt have not been truncated yet.
			text := reason.Truncate(p.NotesMarkdown, limits.NotesBytesMax)
			all = append(all, bound{string(event.Notes), canon.Sum([]byte(text)).String()})
		default:
			// Artifacts without a kind are identified by their content type.
			all = append(all, bound{cmp.Or(p.ArtifactKind, p.ContentType), p.SHA256.String()})
		}
	}
	slices.SortFunc(all, func(a, b bound) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind),
			cmp.Compare(a.sha256, b.sha256))
	})
	items := make([]canon.Value, len(all))
	for i, b := range all {
		items[i] = canon.OfMembers(
			canon.Member{Name: "kind", Value: canon.OfString(b.kind)},
			canon.Member{Name: "sha256", Value: canon.OfString(b.sha256)})
	}
	return canon.OfMembers(
		canon.Member{Name: "kind", Value: canon.OfString(ApprovalKind)},
		canon.Member{Name: "outputs", Value: canon.OfList(items...)},
		canon.Member{Name: "snapshotRef", Value: canon.OfString(ref.String())},
		canon.Member{Name: "stepInstanceKey", Value: canon.OfString(stepKey)})
}
