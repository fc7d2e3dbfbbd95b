package learning

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/annotations"
)

// Annotate records an annotation of a run, of one of its nodes or of one of its
// events (docs/design.md#annotations). The run may have ended. The session's
// own log does not change; annotations have a side log.
//
// Errors: TARGET_NOT_FOUND for an unknown node or event, ANNOTATION_NOT_FOUND
// for an unknown annotation to supersede, VALIDATION_ERROR if that one is not
// current any more or the request is malformed, CAPABILITY_NOT_PROVIDED.
func (l *Learning) Annotate(ctx context.Context, by engine.Caller, seed id.Seed, at engine.Position,
	req feedback.Request) (feedback.Annotation, error) {
	defer l.ledger.WritePending(ctx)
	n, err := l.checkedAnnotation(ctx, by, at, req)
	if err != nil {
		return feedback.Annotation{}, err
	}
	var all *annotationState
	if about := req.SupersedesAnnotationID; !about.IsZero() {
		if all, err = l.readAnnotations(ctx, n.log); err == nil {
			err = n.checkCurrent(all, about) // before a directory for the lock is created
		}
		if err != nil {
			return feedback.Annotation{}, err
		}
	}
	data := feedback.Record(id.NewAnnotation(seed), req, n.place)
	e, err := n.append(ctx, by, all, n.about(req.SupersedesAnnotationID, data))
	if err != nil {
		return feedback.Annotation{}, err
	}
	out, _, _ := feedback.AnnotationOf(e)
	return out, nil
}

// checkedAnnotation checks a request to annotate, and returns what appends it.
func (l *Learning) checkedAnnotation(ctx context.Context, by engine.Caller, at engine.Position, req feedback.Request) (
	*annotationWriter, error) {
	if _, err := l.settings.Provided(ctx, config.Feedback, config.Config.Feedback); err != nil {
		return nil, err
	}
	if err := req.Check(by.Actor); err != nil {
		return nil, err
	}
	return l.newAnnotationWriter(ctx, at, req.Target)
}

// RetractRequest requests to retract an annotation.
type RetractRequest struct {
	Annotation id.Annotation
	Reason     string
}

// Retracted is the document "retracted": an annotation that does not count any
// more.
type Retracted struct {
	feedback.Annotation
	// Already reports that it was retracted before; nothing was recorded.
	Already bool `json:"already"`
	// Redactions are the places of the request from which a secret was removed.
	Redactions []redact.Finding `json:"redactions,omitzero"`
}

// Retract retracts an annotation of a run. It remains on record and is listed
// only with the history (docs/design.md#annotations). A repeated call changes
// nothing. Errors: ANNOTATION_NOT_FOUND, VALIDATION_ERROR if the annotation was
// superseded, CAPABILITY_NOT_PROVIDED.
func (l *Learning) Retract(ctx context.Context, by engine.Caller, at engine.Position, req RetractRequest) (Retracted,
	error) {
	defer l.ledger.WritePending(ctx)
	if _, err := l.settings.Provided(ctx, config.Feedback, config.Config.Feedback); err != nil {
		return Retracted{}, err
	}
	if err := feedback.CheckReason(req.Reason); err != nil {
		return Retracted{}, err
	}
	n, err := l.newAnnotationWriter(ctx, at, feedback.Target{})
	if err != nil {
		return Retracted{}, err
	}
	redactions := feedback.ReasonRedactions(req.Reason)
	for {
		all, err := l.readAnnotations(ctx, n.log)
		if err != nil {
			return Retracted{}, err
		}
		have, ok := all.Find(req.Annotation)
		if !ok || have.Target.RunID != at.Run {
			return Retracted{}, annotationNotFound(at, req.Annotation)
		}
		if have.State == annotations.Retracted {
			// Answered from the log, without a lock.
			return Retracted{have.Annotation, true, redactions}, n.conflict(l.store.Confirm(ctx, n.log, all.sums.Head))
		}
		_, err = n.append(ctx, by, all, n.about(req.Annotation, feedback.Retract(req.Annotation, req.Reason)))
		if errors.Is(err, errRetracted) {
			continue // a concurrent call retracted it; the next reading finds that
		}
		return Retracted{have.Annotation, false, redactions}, err
	}
}

// errRetracted reports that an annotation was retracted before.
var errRetracted = errors.New("the annotation was retracted")

// annotationNotFound is ANNOTATION_NOT_FOUND.
func annotationNotFound(at engine.Position, name id.Annotation) error {
	return fault.New(fault.AnnotationNotFound, "run %s has no annotation %s", at.Run, name).
		Suggest("See %s.", fault.Command{"annotations", "list", at.Run.String(), "--history"}).
		With("annotationId", name.String())
}

