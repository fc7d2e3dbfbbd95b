package runs

import (
	"context"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/projections"
)

// annotatedKind is the kind of the message about an annotation (RFC 0056 B). It
// is a live message and no event of the run.
const annotatedKind = "run.annotated"

// printAnnotations prints the annotations that were added since the last call.
// Where they cannot be read, that is logged once, and the run is watched
// without them.
func (t *eventPrinter) printAnnotations(ctx context.Context, following *engine.Following) error {
	// It was logged once; the run is what is watched.
	if t.annotationsLost {
		return nil
	}
	all, err := following.Annotated(ctx)
	if err != nil && ctx.Err() != nil {
		return err
	}
	for _, said := range all {
		if err := t.printAnnotation(said); err != nil {
			return err
		}
	}
	if t.annotationsLost = err != nil; t.annotationsLost {
		log := t.app.Log()
		log.Warn().Err(err).Msg("the annotations of the session cannot be read; no more of them are told")
	}
	return nil
}

// printAnnotation prints one annotation: as a document with --json, else as a
// line of the timeline with its long texts below.
func (t *eventPrinter) printAnnotation(said engine.Said) error {
	if t.app.Flags.JSON {
		raw, err := canon.Marshal(said.Annotation)
		if err != nil {
			return fault.Wrap(err, fault.Internal, "the annotation cannot be written as JSON")
		}
		return t.app.Document(annotatedKind, raw)
	}
	p := t.app.NewPage(t.app.Out)
	text := "Annotated " + render.AboutWords(said.Target, said.Step) + ": " + render.SignalWords(p, said.Signal) +
		render.SureWords(said.About.Confidence)
	t.day = render.Moment(p, t.day,
		projections.Moment{AtMs: said.AtMs, Actor: event.Actor{Ref: said.Actor.PrincipalRef},
			Text: text})
	render.Remarks(p, "          ", said.Signal, said.Note, page.Plainly)
	return t.app.Write(p.Bytes())
}
