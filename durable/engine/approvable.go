package engine

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"unicode"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/ports"
)

// Approvable is the content that a person is about to approve: the step, the
// notes, whole, and the artifacts of its node.
type Approvable struct {
	Position  Position
	Workflow  WorkflowRef
	Step      Pending
	Notes     string
	Artifacts []ports.Result
	// Approved reports that exactly this content is approved already.
	Approved bool

	// digest covers all outputs; ApproveShown compares it.
	digest canon.Digest
}

// Approvable returns the outputs that an approval at a position would be bound
// to. It appends nothing and refuses what Approve would refuse; ARTIFACT_ERASED
// if an output cannot be shown any more.
func (e *Engine) Approvable(ctx context.Context, by Caller, at Position) (Approvable, error) {
	// Refused before the question, not after the answer.
	if _, err := e.settings.Confirmed(ctx); err != nil {
		return Approvable{}, err
	}
	h := e.TakeHistory(at.Session)
	p, err := h.OpenStep(ctx, at)
	if err != nil {
		return Approvable{}, err
	}
	if err := checkTakesFacts(p); err != nil {
		return Approvable{}, err
	}
	w, facts, err := e.CompleteInputs(ctx, p) // content that cannot be shown cannot be approved
	if err != nil {
		return Approvable{}, err
	}
	person := by.Approver().Actor
	person.Kind = event.Human // who may approve is checked by Approve; here only what can be
	if _, err := advance.Approve(w, facts, advance.Approval{Actor: person, AtMs: by.AtMs}); err != nil {
		return Approvable{}, err
	}
	keys, err := e.store.Keys(ctx, ports.MayCreate)
	if err != nil {
		return Approvable{}, err
	}
	answer, err := e.AnswerAt(ctx, keys, p)
	if err != nil {
		return Approvable{}, err
	}
	out := Approvable{Position: p.At, Workflow: answer.Workflow, Step: *answer.Pending}
	out.digest = advance.ApprovalDigest(facts)
	out.Approved = advance.IsApproved(out.Step.StepInstanceKey, p.Node.SnapshotRef, facts.Outputs)
	out.Notes = facts.Notes
	for _, o := range facts.Outputs {
		switch {
		// They are shown whole.
		case o.Payload.PayloadKind == event.Notes, o.Payload.IsFullNotes():
		case o.Payload.ArtifactKind == advance.ApprovalKind:
		default:
			r, err := e.shownArtifact(ctx, o)
			if err != nil {
				return Approvable{}, err
			}
			out.Artifacts = append(out.Artifacts, r)
		}
	}
	h.Keep()
	return out, nil
}

// shownArtifact returns an artifact as a person sees it before an approval. Its bytes are read also if
// no requirement is about them.
func (e *Engine) shownArtifact(ctx context.Context, o advance.Output) (ports.Result, error) {
	is := o.Payload
	r := ports.Result{Name: cmp.Or(is.ArtifactKind, is.ContentType), ContentType: is.ContentType, Bytes: is.ByteLength,
		Digest: is.SHA256, JSON: o.JSON,
		Path: path.Join(manifest.ObjectDir(manifest.Artifact), manifest.ObjectName(manifest.Artifact, is.SHA256))}
	if !o.JSON.IsNull() {
		return r, nil
	}
	data, err := e.Object(ctx, manifest.Artifact, is.SHA256)
	if err == nil && isText(data) {
		r.Text = string(data)
	}
	return r, err
}

// isText reports UTF-8 without control characters other than tabs and line ends.
func isText(data []byte) bool {
	return utf8.Valid(data) && !bytes.ContainsFunc(data, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
	})
}