// annotationWriter appends one record to a session's annotations.
type annotationWriter struct {
	l   *Learning
	at  engine.Position
	log manifest.Log
	// head is that of the session's own log; it is durable.
	head  manifest.Head
	place feedback.Location
}

// newAnnotationWriter resolves the target of an annotation and makes it
// durable: an annotation must not survive a power cut that its target does not
// survive. t with neither node nor event names the run at its preferred tip.
func (l *Learning) newAnnotationWriter(ctx context.Context, at engine.Position, t feedback.Target) (*annotationWriter,
	error) {
	n := &annotationWriter{l: l, at: at, log: feedback.LogOf(at.Session)}
	h := l.e.TakeHistory(at.Session)
	p, err := h.OpenRun(ctx, at)
	if err != nil {
		return nil, err
	}
	node := p.Run.Tip
	if !t.EventID.IsZero() {
		if node, err = l.eventNode(ctx, at, t); err != nil {
			return nil, err
		}
	} else if !t.NodeID.IsZero() {
		node = t.NodeID
	}
	if !node.IsZero() {
		p, err = h.Open(ctx, engine.Position{Session: at.Session, Run: at.Run, Node: node})
		if fault.Is(err, fault.TokenUnknownNode) {
			err = fault.New(fault.TargetNotFound, "run %s has no node %s", at.Run, node).With("nodeId", node.String())
		}
		if err != nil {
			return nil, err
		}
		n.place.NodeID = node
		// A missing or foreign snapshot leaves the step id empty and does not
		// prevent the annotation.
		switch s, err := l.e.State(ctx, p.Node); {
		case err == nil && s.PendingStep() != nil:
			n.place.StepID = s.PendingStep().StepID
		case err != nil && !session.IsMissing(err) && !fault.Is(err, fault.StoreCorrupt) &&
			!fault.Is(err, fault.SessionUnhealthy):
			return nil, err // an I/O error
		}
	}
	if err := h.Confirm(ctx); err != nil {
		return nil, err
	}
	n.head = h.Fold.Head
	h.Keep()
	return n, nil
}

// eventNode is the node of an event of the run, zero for an event about the
// whole run and for one of its session, such as session_created. TARGET_NOT_FOUND if the
// run has no such event, or t names another node than the event's.
func (l *Learning) eventNode(ctx context.Context, at engine.Position, t feedback.Target) (node id.Node, err error) {
	found := false
	_, err = l.store.Read(ctx, ports.ReadRequest{Log: manifest.SessionEvents(at.Session)},
		func(manifest.Head) ports.Visitor {
			found, node = false, id.Node{}
			return ports.VisitorFunc(func(seg manifest.Segment, _ manifest.Head) error {
				for _, e := range seg.Events {
					if e.ID == t.EventID && (e.Scope.RunID == at.Run || e.Scope.RunID.IsZero()) {
						found, node = true, e.Scope.NodeID
					}
				}
				return nil
			})
		})
	if err != nil {
		return node, err
	}
	if !found {
		return node, fault.New(fault.TargetNotFound, "run %s has no event %s", at.Run, t.EventID).
			With("eventId", t.EventID.String())
	}
	if !t.NodeID.IsZero() && t.NodeID != node {
		return node, fault.New(fault.TargetNotFound, "event %s is not about node %s", t.EventID, t.NodeID).
			With("eventId", t.EventID.String()).With("nodeId", t.NodeID.String())
	}
	return node, nil
}

// annotationState is the content of a log of annotations that one more record
// is checked against and added to: the sums and, for a record about another
// annotation, the annotations.
type annotationState struct {
	// Annotations is nil for a record about no other annotation.
	*annotations.Log
	sums *annotations.Tally
}

// newAnnotationState returns the state of an empty log, with its annotations.
func newAnnotationState() *annotationState {
	return &annotationState{annotations.NewLog(), annotations.NewTally()}
}

// empty returns the state of an empty log, of the same form.
func (r *annotationState) empty() *annotationState {
	if r.Log == nil {
		return &annotationState{sums: annotations.NewTally()}
	}
	return newAnnotationState()
}

// Visit implements ports.Visitor.
func (r *annotationState) Visit(seg manifest.Segment, head manifest.Head) error {
	if r.Log != nil {
		_ = r.Log.Visit(seg, head) // always nil
	}
	return r.sums.Visit(seg, head)
}

