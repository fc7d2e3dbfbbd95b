package wire

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/ports"
	projection "github.com/waybill/waybill/projections/wire"
)

// pageEvents is the number of run events after which Follower.Next ends, at the end of a segment.
const pageEvents = 512

// Follower reads the run events of one run, page by page, and then what is new. It keeps the projection and
// no event. It is for one goroutine at a time.
type Follower struct {
	Place
	w    *Wire
	log  *projection.Log
	head manifest.Head
	// health is the verdict over the log at the last reading that reached its end.
	health manifest.Health
	failed bool // the projection must not be used any more
	begun  bool // the projection has what the run inherits
	// sent is the sequence of the last event that Next returned, -1 for none, and sentID its id.
	sent   int64
	sentID string
}

// Follow returns a follower of a run before its first event. Errors as of Locate.
func (w *Wire) Follow(ctx context.Context, ref string) (*Follower, error) {
	p, err := w.Locate(ctx, ref)
	if err != nil {
		return nil, err
	}
	return w.FollowAt(p), nil
}

// FollowAt is Follow for a run whose session is known.
func (w *Wire) FollowAt(p Place) *Follower {
	return &Follower{Place: p, w: w, log: projection.New(p.Run), health: manifest.Healthy, sent: -1}
}

// Next returns the run events behind those that it returned before, at most about a page of them, and
// whether the run has its last event. Without new ones it returns none, and reads only the end of the
// log. After an error it can be called again. If the log is another history than before, as after a
// restored backup, its events are returned from sequence 0. SESSION_UNHEALTHY for a damaged log, after the
// events before the damage.
func (f *Follower) Next(ctx context.Context) (events []openwop.RunEvent, ended bool, err error) {
	if f.failed {
		f.restart()
	}
	if f.log.Ended() {
		return nil, true, nil
	}
	if !f.begun {
		if events, err = f.begin(ctx); err != nil || len(events) > 0 {
			return events, false, err
		}
	}
	var page []openwop.RunEvent
	var wrong error
	log, look := manifest.SessionEvents(f.Session), f.w.lookups(ctx)
	v, err := ports.Continue(ctx, f.w.s, ports.ReadRequest{Log: log, From: f.head}, func(from manifest.Head) ports.Visitor {
		if page = nil; from.IsZero() && !f.head.IsZero() {
			wrong = f.again(ctx)
		}
		return ports.VisitorFunc(func(seg manifest.Segment, head manifest.Head) error {
			if wrong != nil {
				return wrong
			}
			more, err := f.log.Visit(seg, look)
			if err != nil {
				f.failed = true
				return err
			}
			f.head = head
			if more, err = f.unsent(more); err != nil {
				return err
			}
			if page = append(page, more...); len(page) >= pageEvents || f.log.Ended() {
				return session.ErrStopReading
			}
			return nil
		})
	})
	switch {
	case errors.Is(err, errReplaced):
		f.failed, f.sent = true, -1
		return f.Next(ctx)
	case err != nil && !errors.Is(err, session.ErrStopReading):
		return nil, false, err
	case err == nil:
		if f.health = v.Health; v.Damaged() && len(page) == 0 {
			return nil, false, ports.Unhealthy(log, v)
		}
	}
	if n := len(page); n > 0 {
		f.sent, f.sentID = page[n-1].Sequence, page[n-1].EventID
	}
	return page, f.log.Ended(), nil
}

// errReplaced reports that a log is another history than the one whose events were returned.
var errReplaced = errors.New("the log is another history than before")

// unsent returns the events that Next did not return yet. A log that is read again from its beginning gives
// the same events again, unless it is another history.
func (f *Follower) unsent(events []openwop.RunEvent) ([]openwop.RunEvent, error) {
	at := 0
	for at < len(events) && events[at].Sequence <= f.sent {
		if events[at].Sequence == f.sent && events[at].EventID != f.sentID {
			return nil, errReplaced
		}
		at++
	}
	return events[at:], nil
}

// restart begins a new projection.
func (f *Follower) restart() {
	f.log, f.head, f.failed, f.begun = projection.New(f.Run), manifest.Head{}, false, false
}

// begin gives the projection what the run inherits, and returns those events that Next did not return yet.
func (f *Follower) begin(ctx context.Context) ([]openwop.RunEvent, error) {
	all, err := f.w.inherit(ctx, f.Place, f.log, 0)
	if err != nil {
		f.failed = true
		return nil, err
	}
	f.begun = true
	all, err = f.unsent(all)
	if errors.Is(err, errReplaced) {
		f.restart()
		f.sent = -1
		return f.begin(ctx)
	}
	if n := len(all); n > 0 {
		f.sent, f.sentID = all[n-1].Sequence, all[n-1].EventID
	}
	return all, err
}

// again restarts the projection for a log that is read from its beginning.
func (f *Follower) again(ctx context.Context) error {
	f.restart()
	_, err := f.w.inherit(ctx, f.Place, f.log, 0)
	f.begun = err == nil
	return err
}

// Log is the projection of what Next returned so far. It is valid until the next call of Next.
func (f *Follower) Log() *projection.Log { return f.log }

// Health is that of the log at the last call of Next that read it to its end.
func (f *Follower) Health() manifest.Health { return f.health }

// drain reads to the end of the log, or of the run, and passes each page to visit. Damage ends it without
// an error.
func (f *Follower) drain(ctx context.Context, visit func([]openwop.RunEvent) error) error {
	for {
		events, ended, err := f.Next(ctx)
		if damaged := err != nil && (f.health == manifest.CorruptTail || f.health == manifest.CorruptHead); damaged {
			return nil
		}
		if err != nil {
			return err
		}
		if err := visit(events); err != nil {
			return err
		}
		if ended || len(events) == 0 {
			return nil
		}
	}
}
