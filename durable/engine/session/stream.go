package session

import (
	"context"
	"errors"
	"sync"

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
	at, err := searchPlaces(ctx, r, ref, r.Index)
	if err != nil {
		return Found{}, explain(ctx, r, ref, err)
	}
	return Found{at.session, at.brief.RunID}, nil
}

// NotRead is RUN_NOT_FOUND for a run that was found and that the readable part of its session does not have.
func (f Found) NotRead() error { return runNotFound(f.Run.String(), 1) }

// Each reads the log of a session from its beginning and passes each committed segment to visit, in order and
// once: a reading that starts over (docs/design.md#reading) passes only what follows. It keeps nothing of a
// segment, so that it needs the same memory for any log. Events up to the head of the session's head cache are not
// checked again. STORE_CONFLICT: the segments that were passed are not those of the log any more.
func Each(ctx context.Context, r *Reader, s id.Session, visit ports.VisitorFunc) (manifest.Verdict, error) {
	return eachKnown(ctx, r, s, true, visit)
}

// EachNode is Each for callers that show the nodes of a run: the snapshots of the nodes that a segment creates are read
// on another goroutine meanwhile, and ViewOf returns them. One that cannot be read is left to the caller.
func EachNode(ctx context.Context, r *Reader, s id.Session, visit ports.VisitorFunc) (manifest.Verdict, error) {
	refs := make(chan canon.Digest, snapshotsAhead)
	var reading sync.WaitGroup
	reading.Go(func() {
		for ref := range refs {
			readView(ctx, r, ref)
		}
	})
	defer reading.Wait()
	defer close(refs)
	return Each(ctx, r, s, func(seg manifest.Segment, head manifest.Head) error {
		for _, e := range seg.Events {
			if p, ok := e.Data.(event.NodeCreated); ok {
				select {
				case refs <- p.SnapshotRef:
				default: // the caller is faster
				}
			}
		}
		return visit(seg, head)
	})
}

// snapshotsAhead bounds the snapshots that EachNode has not read yet.
const snapshotsAhead = 1 << 10

// readView keeps a snapshot for ViewOf, if it has the form of this version.
func readView(ctx context.Context, r *Reader, ref canon.Digest) {
	if _, known := ViewOf(r, ref); known {
		return
	}
	data, err := r.source.Object(ctx, manifest.Snapshot, ref)
	if err != nil {
		return
	}
	if s, err := snapshot.Decode(data); err == nil {
		KeepView(r, ref, s.View().Brief())
	}
}

// EachLine is Each for callers that need the lines of the log and not its events: segments up to the head of the
// session's head cache are verified and passed without Events.
func EachLine(ctx context.Context, r *Reader, s id.Session, visit ports.VisitorFunc) (manifest.Verdict, error) {
	return eachKnown(ctx, r, s, false, visit)
}

// eachKnown is Each, with or without the events up to the head of the session's head cache.
func eachKnown(ctx context.Context, r *Reader, s id.Session, events bool, visit ports.VisitorFunc) (manifest.Verdict, error) {
	p := &passed{session: s, visit: visit}
	b, _ := r.Brief(ctx, s, r.HeadKey(ctx))
	v, err := each(ctx, r, p, ports.ReadRequest{Trusted: b.Head, TrustedEvents: events})
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
