//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/infra/httpserver/clienttest"
)

// scenario is a client of a server that has the fixtures. Unlike clienttest.Client it repeats nothing, and looks at status,
// headers and text.
type scenario struct {
	*testing.T
	s   *served
	key string
}

// answered is an answer, of any status.
type answered struct {
	status int
	header http.Header
	text   string
	json   map[string]any
}

// do sends a request; body nil is none.
func (c scenario) do(method, path string, body any, headers ...string) answered {
	c.Helper()
	var in io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			c.Fatal(err)
		}
		in = bytes.NewReader(text)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, c.s.client().URL()+path, in)
	if err != nil {
		c.Fatal(err)
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		c.Fatal(err)
	}
	out := answered{status: res.StatusCode, header: res.Header, text: string(text)}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &out.json); err != nil {
			c.Fatalf("%s %s: %d %q", method, path, res.StatusCode, text)
		}
	}
	return out
}

// as is the scenario with another key, "" for none.
func (c scenario) as(key string) scenario { c.key = key; return c }

// create creates a run of a fixture, which must succeed.
func (c scenario) create(fixture string, inputs object, headers ...string) string {
	c.Helper()
	body := object{"workflowId": fixture}
	if inputs != nil {
		body["inputs"] = inputs
	}
	r := c.do("POST", "/v1/runs", body, headers...)
	run, _ := r.json["runId"].(string)
	if r.status != 201 || run == "" || r.json["status"] == nil {
		c.Fatalf("create %s: %d %s", fixture, r.status, r.text)
	}
	return run
}

// until reads the state of a run until it has a status.
func (c scenario) until(run, status string) map[string]any {
	c.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		r := c.do("GET", "/v1/runs/"+run, nil)
		if r.status == 200 && r.json["status"] == status && r.json["runId"] == run {
			return r.json
		}
		if time.Now().After(deadline) {
			c.Fatalf("%s does not become %s: %d %s", run, status, r.status, r.text)
		}
	}
}

// poll reads the events of a run, which must have some, and requires what every event has.
func (c scenario) poll(run, query string) (events []map[string]any, text string) {
	c.Helper()
	r := c.do("GET", "/v1/runs/"+run+"/events/poll"+query, nil)
	list, _ := r.json["events"].([]any)
	if r.status != 200 || len(list) == 0 {
		c.Fatalf("poll: %d %s", r.status, r.text)
	}
	last := -1.0
	for _, e := range list {
		doc := e.(map[string]any)
		seq, ok := doc["sequence"].(float64)
		if _, payload := doc["payload"]; !payload || !ok || seq <= last {
			c.Errorf("%v", doc)
		}
		last = seq
		for _, name := range []string{"eventId", "runId", "type", "timestamp"} {
			if word, _ := doc[name].(string); word == "" {
				c.Errorf("%s is %v", name, doc[name])
			}
		}
		events = append(events, doc)
	}
	return events, r.text
}

// envelope requires the closed error envelope with a status and, unless it is "", a code.
func (c scenario) envelope(r answered, status int, code string) {
	c.Helper()
	for name := range r.json {
		if !slices.Contains([]string{"error", "message", "details"}, name) {
			c.Errorf("the envelope has %s", name)
		}
	}
	word, _ := r.json["error"].(string)
	message, _ := r.json["message"].(string)
	details, present := r.json["details"]
	if _, ok := details.(map[string]any); present && !ok || message == "" || word == "" || code != "" && word != code ||
		r.status != status {
		c.Errorf("want %d %s: %d %s", status, code, r.status, r.text)
	}
}

// stream follows a run in a mode for at most a time, and returns the messages; closed: the server ended the stream.
func (c scenario) stream(run, query string, most time.Duration, headers ...string) (all []clienttest.Message, closed bool) {
	c.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, "GET", c.s.client().URL()+"/v1/runs/"+run+"/events"+query, nil)
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Authorization", "Bearer "+c.key)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != 200 {
		c.Fatalf("%s: %d", query, res.StatusCode)
	}
	text, err := io.ReadAll(res.Body)
	for _, block := range strings.Split(string(text), "\n\n") {
		var m clienttest.Message
		for _, line := range strings.Split(block, "\n") {
			name, value, _ := strings.Cut(line, ": ")
			switch name {
			case "id":
				m.ID = value
			case "event":
				m.Event = value
			case "data":
				m.Data = value
			}
		}
		if m.Data != "" {
			all = append(all, m)
		}
	}
	return all, err == nil
}

// names are the events of messages.
func names(all []clienttest.Message) (out []string) {
	for _, m := range all {
		out = append(out, m.Event)
	}
	return out
}
