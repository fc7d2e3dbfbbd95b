package engine

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// Annotate records what somebody says of a run, of one of its nodes or of one of its
// events (RFC 0056). The run may have ended. Nothing of the session's own log changes;
// the annotation stands in a log beside it. What is asked about must be there:
// TARGET_NOT_FOUND, ANNOTATION_NOT_FOUND of one to supersede, VALIDATION_ERROR where
// that one stands no more.
func (g *Engine) Annotate(ctx context.Context, by Caller, seed id.Seed, at Position,
	req feedback.Request) (feedback.Annotation, error) {
	defer g.writePendingAudit(ctx)
	if _, err := g.requireProvided(ctx, config.Feedback, config.Config.Feedback); err != nil {
		return feedback.Annotation{}, err
	}
	if err := req.Check(by.Actor); err != nil {
		return feedback.Annotation{}, err
	}
	n, err := g.newAnnotationWriter(ctx, at, req.Target)
	if err != nil {
		return feedback.Annotation{}, err
	}
	var all *annotationState
	if about := req.SupersedesAnnotationID; !about.IsZero() {
		if all, err = g.readAnnotations(ctx, n.log); err == nil {
			err = n.checkCurrent(all, about) // before a folder is made to lock
		}
		if err != nil {
			return feedback.Annotation{}, err
		}
	}
	data := feedback.Record(id.NewAnnotation(seed), req, n.place)
	e, err := n.append(ctx, by, data, all, req.SupersedesAnnotationID)
	if err != nil {
		return feedback.Annotation{}, err
	}
	out, _, _ := feedback.Of(e)
	return out, nil
}

// RetractRequest asks to take an annotation back.
type RetractRequest struct {
	Annotation id.Annotation
	Reason     string
}

// Retracted is the document "retracted": what no longer counts.
type Retracted struct {
	feedback.Annotation
	Already bool `json:"already"` // it was taken back before; nothing was recorded
}

// Retract takes an annotation of a run back. It stays on record, and is shown no more
// but in the history (R28). The same call again changes nothing.
func (g *Engine) Retract(ctx context.Context, by Caller, at Position, req RetractRequest) (Retracted, error) {
	defer g.writePendingAudit(ctx)
	if _, err := g.requireProvided(ctx, config.Feedback, config.Config.Feedback); err != nil {
		return Retracted{}, err
	}
	if err := feedback.CheckReason(req.Reason); err != nil {
		return Retracted{}, err
	}
	n, err := g.newAnnotationWriter(ctx, at, feedback.Target{})
	if err != nil {
		return Retracted{}, err
	}
	for {
		all, err := g.readAnnotations(ctx, n.log)
		if err != nil {
			return Retracted{}, err
		}
		have, ok := all.Find(req.Annotation)
		if !ok || have.Target.RunID != at.Run {
			return Retracted{}, annotationNotFound(at, req.Annotation)
		}
		if have.State == projections.AnnotationRetracted {
			// It is answered from the log, and nobody waits for a lock.
			return Retracted{have.Annotation, true}, n.conflict(g.Logs.Confirm(ctx, n.log, all.sums.Head))
		}
		_, err = n.append(ctx, by, feedback.Retract(req.Annotation, req.Reason), all, req.Annotation)
		if errors.Is(err, errRetracted) {
			continue // somebody was faster: that is on record now
		}
		return Retracted{have.Annotation, false}, err
	}
}

// errTakenBack says that an annotation was retracted before.
var errRetracted = errors.New("the annotation was retracted")

func annotationNotFound(at Position, name id.Annotation) error {
	return fault.New(fault.AnnotationNotFound, "run %s has no annotation %s", at.Run, name).
		Suggest("See 'waybill annotations list %s --history'.", at.Run).With("annotationId", name.String())
}

// noting is one writing to a session's annotations.
type annotationWriter struct {
	g     *Engine
	at    Position
	log   manifest.Log
	head  manifest.Head // of the session's own log, durable
	place feedback.Place
}

// noting finds what an annotation is to be about. It must survive a power cut before
// anything is said of it.
func (g *Engine) newAnnotationWriter(ctx context.Context, at Position, t feedback.Target) (*annotationWriter, error) {
	n := &annotationWriter{g: g, at: at, log: annotationsLog(at.Session)}
	fold := g.takeFold(at.Session)
	p, err := g.openRun(ctx, at, fold)
	if err != nil {
		return nil, err
	}
	node := p.run.Tip
	if !t.EventID.IsZero() {
		if node, err = g.eventNode(ctx, at, t); err != nil {
			return nil, err
		}
	} else if !t.NodeID.IsZero() {
		node = t.NodeID
	}
	if !node.IsZero() {
		p, err = g.openPosition(ctx, Position{at.Session, at.Run, node}, fold)
		if fault.Is(err, fault.TokenUnknownNode) {
			err = fault.New(fault.TargetNotFound, "run %s has no node %s", at.Run, node).With("nodeId", node.String())
		}
		if err != nil {
			return nil, err
		}
		n.place.NodeID = node
		// A snapshot that is lost or not understood keeps nobody from saying something.
		switch s, err := g.state(ctx, p.node); {
		case err == nil && s.PendingStep() != nil:
			n.place.StepID = s.PendingStep().StepID
		case err != nil && !isMissing(err) && !fault.Is(err, fault.StoreCorrupt) &&
			!fault.Is(err, fault.SessionUnhealthy):
			return nil, err // the disk could not say
		}
	}
	if err := g.confirm(ctx, at.Session, fold); err != nil {
		return nil, err
	}
	n.head = fold.Head
	g.putFold(at.Session, fold)
	return n, nil
}

