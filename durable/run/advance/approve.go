package advance

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// Approval is a person's consent to what a human_approval step holds at a node.
type Approval struct {
	Comment string
	Actor   event.Actor // a human
	AtMs    int64       // clock reading in milliseconds since 1970
	// Seen is Handed of what the person was shown; zero: nobody was shown anything, and
	// whatever is there is approved.
	Seen canon.Digest
}

// Handed names what an approval at a node would be bound to: it changes with the
// pending step and with every output. It is zero where no step is pending.
func Handed(f Facts) canon.Digest {
	pending := f.State.PendingStep()
	if pending == nil {
		return canon.Digest{}
	}
	return canon.Sum(binding(pending.Key(), f.SnapshotRef, f.Outputs).JCS())
}

// Approve plans an approval: the wr.human_approval artifact, bound to the pending
// step, the node's snapshot and the node's current outputs, behind the records
// that resolve what waited for it (R20). A plan without events says that the very
// same is approved already. It refuses, with RUN_WAITING, whoever is no person and
// content that is not what was Seen, and with VALIDATION_ERROR a node that waits for
// no approval.
func Approve(w compile.Compiled, f Facts, a Approval) (manifest.Plan, error) {
	step, err := approvable(w, f, a)
	if err != nil {
		return manifest.Plan{}, err
	}
	if !a.Seen.IsZero() && a.Seen != Handed(f) {
		return manifest.Plan{},
			fault.New(fault.RunWaiting,
				"what was handed in for step %q has changed since it was shown; nothing was approved", step.StepID).
				Suggest("Look again with 'waybill approve %s'.", f.Run)
	}
	key := f.State.PendingStep().Key()
	waiting := waitingForApproval(f.OpenGaps, step.StepID)
	seg := newSegment(f.Session, f.Next, a.AtMs, a.Actor)
	if len(waiting) == 0 && ApprovalHolds(key, f.SnapshotRef, f.Outputs) {
		return seg.plan, nil
	}
	origin := id.FromAttempt(id.NextAttempt(f.Node, id.OpApprove, f.Approvals), id.OpApprove)
	at := event.Scope{RunID: f.Run, NodeID: f.Node}
	for i, g := range waiting {
		seg.gap(at, origin.Gap(i), event.Info,
			reason.Unmet{Code: g.Reason, Pointer: *g.Pointer, Message: "Resolved: a person approved the step."}, &g.ID)
	}
	said := seg.artifacts([]Artifact{JSONArtifact(approvalValue(key, f.SnapshotRef, f.Outputs, a))})
	seg.caller(at, event.NodeOutputAppended{OutputChannel: event.Artifact, OutputID: origin.Output(0), Payload: said[0],
		SupersedesOutputID: earlierApproval(f.Outputs)})
	return seg.plan, nil
}

// ApprovalHolds reports whether a current approval among a node's outputs is bound
// to exactly what is pending and to exactly the other outputs (R20). outputs are
// the node's current ones with an attempt's laid over: an attempt that brings
// nothing, or the same bytes again, keeps an approval, any other voids it.
func ApprovalHolds(stepKey string, snapshotRef canon.Digest, outputs []Output) bool {
	want := binding(stepKey, snapshotRef, outputs)
	return slices.ContainsFunc(outputs, func(o Output) bool {
		if o.Payload.ArtifactKind != ApprovalKind {
			return false
		}
		return o.JSON.Without("approvedBy").Without("comment").Equal(want)
	})
}

// approvable finds the step that is to be approved, or says why there is none.
func approvable(w compile.Compiled, f Facts, a Approval) (step compile.Step, err error) {
	if a.Actor.Kind != event.Human {
		return step, fault.New(fault.RunWaiting, "only a person approves a step, and the caller is of kind %q",
			a.Actor.Kind).
			Suggest("Ask the person who follows this run to run 'waybill approve %s' at a terminal.", f.Run)
	}
	if len(a.Comment) > limits.NotesBytesMax {
		return step, tooLarge("the comment", len(a.Comment), limits.NotesBytesMax)
	}
	if !utf8.ValidString(a.Comment) {
		return step, fault.New(fault.ValidationError, "the comment is not valid UTF-8")
	}
	pending := f.State.PendingStep()
	if pending == nil {
		return step, fault.New(fault.ValidationError, "there is nothing to approve: no step is pending at node %s",
			f.Node).
			Suggest("See 'waybill runs show %s'.", f.Run)
	}
	step, ok := w.Step(pending.StepID)
	if !ok {
		return step, fault.New(fault.Invariant, "the pinned workflow has no step %q, which the node's snapshot names",
			pending.StepID)
	}
	if !interpreter.NeedsApproval(w, f.State, f.Context) && !f.gated(step.StepID) {
		return step, fault.New(fault.ValidationError, "step %q (%s) is pending, and it needs no approval", step.StepID,
			step.Title).
			Suggest("Go on with 'waybill continue --run %s'.", f.Run)
	}
	return step, nil
}

// gated reports that the step's gate has held at the node before: an attempt was
// refused for it, or a person approved something (decision 0027).
func (f Facts) gated(stepID string) bool {
	return f.Approvals > 0 || len(waitingForApproval(f.OpenGaps, stepID)) > 0
}

// waitingForApproval lists the open gaps that the approval of a step settles. An
// input may be asked for under the same reason, at another place.
func waitingForApproval(open []OpenGap, stepID string) []OpenGap {
	var out []OpenGap
	for _, g := range open {
		if g.Reason == reason.NeedsApproval && g.Pointer != nil && *g.Pointer == reason.WorkflowStep(stepID) {
			out = append(out, g)
		}
	}
	return out
}

// ApprovalComment is what was said with the current approval among outputs.
func ApprovalComment(outputs []Output) string {
	for _, o := range outputs {
		if o.Payload.ArtifactKind == ApprovalKind {
			comment, _ := o.JSON.Get("comment")
			return comment.Text()
		}
	}
	return ""
}

func earlierApproval(outputs []Output) *id.Output {
	i := slices.IndexFunc(outputs, func(o Output) bool { return o.Payload.ArtifactKind == ApprovalKind })
	if i < 0 {
		return nil
	}
	return &outputs[i].ID
}

// approvalValue is the artifact: the binding, and who said what.
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

// binding is what an approval is about. Outputs stand in it by kind and digest,
// sorted: the order in which they came says nothing.
func binding(stepKey string, ref canon.Digest, outputs []Output) canon.Value {
	type bound struct{ kind, sha256 string }
	var all []bound
	for _, o := range outputs {
		switch p := o.Payload; {
		case p.ArtifactKind == ApprovalKind:
		case p.PayloadKind == event.Notes:
			// As they are stored: an attempt's notes may still be longer here.
			text := reason.Truncate(p.NotesMarkdown, limits.NotesBytesMax)
			all = append(all, bound{string(event.Notes), canon.Sum([]byte(text)).String()})
		default:
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
