package learning

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/idempotency"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/annotations"
)

// AnnotateOnce is Annotate for a request with an idempotency key: a repeated request gets the annotation that the first one
// recorded, also if the first one ended before it was answered (docs/design.md#idempotency-keys). The key is one that its
// caller made unambiguous, such as by a prefix. After a day it is that of another request.
//
// It reads all annotations of the session. IDEMPOTENCY_MISMATCH: another request had the key. Further errors are those of
// Annotate.
func (l *Learning) AnnotateOnce(ctx context.Context, by engine.Caller, key string, at engine.Position,
	req feedback.Request) (feedback.Annotation, error) {
	defer l.ledger.WritePending(ctx)
	n, err := l.checkedAnnotation(ctx, by, at, req)
	if err != nil {
		return feedback.Annotation{}, err
	}
	store, err := l.store.StoreID(ctx, ports.ReadOnly)
	if err != nil {
		return feedback.Annotation{}, err
	}
	came, err := l.ledger.ImportedEvents(ctx, n.log, l.ledger.NewImports())
	if err != nil {
		return feedback.Annotation{}, err
	}
	all, err := l.readAnnotations(ctx, n.log)
	if err != nil {
		return feedback.Annotation{}, err
	}
	o := onceRecord{n: n, by: by, req: req, name: func(i int) id.Annotation {
		return id.KeyedAnnotation(store, at.Run, key, i)
	}, imported: came}
	// A recorded one is found without a lock, also where nothing can be written any more.
	if _, err := o.make(all); err != nil {
		return o.answer(ctx, l, all, err)
	}
	e, err := n.append(ctx, by, all, o.make)
	if err != nil {
		if errors.Is(err, errRecorded) {
			all, err = l.readAnnotations(ctx, n.log) // with what another process appended
			if err == nil {
				_, err = o.make(all)
			}
		}
		return o.answer(ctx, l, all, err)
	}
	out, _, _ := feedback.AnnotationOf(e)
	return out, nil
}

// errRecorded reports that the annotation of a key was recorded before.
var errRecorded = errors.New("the annotation was recorded")

// onceRecord makes the record of an annotation with an idempotency key.
type onceRecord struct {
	n        *annotationWriter
	by       engine.Caller
	req      feedback.Request
	name     func(int) id.Annotation
	imported imported.Span
	found    annotations.Entry // with errRecorded
}

// make implements makeRecord. The annotations of a key are numbered; the last one answers the request if it is not too old. One
// that came with a bundle answers none: any program can write a bundle.
func (o *onceRecord) make(all *annotationState) (event.Payload, error) {
	for i := 0; ; i++ {
		data := feedback.Record(o.name(i), o.req, o.n.place)
		have, exists := all.Find(data.AnnotationID)
		switch {
		case !exists:
			if about := o.req.SupersedesAnnotationID; !about.IsZero() {
				return data, o.n.checkCurrent(all, about)
			}
			return data, nil
		case o.imported.Has(have.Index) || idempotency.IsExpired(have.AtMs, o.by.AtMs):
		case !o.same(data, have):
			return nil, fault.New(fault.IdempotencyMismatch,
				"this idempotency key was sent with another annotation; nothing was recorded")
		default:
			o.found = have
			return nil, errRecorded
		}
	}
}

// same reports that a recorded annotation is the one of this request.
func (o *onceRecord) same(data feedback.Recorded, have annotations.Entry) bool {
	wanted, about, _ := feedback.AnnotationOf(event.New(o.n.log.Owner, have.Index, event.Scope{RunID: o.n.at.Run}, o.by.Actor,
		have.AtMs, data))
	a, b := about.Confidence, have.Details.Confidence
	return wanted == have.Annotation && about.SupersedesAnnotationID == have.Details.SupersedesAnnotationID &&
		(a == nil) == (b == nil) && (a == nil || *a == *b)
}

// answer returns the recorded annotation for errRecorded, once it is durable, and any other error.
func (o *onceRecord) answer(ctx context.Context, l *Learning, all *annotationState, err error) (feedback.Annotation, error) {
	if !errors.Is(err, errRecorded) {
		return feedback.Annotation{}, err
	}
	return o.found.Annotation, o.n.conflict(l.store.Confirm(ctx, o.n.log, all.sums.Head))
}
