package httpserver

import (
	"net/http"
	"strings"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/openwop"
)

// options are what a request for events asks for.
type options struct {
	modes     openwop.Modes
	buffer    time.Duration
	after     int64 // -1: from the beginning
	continued bool  // after was given
	json      bool
}

// options reads the parameters and headers of a request for events. They are checked before the run is looked up.
func (c *call) options() (o options, err error) {
	o = options{modes: openwop.Modes{openwop.Updates}, after: -1, json: wantsJSON(c.r.Header)}
	if o.json {
		o.modes = openwop.Modes{openwop.Debug}
	}
	if text, ok := c.query["streamMode"]; ok {
		if o.modes, err = openwop.ParseModes(text); err != nil {
			return o, err
		}
	}
	ms, err := c.number("bufferMs", 0, limits.HTTPBufferMsMax)
	if err != nil {
		return o, err
	}
	o.buffer = time.Duration(ms) * time.Millisecond
	if o.after, err = c.number("lastEventId", -1, integerMax); err != nil {
		return o, err
	}
	if values := c.r.Header["Last-Event-Id"]; len(values) > 0 {
		if o.after, err = natural("the header Last-Event-ID", values[0], integerMax); err != nil || len(values) > 1 {
			return o, invalid("the header Last-Event-ID is not the id of one event")
		}
	}
	o.continued = o.after >= 0
	return o, nil
}

// wantsJSON reports a request for the events as one document: one that accepts JSON, and no stream.
func wantsJSON(h http.Header) bool {
	json := false
	for _, list := range h.Values("Accept") {
		for part := range strings.SplitSeq(list, ",") {
			media, _, _ := strings.Cut(part, ";")
			switch strings.ToLower(strings.TrimSpace(media)) {
			case "application/json":
				json = true
			case "text/event-stream":
				return false
			}
		}
	}
	return json
}

// streamRunEvents answers with the events of a run, as a stream or as a document.
func streamRunEvents(c *call) error {
	id, err := c.run()
	if err != nil {
		return err
	}
	o, err := c.options()
	if err != nil {
		return err
	}
	feed, err := c.host.Feed(c.r.Context(), id)
	if err != nil {
		return err
	}
	defer feed.Close()
	if !o.json {
		return c.follow(feed, id, o)
	}
	if o.modes.AreValues() {
		return c.snapshots(feed, id, o)
	}
	first, err := feed.Now(c.r.Context(), o.after)
	if err != nil {
		return err
	}
	list := c.openList()
	if _, err := c.all(feed, first, o.after, o.modes, list); err != nil {
		return err
	}
	return list.end("]}")
}

// snapshots answers with the document for the mode values: the state of the run, if it has events of that mode.
func (c *call) snapshots(feed Feed, id string, o options) error {
	for after := o.after; ; {
		chunk, err := feed.Now(c.r.Context(), after)
		if err != nil {
			return err
		}
		admitted := false
		for _, e := range chunk.Events {
			admitted, after = admitted || o.modes.Selects(e.Type), e.Sequence
		}
		if admitted {
			state, err := c.host.Snapshot(c.r.Context(), id)
			if err != nil {
				return err
			}
			return c.send(http.StatusOK, map[string]any{"events": []openwop.Snapshot{state}}, nil)
		}
		if len(chunk.Events) == 0 || chunk.Ended {
			return c.send(http.StatusOK, eventList{}, nil)
		}
	}
}

// all writes what is recorded behind a page, and returns the last page with the sequence of its last event in place of
// its events. Each page is written before the next is read, so that the length of a log costs no memory.
func (c *call) all(feed Feed, page Chunk, after int64, m openwop.Modes, to *list) (end Chunk, err error) {
	for {
		for _, e := range page.Events {
			after = e.Sequence
			if m.Selects(e.Type) {
				if err := to.add(e); err != nil {
					return page, err
				}
			}
		}
		if page.Ended || len(page.Events) == 0 {
			return Chunk{Ended: page.Ended, Events: []openwop.RunEvent{{Sequence: after}}}, nil
		}
		if page, err = feed.Now(c.r.Context(), after); err != nil {
			return page, err
		}
	}
}

