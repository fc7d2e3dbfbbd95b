package runs

import (
	"context"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/projections/runs"
)

// annotatedKind is the kind of the document for an annotation
// (docs/design.md#annotations). It is a live message and not an event of the run.
const annotatedKind = "run.annotated"

// printNotifications prints the annotations and the events of proposals that were recorded since
// the last call.
func (t *eventPrinter) printNotifications(ctx context.Context) error {
	if err := t.printAnnotations(ctx); err != nil {
		return err
	}
	return t.printProposals(ctx)
}

// printAnnotations prints the annotations that were recorded since the last call. If they
// cannot be read, it logs that once, and the run is watched without them.
func (t *eventPrinter) printAnnotations(ctx context.Context) error {
	// The failure was logged already.
	if t.annotationsLost {
		return nil
	}
	all, err := t.following.NextAnnotations(ctx)
	// After a cancelled read the log may still be readable.
	if err != nil && ctx.Err() != nil {
		return err
	}
	for _, annotation := range all {
		if err := t.printAnnotation(annotation); err != nil {
			return err
		}
	}
	if t.annotationsLost = err != nil; t.annotationsLost {
		log := t.app.Log()
		log.Warn().Err(err).Msg("cannot read the annotations of the session; they are no longer printed")
	}
	return nil
}

// printAnnotation prints one annotation: as a document with --json, otherwise as a line of the
// timeline with its long texts below.
func (t *eventPrinter) printAnnotation(annotation views.FollowedAnnotation) error {
	if t.json {
		raw, err := t.annotationJSON(annotation)
		if err != nil {
			return fault.Wrap(err, fault.Internal, "cannot encode the annotation as JSON")
		}
		return t.app.Document(annotatedKind, raw)
	}
	p := t.app.NewPage(t.app.Out)
	text := "Annotated " + render.TargetText(annotation.Target, annotation.Step) + ": " +
		render.SignalText(p, annotation.Signal) + render.ConfidenceText(annotation.About.Confidence)
	by := annotation.Actor.PrincipalRef
	if annotation.About.Imported { // its author is a claim of the bundle
		by, text = `says "`+by+`"`, text+" (imported)"
	}
	t.lines.Line(p,
		runs.TimelineEntry{AtMs: annotation.AtMs, Actor: event.Actor{Ref: by},
			Text: text})
	render.AnnotationTexts(p, "          ", annotation.Signal, annotation.Note, page.Plain)
	return t.app.Write(p.Bytes())
}

// annotationJSON returns an annotation as a program reads it: with --format openwop it names nodes as
// run events do.
func (t *eventPrinter) annotationJSON(annotation views.FollowedAnnotation) ([]byte, error) {
	if t.wire.Follower == nil {
		return canon.Marshal(annotation.Annotation)
	}
	v, err := t.wire.Annotation(annotation.Annotation)
	return v.JCS(), err
}

// followProposals begins to follow the notifications about proposals.
func (t *eventPrinter) followProposals(ctx context.Context, o *cli.Store) {
	var err error
	t.proposals, err = o.FollowProposals(ctx, t.app.Flags.Workspace, t.following.Run)
	t.loseProposals(ctx, err)
}

// loseProposals logs that the proposals of the store cannot be read, once. The run is watched without them.
func (t *eventPrinter) loseProposals(ctx context.Context, err error) {
	if t.proposalsLost = err != nil && ctx.Err() == nil; t.proposalsLost {
		log := t.app.Log()
		log.Warn().Err(err).Msg("cannot read the proposals of the store; they are no longer printed")
	}
}

// printProposals prints the events of proposals that were recorded since the last call.
func (t *eventPrinter) printProposals(ctx context.Context) error {
	if t.proposalsLost {
		return nil
	}
	all, err := t.proposals.Next(ctx)
	if err != nil && ctx.Err() != nil {
		return err
	}
	for _, e := range all {
		if err := t.printProposal(e); err != nil {
			return err
		}
	}
	t.loseProposals(ctx, err)
	return nil
}

// printProposal prints one event of a proposal: as a document with --json, otherwise as a line of
// the timeline.
func (t *eventPrinter) printProposal(e learning.ProposalEvent) error {
	if t.json {
		return t.app.Document(e.Type, e.Payload.JCS())
	}
	name := "Proposal " + page.ShortProposal(e.ProposalID)
	text := name + " was created: " + string(e.Kind)
	if e.Type == proposal.WireActivatedName {
		text = name + " was applied: " + e.InstalledArtifactRef
	}
	p := t.app.NewPage(t.app.Out)
	t.lines.Line(p, runs.TimelineEntry{AtMs: e.AtMs, Text: text})
	return t.app.Write(p.Bytes())
}
