package clienttest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Message is one message of a stream.
type Message struct {
	ID    string // "" for what is in no log
	Event string
	Data  string
}

// Events are the run events of a message, of a batch several.
func (m Message) Events() ([]Object, error) {
	text := m.Data
	if m.Event != "batch" {
		text = "[" + text + "]"
	}
	var out []Object
	err := json.Unmarshal([]byte(text), &out)
	return out, err
}

// StreamOptions select what a stream sends.
type StreamOptions struct {
	Mode     string // "" for the default
	BufferMs int
	After    string // continue behind the event with this id, "" for the beginning
}

// Stream follows a run to its end, and calls each with every message. Where the connection breaks, or the host asks
// for it, it continues behind the last message with an id. It returns how often it connected, and an error that each
// returned, of an answer from 400 on that is final, or of ctx.
//
// A stream has ended once its last message is the last event of the run. Modes without that event end with the
// connection, if the run has ended.
func (c *Client) Stream(ctx context.Context, run string, o StreamOptions, each func(Message) error) (connects int,
	err error) {
	last, ended := o.After, false
	for {
		connects++
		again, err := c.connect(ctx, run, o, last, func(m Message) error {
			if m.ID != "" {
				last = m.ID
			}
			if ended = ended || Terminal(m.Event); !ended && m.Event == "batch" {
				all, err := m.Events()
				if err != nil {
					return err
				}
				for _, e := range all {
					word, _ := e["type"].(string)
					ended = ended || Terminal(word)
				}
			}
			return each(m)
		})
		if err != nil && !again || ended {
			return connects, err
		}
		if err == nil {
			state, err := c.Run(ctx, run)
			if err != nil {
				return connects, err
			}
			word, _ := state["status"].(string)
			if hidden := o.Mode == "values" || o.Mode == "messages"; hidden && Terminal(word) {
				return connects, nil
			}
		}
		if c.Retried != nil {
			c.Retried(err) // nil: the host ended the stream before the run
		}
		if err := c.pause(ctx, nil); err != nil {
			return connects, err
		}
	}
}

// connect reads a stream until its connection ends; again reports an error after which it may be opened again.
func (c *Client) connect(ctx context.Context, run string, o StreamOptions, last string,
	each func(Message) error) (again bool, err error) {
	query := url.Values{}
	if o.Mode != "" {
		query.Set("streamMode", o.Mode)
	}
	if o.BufferMs > 0 {
		query.Set("bufferMs", strconv.Itoa(o.BufferMs))
	}
	r := request{method: http.MethodGet, path: runPath(run) + "/events?" + query.Encode(),
		header: http.Header{"Accept": {"text/event-stream"}}}
	if last != "" {
		r.header.Set("Last-Event-ID", last)
	}
	req, err := c.build(ctx, r, nil)
	if err != nil {
		return false, err
	}
	res, err := c.http().Do(req)
	if err != nil {
		return ctx.Err() == nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		var body Object
		_ = json.NewDecoder(res.Body).Decode(&body)
		busy := res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusServiceUnavailable
		return busy, errorOf(res.StatusCode, body)
	}
	if kind := res.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		return false, fmt.Errorf("a stream is text/event-stream, not %q", kind)
	}
	return read(ctx, bufio.NewReader(res.Body), each)
}

// read passes messages on. A message that the end of the connection cuts off is dropped: it is sent again.
func read(ctx context.Context, in *bufio.Reader, each func(Message) error) (again bool, err error) {
	var m Message
	var data []string
	for {
		line, err := in.ReadString('\n')
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return ctx.Err() == nil, err
		}
		line = strings.TrimRight(line, "\r\n")
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if len(data) > 0 {
				m.Data = strings.Join(data, "\n")
				if err := each(m); err != nil {
					return false, err
				}
			}
			m, data = Message{}, nil
		case name == "id":
			m.ID = value
		case name == "event":
			m.Event = value
		case name == "data":
			data = append(data, value)
		}
	}
}

// Events reads the events of a run as one document.
func (c *Client) Events(ctx context.Context, run, mode string) ([]Object, error) {
	path := runPath(run) + "/events"
	if mode != "" {
		path += "?streamMode=" + url.QueryEscape(mode)
	}
	out, err := c.call(ctx, request{method: http.MethodGet, path: path,
		header: http.Header{"Accept": {"application/json"}}})
	if err != nil {
		return nil, err
	}
	return objects(out.Body, "events")
}

// Poll reads the events behind a sequence (-1: all), and waits at most some seconds for one; complete reports that
// the run has ended and no event will follow.
func (c *Client) Poll(ctx context.Context, run string, after int64, seconds int) (events []Object, complete bool,
	err error) {
	query := url.Values{"timeout": {strconv.Itoa(seconds)}}
	if after >= 0 {
		query.Set("lastSequence", strconv.FormatInt(after, 10))
	}
	out, err := c.get(ctx, runPath(run)+"/events/poll?"+query.Encode())
	if err != nil {
		return nil, false, err
	}
	complete, _ = out["isComplete"].(bool)
	events, err = objects(out, "events")
	return events, complete, err
}

// PollAll polls a run to its end, and returns its events.
func (c *Client) PollAll(ctx context.Context, run string) (all []Object, err error) {
	for after := int64(-1); ; {
		events, complete, err := c.Poll(ctx, run, after, 10)
		if err != nil {
			return all, err
		}
		for _, e := range events {
			n, ok := e["sequence"].(float64)
			if !ok || int64(n) != after+1 {
				return all, fmt.Errorf("the event behind %d has the sequence %v", after, e["sequence"])
			}
			after = int64(n)
		}
		if all = append(all, events...); complete {
			return all, nil
		}
	}
}