// pollRunEvents answers with the events behind a sequence. Without any it waits for one; the end of the run ends the
// wait as well.
func pollRunEvents(c *call) error {
	id, err := c.run()
	if err != nil {
		return err
	}
	after, err := c.number("lastSequence", -1, integerMax)
	if err != nil {
		return err
	}
	seconds, err := c.number("timeout", limits.HTTPPollSeconds, integerMax)
	if err != nil {
		return err
	}
	feed, err := c.host.Feed(c.r.Context(), id)
	if err != nil {
		return err
	}
	defer feed.Close()
	wait := min(time.Duration(min(seconds, limits.HTTPPollSecondsMax))*time.Second, c.tuning.poll)
	page, err := c.firstPage(feed, after, wait)
	if err != nil {
		return err
	}
	return c.pollFrom(feed, page, after, id)
}

// firstPage is the first page of a poll: empty after its time, and at once when the server ends or with HEAD.
func (c *call) firstPage(feed Feed, after int64, wait time.Duration) (Chunk, error) {
	page, err := feed.Now(c.r.Context(), after)
	if err != nil || len(page.Events) > 0 || page.Ended || wait == 0 || c.r.Method == http.MethodHead {
		return page, err
	}
	until := time.Now().Add(wait)
	live, stop := c.live()
	defer stop()
	for {
		page, err = next(live, feed, after, time.Until(until))
		if err == errSilent || live.Err() != nil && c.r.Context().Err() == nil {
			return Chunk{}, nil
		}
		if err != nil || len(page.Events) > 0 || page.Ended {
			return page, err
		}
	}
}

// pollFrom writes the answer to a poll. The state of the run is read behind its events; if it has ended, so have the
// events, and those in between are written too.
func (c *call) pollFrom(feed Feed, page Chunk, after int64, id string) error {
	to := c.openList()
	for {
		end, err := c.all(feed, page, after, openwop.Modes{openwop.Debug}, to)
		if err != nil {
			return err
		}
		after = end.Events[0].Sequence
		state, err := c.host.Snapshot(c.r.Context(), id)
		if err != nil {
			return err
		}
		if state.Status.Terminal() && !end.Ended {
			if page, err = feed.Now(c.r.Context(), after); err != nil {
				return err
			}
			if len(page.Events) > 0 || page.Ended {
				continue
			}
		}
		tail, err := canon.Marshal(polled{IsComplete: end.Ended, IsTerminal: end.Ended,
			LastEventSeq: after, RunID: id, RunStatus: state.Status})
		if err != nil {
			return fault.Wrap(err, fault.Internal, "the answer cannot be written as JSON")
		}
		return to.end("]" + strings.TrimPrefix(string(tail), `{"events":[]`))
	}
}

// list is a document that is written while it is read: an object whose first member is the list of events.
type list struct {
	c       *call
	begun   bool
	scratch []byte
}

func (c *call) openList() *list { return &list{c: c} }

// begin sends the head of the answer. Errors before it are answered with an envelope.
func (l *list) begin() error {
	if l.begun {
		return nil
	}
	l.begun = true
	l.c.w.Header().Set("Content-Type", "application/json")
	l.c.w.WriteHeader(http.StatusOK)
	_, err := l.c.w.Write([]byte(`{"events":[`))
	return err
}

// add writes an event.
func (l *list) add(e openwop.RunEvent) error {
	l.scratch = l.scratch[:0]
	if l.begun {
		l.scratch = append(l.scratch, ',')
	}
	text, err := appendDocument(l.scratch, e)
	if err != nil {
		return err
	}
	l.scratch = text
	if err := l.begin(); err != nil {
		return err
	}
	_, err = l.c.w.Write(text)
	return err
}

// end writes the rest of the document.
func (l *list) end(text string) error {
	if err := l.begin(); err != nil {
		return err
	}
	_, err := l.c.w.Write(invisible.EscapeJSON([]byte(text)))
	return err
}

// appendDocument appends a JSON document as it is sent.
func appendDocument(dst []byte, doc any) ([]byte, error) {
	n := len(dst)
	dst, err := canon.Append(dst, doc)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "an event cannot be written as JSON")
	}
	if safe := invisible.EscapeJSON(dst[n:]); len(safe) != len(dst)-n {
		dst = append(dst[:n], safe...)
	}
	return dst, nil
}
