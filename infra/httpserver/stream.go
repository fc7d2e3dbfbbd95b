package httpserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/openwop"
)

// errSilent reports that nothing was recorded for some time, errGone that the client reads no more.
var (
	errSilent = errors.New("nothing was recorded")
	errGone   = errors.New("the client is gone")
)

// live is a context that ends with the request, and when the server ends its streams.
func (c *call) live() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(c.r.Context())
	unlink := context.AfterFunc(c.stopping, cancel)
	return ctx, func() { unlink(); cancel() }
}

// next waits for a page, at most for some time: errSilent without one.
func next(ctx context.Context, feed Feed, after int64, wait time.Duration) (Chunk, error) {
	bounded, cancel := context.WithTimeout(ctx, max(wait, 0))
	defer cancel()
	page, err := feed.Next(bounded, after)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return Chunk{}, errSilent
	}
	return page, err
}

// stream is one open stream. It holds no event but those of an incomplete batch: a page is written and dropped.
type stream struct {
	*call
	options
	runID   string
	feed    Feed
	wrote   time.Time // the last write
	scratch []byte    // for one message; nil while the stream waits
	batch   []byte    // the events of an incomplete batch, with commas
	held    int64     // the sequence of the last of them
	flushAt time.Time // when the batch is sent
}

// follow writes the events of a run as they are recorded, until the run has ended, the client is gone or the server
// ends.
func (c *call) follow(feed Feed, id string, o options) error {
	h := c.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Connection", "close") // the connection ends with the stream, and so does what it costs
	s := &stream{call: c, options: o, runID: id, feed: feed, wrote: time.Now()}
	page, err := feed.Now(c.r.Context(), o.after)
	if err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusOK)
	if c.r.Method == http.MethodHead {
		return nil
	}
	live, stop := c.live()
	defer stop()
	s.finish(s.run(live, page))
	return nil
}

// run writes pages until one is the last.
func (s *stream) run(live context.Context, page Chunk) error {
	if s.modes.AreValues() && s.continued { // a client that continues has no state to build on
		if err := s.snapshot(s.after); err != nil {
			return err
		}
	}
	for {
		ended, err := s.page(page)
		if err != nil {
			return err
		}
		if ended {
			return s.flush()
		}
		if err := s.w.Flush(); err != nil {
			return errGone
		}
		s.scratch = nil
		page, err = next(live, s.feed, s.after, s.wait())
		if err == errSilent {
			page, err = Chunk{}, nil
		}
		if err != nil {
			return err
		}
	}
}

// wait is how long the stream may wait for a page: until a keepalive or a batch is due.
func (s *stream) wait() time.Duration {
	due := s.wrote.Add(s.keepalive)
	if len(s.batch) > 0 && s.flushAt.Before(due) {
		due = s.flushAt
	}
	return time.Until(due)
}

// page writes what a page has, and what is due; ended reports that no event will follow it.
func (s *stream) page(page Chunk) (ended bool, err error) {
	changed := false
	for _, n := range page.Notifications {
		if !s.modes.Selects(n.Type) {
			continue
		}
		if s.modes.AreValues() {
			changed = true
		} else if err := s.notify(n.Type, n.Payload, n.AtMs); err != nil {
			return false, err
		}
	}
	flush := false
	for _, e := range page.Events {
		s.after = e.Sequence
		if err := s.chunks(e); err != nil {
			return false, err
		}
		if !s.modes.Selects(e.Type) {
			continue
		}
		flush = flush || flushes(e.Type)
		if s.modes.AreValues() {
			changed = true
		} else if err := s.event(e); err != nil {
			return false, err
		}
	}
	if changed {
		if err := s.snapshot(s.after); err != nil {
			return false, err
		}
	}
	if flush || len(s.batch) > 0 && !time.Now().Before(s.flushAt) {
		err = s.flush()
	}
	if err == nil && time.Since(s.wrote) >= s.keepalive {
		err = s.send([]byte(": keepalive\n\n"))
	}
	return page.Ended, err
}

// flushes reports an event that is sent at once, and what was collected with it: the end of a run, and a suspension,
// after which no event may follow for long.
func flushes(t openwop.EventType) bool { return t.Terminal() || t == openwop.NodeSuspended }

// event sends an event, or adds it to the batch.
func (s *stream) event(e openwop.RunEvent) error {
	text, err := appendDocument(s.scratch[:0], e)
	if err != nil {
		return err
	}
	s.scratch = text
	if s.buffer > 0 {
		return s.collect(text, e.Sequence)
	}
	return s.message(string(e.Type), text, e.Sequence)
}

