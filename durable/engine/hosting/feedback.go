package hosting

import (
	"context"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	enginewire "github.com/waybill/waybill/durable/engine/wire"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/projections/wire"
)

// Feedback records and lists annotations for clients of the protocol, which know the nodes and events of a run by the ids of
// its run events.
type Feedback struct {
	l    *learning.Learning
	w    *enginewire.Wire
	runs Runs
}

// NewFeedback returns the annotations of the store of runs.
func NewFeedback(l *learning.Learning, w *enginewire.Wire, runs Runs) Feedback {
	return Feedback{l, w, runs}
}

// Annotate records an annotation of a run, in the form of the protocol; with a key once. Errors: RUN_NOT_FOUND,
// TARGET_NOT_FOUND, VALIDATION_ERROR, IDEMPOTENCY_MISMATCH.
func (f Feedback) Annotate(ctx context.Context, by engine.Caller, seed id.Seed, key, run string, body canon.Value) (canon.Value,
	error) {
	at, err := f.runs.Find(ctx, run)
	if err != nil {
		return canon.Value{}, err
	}
	log, err := f.log(ctx, at)
	if err != nil {
		return canon.Value{}, err
	}
	if body, err = stored(log, body); err != nil {
		return canon.Value{}, err
	}
	create, err := feedback.ParseCreate(body.JCS())
	if err != nil {
		return canon.Value{}, err
	}
	var a feedback.Annotation
	if req := (feedback.Request{Create: create}); key != "" {
		a, err = f.l.AnnotateOnce(ctx, by, key, at, req)
	} else {
		a, err = f.l.Annotate(ctx, by, seed, at, req)
	}
	if err != nil {
		return canon.Value{}, err
	}
	return Shown(log, a)
}

// List lists the annotations of a run.
func (f Feedback) List(ctx context.Context, run string) ([]canon.Value, error) {
	at, err := f.runs.Find(ctx, run)
	if err != nil {
		return nil, err
	}
	log, err := f.log(ctx, at)
	if err != nil {
		return nil, err
	}
	out := []canon.Value{}
	for cursor := ""; ; {
		page, err := f.l.Annotations(ctx, run, learning.AnnotationQuery{Cursor: cursor})
		if err != nil {
			return nil, err
		}
		for _, a := range page.Annotations {
			v, err := Shown(log, a)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		if cursor = page.NextCursor; cursor == "" {
			return out, nil
		}
	}
}

// log is the projection of a run up to now.
func (f Feedback) log(ctx context.Context, at engine.Position) (*wire.Log, error) {
	follow := f.w.FollowAt(enginewire.Place{Session: at.Session, Run: at.Run})
	for {
		events, ended, err := follow.Next(ctx)
		if err != nil {
			return nil, err
		}
		if ended || len(events) == 0 {
			return follow.Log(), nil
		}
	}
}

// stored is the body of a request with the ids of the log in place of those of the wire. What is no id of the wire is left
// as it is: the check of the request reports it.
func stored(log *wire.Log, body canon.Value) (canon.Value, error) {
	target, ok := body.Get("target")
	if !ok || target.Kind() != canon.Object {
		return body, nil
	}
	if node, ok := target.Get("nodeId"); ok && node.Kind() == canon.String {
		if _, err := id.ParseNode(node.Text()); err != nil {
			at, found := log.Find(node.Text())
			if !found {
				return body, fault.New(fault.TargetNotFound, "the run has no node of this id").With("pointer", "/target/nodeId")
			}
			target = target.With("nodeId", canon.OfString(at.String()))
		}
	}
	if event, ok := target.Get("eventId"); ok && event.Kind() == canon.String {
		stem, _, _ := strings.Cut(event.Text(), ".")
		target = target.With("eventId", canon.OfString(stem))
	}
	return body.With("target", target), nil
}

// Shown is an annotation in the form of the protocol: its node has the id of the run events.
func Shown(log *wire.Log, a feedback.Annotation) (canon.Value, error) {
	v, err := canon.ValueOf(a)
	if err != nil || a.Target.NodeID.IsZero() {
		return v, err
	}
	target, _ := v.Get("target")
	if node, ok := log.NodeID(a.Target.NodeID); ok {
		target = target.With("nodeId", canon.OfString(node))
	}
	return v.With("target", target), nil
}