// nodeOf is the node of an event of the run; zero where the event is about the run as a
// whole. A node that is named beside the event must be the event's own.
func (g *Engine) eventNode(ctx context.Context, at Position, t feedback.Target) (node id.Node, err error) {
	found := false
	visitor := funcVisitor{func(seg manifest.Segment) error {
		for _, e := range seg.Events {
			if e.ID == t.EventID && (e.Scope.RunID == at.Run) {
				found, node = true, e.Scope.NodeID
			}
		}
		return nil
	}, func() { found, node = false, id.Node{} }}
	if _, err := g.Logs.Read(ctx, ports.Reading{Log: manifest.SessionEvents(at.Session)}, visitor); err != nil {
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

// remarks are what a log of annotations holds while one more is written: their sums and,
// where it is about one of them, they themselves.
type annotationState struct {
	*projections.Annotations // nil: nothing is asked of them
	sums                     *projections.AnnotationTally
}

// Reset implements ports.Visitor.
func (r *annotationState) Reset() {
	r.sums.Reset()
	if r.Annotations != nil {
		r.Annotations.Reset()
	}
}

// Visit implements ports.Visitor.
func (r *annotationState) Visit(seg manifest.Segment, head manifest.Head) error {
	if r.Annotations != nil {
		_ = r.Annotations.Visit(seg, head) // it never fails
	}
	return r.sums.Visit(seg, head)
}

// remarks reads all of a session's annotations. A log of which that cannot be said for
// sure is refused.
func (g *Engine) readAnnotations(ctx context.Context, log manifest.Log) (*annotationState, error) {
	all := &annotationState{projections.NewAnnotations(), projections.NewAnnotationTally()}
	v, err := g.Logs.Read(ctx, ports.Reading{Log: log}, all)
	if err == nil && v.Health != manifest.Healthy {
		err = ports.Unhealthy(log, v)
	}
	return all, err
}

// append commits one record. Where it takes the annotation about out of what stands, all
// are those that were read; else the log is not read again from its beginning, however
// long it is. The session's lock is held as well, so that the session is not moved away
// meanwhile.
func (n *annotationWriter) append(ctx context.Context, by Caller, data event.Payload, all *annotationState,
	about id.Annotation) (e event.Event, err error) {
	inside := func(ports.Witness, manifest.Verdict) error {
		if all == nil {
			all = &annotationState{sums: n.g.savedTally(ctx, n.log)}
		}
		e, err = n.appendLocked(ctx, by, data, all, about)
		return err
	}
	err = ports.WithHealthySession(ctx, n.g.Locks, n.g.Logs, manifest.SessionEvents(n.at.Session), n.head, nothing{},
		inside)
	return e, n.conflict(err)
}

// conflict says of a log that is another one now what that means to the caller.
func (n *annotationWriter) conflict(err error) error {
	if errors.Is(err, manifest.ErrNotOnChain) {
		n.g.dropCached(n.at.Session)
		err = fault.Wrap(err, fault.StoreConflict, "session %s was moved away or replaced while it was annotated",
			n.at.Session)
	}
	return err
}

func (n *annotationWriter) appendLocked(ctx context.Context, by Caller, data event.Payload, all *annotationState,
	about id.Annotation) (e event.Event, err error) {
	inside := func(w ports.Witness, v manifest.Verdict) error {
		if all.Annotations != nil {
			if err := n.checkCurrent(all, about); err != nil {
				return err
			}
		}
		e = event.New(n.log.Owner, v.Head.Next, event.Scope{RunID: n.at.Run}, by.Actor, by.AtMs, data)
		plan := manifest.Plan{Log: n.log, Events: []event.Event{e}}
		head, err := n.g.Logs.Append(ctx, w, v.Head, plan)
		if err != nil {
			return err
		}
		n.g.notePendingAudit(plan)
		if all.sums.Missed() {
			// Whoever took something back ended before the sums of that were saved: without
			// new ones every call would read on from the old ones, further each time.
			all.Reset()
			if _, err := n.g.Logs.Read(ctx, ports.Reading{Log: n.log, Locked: true}, all); err != nil {
				return nil // the annotation stands
			}
		} else if all.Visit(manifest.Segment{Events: plan.Events}, head) != nil {
			return nil
		}
		n.g.saveTally(ctx, n.log, all.sums)
		return nil
	}
	err = ports.WithHealthySession(ctx, n.g.Locks, n.g.Logs, n.log, all.sums.Head, all, inside)
	if errors.Is(err, manifest.ErrNotOnChain) {
		all.Reset()
		err = ports.WithHealthySession(ctx, n.g.Locks, n.g.Logs, n.log, manifest.Head{}, all, inside)
	}
	return e, err
}

// stands refuses to supersede or retract what does not stand any more.
func (n *annotationWriter) checkCurrent(all *annotationState, about id.Annotation) error {
	have, ok := all.Find(about)
	switch {
	case !ok || have.Target.RunID != n.at.Run:
		return annotationNotFound(n.at, about)
	case have.State == projections.AnnotationSuperseded:
		return fault.New(fault.ValidationError, "annotation %s does not stand any more: %s stands in its place", about,
			have.About.SupersededBy).
			Suggest("Name %s instead.", have.About.SupersededBy).With("supersededBy", have.About.SupersededBy.String())
	case have.State == projections.AnnotationRetracted:
		return fault.Wrap(errRetracted, fault.ValidationError,
			"annotation %s does not stand any more: it was retracted", about).Suggest("Add a new one.")
	}
	return nil
}