// readAnnotations reads all of a session's annotations. SESSION_UNHEALTHY
// unless the log is healthy: absence of a retraction cannot be proved
// otherwise.
func (l *Learning) readAnnotations(ctx context.Context, log manifest.Log) (*annotationState, error) {
	all := newAnnotationState()
	v, err := l.store.Read(ctx, ports.ReadRequest{Log: log}, ports.Into(&all, newAnnotationState))
	if err == nil && v.Health != manifest.Healthy {
		err = ports.Unhealthy(log, v)
	}
	return all, err
}

// makeRecord returns the record to append after the annotations of a log, or why there
// is none. It is called under the lock of the log.
type makeRecord func(all *annotationState) (event.Payload, error)

// about returns the maker of a record about another annotation, which must be current;
// with the zero id of one about no other.
func (n *annotationWriter) about(other id.Annotation, data event.Payload) makeRecord {
	return func(all *annotationState) (event.Payload, error) {
		if other.IsZero() {
			return data, nil
		}
		return data, n.checkCurrent(all, other)
	}
}

// append commits one record. For a record that depends on other annotations, all is
// what was read before; otherwise all is nil and only the saved sums are continued,
// however long the log is. The session's lock is held as well, so that the
// session is not moved to the trash meanwhile.
func (n *annotationWriter) append(ctx context.Context, by engine.Caller, all *annotationState,
	record makeRecord) (e event.Event, err error) {
	inside := func(ports.Witness, manifest.Verdict) error {
		if all == nil {
			all = &annotationState{sums: n.l.e.SavedTally(ctx, n.log)}
		}
		e, err = n.appendLocked(ctx, by, all, record)
		return err
	}
	err = ports.WithHealthySession(ctx, n.l.store, n.l.store, manifest.SessionEvents(n.at.Session), n.head, ports.Skip,
		inside)
	return e, n.conflict(err)
}

// conflict converts the report that a log was replaced to STORE_CONFLICT.
func (n *annotationWriter) conflict(err error) error {
	if errors.Is(err, manifest.ErrNotOnChain) {
		n.l.e.Drop(n.at.Session)
		err = fault.Wrap(err, fault.StoreConflict, "session %s was moved away or replaced while it was annotated",
			n.at.Session)
	}
	return err
}

// appendLocked takes the lock of the annotations' log, makes the record and
// appends it.
func (n *annotationWriter) appendLocked(ctx context.Context, by engine.Caller, all *annotationState,
	record makeRecord) (e event.Event, err error) {
	visit := ports.Into(&all, all.empty)
	inside := func(w ports.Witness, v manifest.Verdict) error {
		data, err := record(all)
		if err != nil {
			return err
		}
		e = event.New(n.log.Owner, v.Head.Next, event.Scope{RunID: n.at.Run}, by.Actor, by.AtMs, data)
		plan := manifest.Plan{Log: n.log, Events: []event.Event{e}}
		head, err := n.l.store.Append(ctx, w, v.Head, plan)
		if err != nil {
			return err
		}
		n.l.ledger.Note(plan)
		// A retraction refers to an annotation that the saved sums left out.
		if all.sums.Missed() {
			// The process that recorded a retraction ended before it saved the
			// sums. Without saving new ones, every call would continue from the
			// old ones and read further each time.
			if _, err := n.l.store.Read(ctx, ports.ReadRequest{Log: n.log, Locked: true}, visit); err != nil {
				return nil // the annotation is recorded
			}
		} else if all.Visit(manifest.Segment{Events: plan.Events}, head) != nil {
			return nil
		}
		n.l.e.SaveTally(ctx, n.log, all.sums)
		return nil
	}
	err = ports.WithHealthySession(ctx, n.l.store, n.l.store, n.log, all.sums.Head, visit, inside)
	if errors.Is(err, manifest.ErrNotOnChain) {
		err = ports.WithHealthySession(ctx, n.l.store, n.l.store, n.log, manifest.Head{}, visit, inside)
	}
	return e, err
}

// checkCurrent refuses to supersede or retract an annotation that is not
// current any more.
func (n *annotationWriter) checkCurrent(all *annotationState, about id.Annotation) error {
	have, ok := all.Find(about)
	switch {
	case !ok || have.Target.RunID != n.at.Run:
		return annotationNotFound(n.at, about)
	case have.State == annotations.Superseded:
		return fault.New(fault.ValidationError, "annotation %s is not current any more: %s superseded it", about,
			have.Details.SupersededBy).
			Suggest("Name %s instead.", have.Details.SupersededBy).
			With("supersededBy", have.Details.SupersededBy.String())
	case have.State == annotations.Retracted:
		return fault.Wrap(errRetracted, fault.ValidationError,
			"annotation %s is not current any more: it was retracted", about).Suggest("Add a new one.")
	}
	return nil
}
