package serve

import (
	"context"

	"github.com/waybill/waybill/durable/engine/hosting"
	"github.com/waybill/waybill/durable/engine/wire"
	"github.com/waybill/waybill/infra/httpserver"
	"github.com/waybill/waybill/infra/watch"
)

// feed implements httpserver.Feed: the follower of a run, and who wakes it.
type feed struct {
	follower *wire.Follower
	notes    *hosting.Notes // annotations that are recorded while the feed is open
	notices  *notices
	seen     int64 // of the notices
	waiter   *watch.Waiter
}

// Feed implements httpserver.Host.
func (h *host) Feed(ctx context.Context, run string) (httpserver.Feed, error) {
	at, err := h.runs.Find(ctx, run)
	if err != nil {
		return nil, err
	}
	// The waiter is first: what is recorded after a reading wakes the feed.
	events, annotations, _ := h.store.LogFiles(at.Session)
	f := &feed{waiter: h.hub.Waiter(at.Session, events, annotations), notices: h.notices, seen: h.notices.last()}
	f.follower = h.wire.FollowAt(wire.Place{Session: at.Session, Run: at.Run})
	if f.notes, err = h.feedback.Follow(ctx, at); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Close implements httpserver.Feed.
func (f *feed) Close() { f.waiter.Close() }

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
		case <-f.waiter.Woken():
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