// chunks sends the parts of a text that an event has, in the mode messages. The last one has the id of the event: a client
// that has a part of them gets all again.
func (s *stream) chunks(e openwop.RunEvent) error {
	if !slices.Contains(s.modes, openwop.Messages) {
		return nil
	}
	all := openwop.Chunks(e)
	for i, payload := range all {
		sequence := int64(-1)
		if i == len(all)-1 {
			sequence = e.Sequence
		}
		text, err := appendDocument(s.scratch[:0], payload)
		if err != nil {
			return err
		}
		if s.scratch = text; s.buffer > 0 {
			err = s.collect(text, e.Sequence)
		} else {
			err = s.message(string(openwop.MessageChunk), text, sequence)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// snapshot sends the state of the run. It is read after the event with the sequence, and may contain later ones.
func (s *stream) snapshot(sequence int64) error {
	state, err := s.host.Snapshot(s.r.Context(), s.runID)
	if err != nil {
		return err
	}
	text, err := appendDocument(s.scratch[:0], state)
	if err != nil {
		return err
	}
	s.scratch = text
	if s.buffer > 0 {
		if len(s.batch) > 0 { // a later state replaces an earlier one, and is sent at its time
			s.batch, s.held = append(s.batch[:0], text...), sequence
			return nil
		}
		return s.collect(text, sequence)
	}
	return s.message(string(openwop.StateSnapshot), text, sequence)
}

// collect adds a document to the batch, which begins with it if it is empty. A full one is sent.
func (s *stream) collect(text []byte, sequence int64) error {
	if len(s.batch) == 0 {
		s.flushAt = time.Now().Add(s.buffer)
	} else {
		s.batch = append(s.batch, ',')
	}
	s.batch, s.held = append(s.batch, text...), sequence
	if len(s.batch) >= limits.HTTPBatchBytesMax {
		return s.flush()
	}
	return nil
}

// flush sends the batch. Its id is that of its last event: a client continues behind all of it.
func (s *stream) flush() error {
	if len(s.batch) == 0 {
		return nil
	}
	list := append(append([]byte{'['}, s.batch...), ']')
	s.batch = nil
	return s.message("batch", list, s.held)
}

// notify sends a message that is in no log: it has no id, so that a client continues behind the last event.
func (s *stream) notify(t openwop.EventType, payload canon.Value, atMs int64) error {
	text, err := appendDocument(s.scratch[:0], message{t, s.runID, payload, timestamp(atMs)})
	if err != nil {
		return err
	}
	s.scratch = text
	return s.message(string(t), text, -1)
}

// message writes one message. Its data has no line ends: they are escaped in JSON.
func (s *stream) message(name string, data []byte, sequence int64) error {
	head := "event: " + oneWord(name) + "\ndata: "
	if sequence >= 0 {
		head = fmt.Sprintf("id: %d\n%s", sequence, head)
	}
	if err := s.send([]byte(head)); err != nil {
		return err
	}
	if err := s.send(data); err != nil {
		return err
	}
	return s.send([]byte("\n\n"))
}

// oneWord is a name of an event without what would end its line. Kinds of events of other programs have any name.
func oneWord(name string) string {
	return strings.Map(func(r rune) rune {
		if r > '~' || r <= ' ' {
			return '_'
		}
		return r
	}, name)
}

// send writes to the client. It ends the stream of one that does not read for the time of a write.
func (s *stream) send(text []byte) error {
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	s.wrote = time.Now()
	return nil
}

// closedEvent is the last message of a stream that ends before its run, with the reason. The client continues with
// Last-Event-ID.
const closedEvent openwop.EventType = openwop.VendorPrefix + "stream_closed"

// finish ends a stream. What was collected is sent first, since the client would wait for it.
func (s *stream) finish(cause error) {
	if cause == nil || errors.Is(cause, errGone) || s.r.Context().Err() != nil {
		_ = s.w.Flush()
		return
	}
	reason := "server_stopping"
	if s.stopping.Err() == nil {
		_, e, _ := answerOf(cause)
		reason = string(e.Error)
		s.note = cause
	}
	payload := canon.OfMembers(canon.Member{Name: "reason", Value: canon.OfString(reason)},
		canon.Member{Name: openwop.DetailCorrelation, Value: canon.OfString(s.id)})
	if s.flush() == nil && s.notify(closedEvent, payload, time.Now().UnixMilli()) == nil {
		_ = s.w.Flush()
	}
}

// timestamp is an instant as the protocol writes it.
func timestamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }
