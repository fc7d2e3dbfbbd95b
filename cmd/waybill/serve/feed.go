package serve

import (
	"context"

	"github.com/waybill/waybill/durable/engine/hosting"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/wire"
	"github.com/waybill/waybill/infra/httpserver"
)

// feed implements httpserver.Feed: the follower of a run, and who wakes it.
type feed struct {
	follower *wire.Follower
	notes    *hosting.Notes // annotations that are recorded while the feed is open
	notices  *notices
	seen     int64         // of the notices
	woken    chan struct{} // readable after a change of the logs, or with notices
	stop     []func()      // the waking
}

// Feed implements httpserver.Host.
func (h *host) Feed(ctx context.Context, run string) (httpserver.Feed, error) {
	at, err := h.runs.Find(ctx, run)
	if err != nil {
		return nil, err
	}
	// Watching is first: what is recorded after a reading wakes the feed.
	f := &feed{woken: make(chan struct{}, 1), notices: h.notices}
	f.stop = append(f.stop, h.store.Ports.Watch(f.wake, session.LogsOf(at.Session)...), h.notices.watch(f.wake))
	f.seen = h.notices.last()
	f.follower = h.wire.FollowAt(wire.Place{Session: at.Session, Run: at.Run})
	if f.notes, err = h.feedback.Follow(ctx, at); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Close implements httpserver.Feed.
func (f *feed) Close() {
	for _, stop := range f.stop {
		stop()
	}
}

// wake has Next look for news.
func (f *feed) wake() {
	select {
	case f.woken <- struct{}{}:
	default:
	}
}

// Next implements httpserver.Feed.
func (f *feed) Next(ctx context.Context, after int64) (httpserver.Chunk, error) {
	for {
		page, err := f.Now(ctx, after)
		if err != nil || len(page.Events)+len(page.Notifications) > 0 || page.Ended {
			return page, err
		}
		select {
		case <-ctx.Done():
			return page, ctx.Err()
		case <-f.woken:
		}
	}
}

// Now implements httpserver.Feed. Pages of events that the client has are passed over.
func (f *feed) Now(ctx context.Context, after int64) (page httpserver.Chunk, err error) {
	for {
		events, ended, err := f.follower.Next(ctx)
		if err != nil {
			return page, err
		}
		empty := len(events) == 0
		for len(events) > 0 && events[0].Sequence <= after {
			events = events[1:]
		}
		page.Events, page.Ended = events, ended
		if empty || ended || len(events) > 0 {
			break
		}
	}
	notes, err := f.notes.Next(ctx, f.follower.Log())
	if err != nil {
		return page, err
	}
	for _, n := range notes {
		page.Notifications = append(page.Notifications, httpserver.Notification(n))
	}
	more, seen := f.notices.since(f.seen, f.follower.Run)
	page.Notifications, f.seen = append(page.Notifications, more...), seen
	return page, nil
}
