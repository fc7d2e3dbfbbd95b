package runs

import (
	"context"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/projections/runs"
)

// annotatedKind is the kind of the document for an annotation
// (docs/design.md#annotations). It is a live message and not an event of the run.
const annotatedKind = "run.annotated"

// printAnnotations prints the annotations that were recorded since the last call. If they
// cannot be read, it logs that once, and the run is watched without them.
func (t *eventPrinter) printAnnotations(ctx context.Context, following *views.Follower) error {
	// The failure was logged already.
	if t.annotationsLost {
		return nil
	}
	all, err := following.NextAnnotations(ctx)
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
	if t.app.Flags.JSON {
		raw, err := canon.Marshal(annotation.Annotation)
		if err != nil {
			return fault.Wrap(err, fault.Internal, "cannot encode the annotation as JSON")
		}
		return t.app.Document(annotatedKind, raw)
	}
	p := t.app.NewPage(t.app.Out)
	text := "Annotated " + render.TargetText(annotation.Target, annotation.Step) + ": " +
		render.SignalText(p, annotation.Signal) + render.ConfidenceText(annotation.About.Confidence)
	t.day = render.TimelineLine(p, t.day,
		runs.TimelineEntry{AtMs: annotation.AtMs, Actor: event.Actor{Ref: annotation.Actor.PrincipalRef},
			Text: text})
	render.AnnotationTexts(p, "          ", annotation.Signal, annotation.Note, page.Plain)
	return t.app.Write(p.Bytes())
}
