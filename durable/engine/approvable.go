package engine

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"unicode"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/handed"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/ports"
)

// Approvable is the content that a person is about to decide about: the step, the
// notes, whole, and the artifacts of its node.
type Approvable struct {
	Position  Position
	Workflow  WorkflowRef
	Step      Pending
	Notes     string
	Artifacts []ports.Result
	// Checks are those of the attempt that handed the outputs in; their results are no Artifacts, since a
	// decision is not bound to them.
	Checks []check.Brief
	// Approved reports that exactly this content is approved already, also by the
	// settings in force.
	Approved bool

	// Decisions are what the recorded ones amount to, one State for each rule of
	// the step.
	Decisions []decision.State

	// Performers are the actors that handed in the outputs, as the log names them.
	Performers []string
	// Changes are the differences to the outputs that were sent back last, as lines of a unified
	// difference; nil if none were.
	Changes []string

	// digest covers all outputs, and left reports that the run had continued from
	// the node; Decide compares both.
	digest canon.Digest
	left   bool
}

// Approvable returns the outputs that an approval at a position would be bound
// to. It appends nothing and refuses what Decide would refuse of any person; ARTIFACT_ERASED
// if an output cannot be shown any more.
func (e *Engine) Approvable(ctx context.Context, by Caller, at Position) (Approvable, error) {
	// Refused before the question, not after the answer.
	conf, err := e.settings.ConfirmedAfresh(ctx)
	if err != nil {
		return Approvable{}, err
	}
	h := e.TakeHistory(at.Session)
	p, err := h.OpenStep(ctx, at)
	if err != nil {
		return Approvable{}, err
	}
	if err := p.TakesFacts(); err != nil {
		return Approvable{}, err
	}
	w, facts, err := e.shownInputs(ctx, p) // content that cannot be shown cannot be approved
	if err != nil {
		return Approvable{}, err
	}
	// Who may decide is checked by MayDecide; here only what can be decided about.
	if _, err := advance.Decidable(w, facts); err != nil {
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
	out.digest, out.left = advance.ApprovalDigest(facts), facts.HasChild
	out.Decisions = advance.Decisions(w, facts, by.AtMs)
	if facts.Store, err = e.ledger.StoreID(ctx); err != nil {
		return Approvable{}, err
	}
	out.Approved = advance.IsApproved(out.Decisions) && advance.MeetsSettings(out.Decisions, conf.People(), facts)
	out.Notes = facts.Notes
	for _, o := range facts.Outputs {
		switch {
		// They are shown whole.
		case o.Payload.PayloadKind == event.Notes, o.Payload.IsFullNotes():
		case advance.IsDecision(o), o.Payload.ArtifactKind == check.Kind:
		default:
			r, err := shownArtifact(ctx, e, o)
			if err != nil {
				return Approvable{}, err
			}
			out.Artifacts = append(out.Artifacts, r)
		}
	}
	if out.Checks, err = e.checksAt(ctx, p); err != nil {
		return Approvable{}, err
	}
	handedIn, err := handed.Read(ctx, e.store, p.At.Session, p.Node.ID)
	if err != nil {
		return Approvable{}, err
	}
	out.Performers = handedIn.Performers(p.Node)
	if len(out.Decisions) > 0 && out.Decisions[0].SentBack != nil {
		content := func(ctx context.Context, digest canon.Digest) ([]byte, error) {
			return e.Object(ctx, manifest.Artifact, digest)
		}
		if out.Changes, err = handedIn.Changes(ctx, content, *out.Decisions[0].SentBack, facts.Outputs); err != nil {
			return Approvable{}, err
		}
	}
	h.Keep()
	return out, nil
}

// MayDecide returns the refusal that Decide would return for a decision of the
// caller about what was shown, nil if it would record one: a person who may not
// decide is not asked. It appends nothing.
func (e *Engine) MayDecide(ctx context.Context, by Caller, shown Approvable, word event.DecisionWord) error {
	conf, err := e.settings.ConfirmedAfresh(ctx)
	if err != nil {
		return err
	}
	h := e.TakeHistory(shown.Position.Session)
	p, err := h.OpenStep(ctx, shown.Position)
	if err != nil {
		return err
	}
	if err := p.TakesFacts(); err != nil {
		return err
	}
	w, facts, err := e.inputs(ctx, p)
	if err != nil {
		return err
	}
	by = by.Approver()
	h.Keep()
	if conf.Signers().IsZero() && by.Consents != nil {
		return settings.NoSigners()
	}
	if !conf.Signers().IsZero() { // who decides is known from the signature
		if _, err := advance.Decidable(w, facts); err != nil || by.Consents != nil {
			return err
		}
		return settings.Unsigned()
	}
	_, err = advance.DecideStep(w, facts, advance.Decision{Word: word, Reason: "…", Actor: by.Actor, AtMs: by.AtMs,
		Seen: shown.digest, Left: shown.left, Who: personOf(conf, by, w, facts)})
	return err
}

// shownArtifact returns an artifact as a person sees it before an approval. Its bytes are read also if
// no requirement is about them.
func shownArtifact(ctx context.Context, e *Engine, o advance.Output) (ports.Result, error) {
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
