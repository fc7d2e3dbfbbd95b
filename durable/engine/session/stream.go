package session

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/ports"
)

// Found is a run with its session, as the index or a head cache names it. That the session has the run is
// found out by the reading that follows.
type Found struct {
	Session id.Session
	Run     id.Run
}

// Find finds a run as Lookup does, and reads no session that the index or a head cache describes. Errors as
// of Locate.
func Find(ctx context.Context, r *Reader, ref string) (Found, error) {
	ref = id.Typed(ref)
	at, err := Search(r.source, func() (runMatch, error) { return searchPlaces(ctx, r, ref, r.Index) })
	if err != nil {
		return Found{}, explain(ctx, r, ref, err)
	}
	return Found{at.session, at.brief.RunID}, nil
}

// NotRead is RUN_NOT_FOUND for a run that was found and that the readable part of its session does not have.
func (f Found) NotRead() error { return runNotFound(f.Run.String(), 1) }

// Each reads the log of a session from its beginning and passes each committed segment to visit, in order and
// once: a reading that starts over (docs/design.md#reading) passes only what follows. It keeps nothing of a
// segment, so that it needs the same memory for any log; the list of its events is overwritten after the next one was
// passed. Events up to the head of the session's head cache are not
// checked again. STORE_CONFLICT: the segments that were passed are not those of the log any more.
func Each(ctx context.Context, r *Reader, s id.Session, visit ports.VisitorFunc) (manifest.Verdict, error) {
	return eachKnown(ctx, r, s, ports.ReadRequest{TrustedEvents: true}, visit)
}

// EachNode is Each for callers that show the nodes of a run: the snapshots of the nodes of segments that are read ahead
// are read ahead too, and ViewOf returns them. One that cannot be read is left to the caller.
func EachNode(ctx context.Context, r *Reader, s id.Session, visit ports.VisitorFunc) (manifest.Verdict, error) {
	return eachKnown(ctx, r, s, ports.ReadRequest{TrustedEvents: true, Ahead: func(events []event.Event) {
		for _, e := range events {
			if p, ok := e.Data.(event.NodeCreated); ok {
				readView(ctx, r, p.SnapshotRef)
			}
		}
	}}, visit)
}

// readView keeps a snapshot for ViewOf, if it has the form of this version.
func readView(ctx context.Context, r *Reader, ref canon.Digest) {
	raw := ref.Raw()
	if _, known := viewOf(r, raw); known {
		return
	}
	data, err := r.source.Object(ctx, manifest.Snapshot, ref)
	if err != nil {
		return
	}
	if s, err := snapshot.Decode(data); err == nil {
		keepView(r, raw, s.View().Brief())
	}
}

// EachLine is Each for callers that need the lines of the log and not its events: segments up to the head of the
// session's head cache are verified and passed without Events.
func EachLine(ctx context.Context, r *Reader, s id.Session, visit ports.VisitorFunc) (manifest.Verdict, error) {
	return eachKnown(ctx, r, s, ports.ReadRequest{}, visit)
}

// eachKnown is Each for a request without a log.
func eachKnown(ctx context.Context, r *Reader, s id.Session, req ports.ReadRequest, visit ports.VisitorFunc) (manifest.Verdict,
	error) {
	p := &passed{session: s, visit: visit}
	b, _ := r.Brief(ctx, s, r.HeadKey(ctx))
	req.Trusted = b.Head
	v, err := each(ctx, r, p, req)
	if errors.Is(err, manifest.ErrNotOnChain) {
		// Another log, or one that lost its tail. Whether its events are known is found out by decoding them.
		v, err = each(ctx, r, p, ports.ReadRequest{})
	}
	return v, err
}

// each reads a log from its beginning and passes what was not passed before.
func each(ctx context.Context, r *Reader, p *passed, req ports.ReadRequest) (manifest.Verdict, error) {
	req.Log = manifest.SessionEvents(p.session)
	v, err := r.source.Read(ctx, req, p.begin)
	if err == nil && !p.met {
		err = replaced(p.session)
	}
	return v, err
}

// passed is how far the segments of a log were passed to visit.
type passed struct {
	session id.Session
	visit   ports.VisitorFunc
	head    manifest.Head // after the last segment that was passed
	met     bool          // the present reading has met that head
}

// begin starts a reading; all of them start at the zero Head.
func (p *passed) begin(manifest.Head) ports.Visitor {
	p.met = p.head.IsZero()
	return ports.VisitorFunc(p.segment)
}

// segment passes a segment, unless an earlier reading did.
func (p *passed) segment(seg manifest.Segment, head manifest.Head) error {
	switch {
	case p.met:
		p.head = head
		return p.visit(seg, head)
	case head.Next < p.head.Next:
		return nil
	case head == p.head:
		p.met = true
		return nil
	}
	return replaced(p.session)
}

// Replaced is STORE_CONFLICT for a session that is another one than it was during an earlier reading.
func (f Found) Replaced() error { return replaced(f.Session) }

func replaced(s id.Session) error {
	return fault.New(fault.StoreConflict, "session %s was moved away or replaced while it was read", s)
}
