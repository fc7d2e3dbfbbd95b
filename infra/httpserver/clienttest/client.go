// Package clienttest is a client of the OpenWOP protocol for tests, written against the protocol and not against this
// server: it imports nothing of the module, and knows documents only as JSON (docs/design.md#openwop-server). Tests
// walk a host with it while they kill the host: each call repeats itself until it has an answer, with the idempotency
// key of its first try, and a stream continues behind the last event that it had.
//
// It is no part of the program. Start reading at Client.
package clienttest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Object is a JSON object.
type Object = map[string]any

// Client calls one host. URL and Key are required. A Client is for any number of goroutines.
type Client struct {
	URL  func() string // of the host, such as http://127.0.0.1:8731; it may change when the host starts again
	Key  func() string
	HTTP *http.Client // nil: one without a timeout
	// Pause is how long a call waits before it repeats itself, 50 ms if zero.
	Pause time.Duration
	// Retried is called before a call or a stream repeats itself, with the reason; nil for none.
	Retried func(why error)
}

// Error is an answer from 400 on.
type Error struct {
	Status  int
	Code    string // of the error envelope
	Message string
	Details Object
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Message) }

// Reply is an answer below 400.
type Reply struct {
	Status   int
	Header   http.Header
	Body     Object
	Replayed bool // the answer was recorded for the idempotency key
	Tries    int  // 1: the first try was answered
}

// request is one call.
type request struct {
	method, path string
	body         any
	key          string // the idempotency key, "" for none
	header       http.Header
}

// call sends a request until it is answered, or ctx is done. What is sent again: everything that failed before a
// whole answer was read, and the answers by which a host asks for it: 429, 503, and 409 while another try is
// executed.
//
// A request that changes something has an idempotency key, so that a repetition has no second effect.
func (c *Client) call(ctx context.Context, r request) (Reply, error) {
	var body []byte
	if r.body != nil {
		var err error
		if body, err = json.Marshal(r.body); err != nil {
			return Reply{}, err
		}
	}
	for tries := 1; ; tries++ {
		out, again, err := c.try(ctx, r, body)
		out.Tries = tries
		if err == nil || !again {
			return out, err
		}
		if c.Retried != nil {
			c.Retried(err)
		}
		if err := c.pause(ctx, out.Header); err != nil {
			return out, err
		}
	}
}

// try sends a request once; again reports an error after which the same request may be sent again.
func (c *Client) try(ctx context.Context, r request, body []byte) (out Reply, again bool, err error) {
	req, err := c.build(ctx, r, body)
	if err != nil {
		return out, false, err
	}
	res, err := c.http().Do(req)
	if err != nil {
		return out, ctx.Err() == nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return out, ctx.Err() == nil, fmt.Errorf("the answer ended early: %w", err)
	}
	out = Reply{Status: res.StatusCode, Header: res.Header,
		Replayed: res.Header.Get("openwop-Idempotent-Replay") == "true"}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &out.Body); err != nil {
			return out, false, fmt.Errorf("the answer %d is no JSON object: %w", res.StatusCode, err)
		}
	}
	if res.StatusCode < 400 {
		return out, false, nil
	}
	e := errorOf(res.StatusCode, out.Body)
	busy := res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusServiceUnavailable ||
		res.StatusCode == http.StatusConflict && e.Code == "idempotency_in_flight"
	return out, busy, e
}

func errorOf(status int, body Object) *Error {
	e := &Error{Status: status}
	e.Code, _ = body["error"].(string)
	e.Message, _ = body["message"].(string)
	e.Details, _ = body["details"].(Object)
	return e
}

func (c *Client) build(ctx context.Context, r request, body []byte) (*http.Request, error) {
	var in io.Reader
	if body != nil {
		in = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, c.URL()+r.path, in)
	if err != nil {
		return nil, err
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.key != "" {
		req.Header.Set("Idempotency-Key", r.key)
	}
	if c.Key != nil {
		req.Header.Set("Authorization", "Bearer "+c.Key())
	}
	return req, nil
}

func (c *Client) http() *http.Client {
	if c.HTTP != nil {
		return c.HTTP
	}
	return http.DefaultClient
}

// pause waits before a repetition: as long as the host asks for, and not for long where it is gone.
func (c *Client) pause(ctx context.Context, h http.Header) error {
	wait := c.Pause
	if wait == 0 {
		wait = 50 * time.Millisecond
	}
	if s, err := strconv.Atoi(h.Get("Retry-After")); err == nil && s > 0 {
		wait = time.Duration(s) * time.Second
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// get is a call that changes nothing.
func (c *Client) get(ctx context.Context, path string) (Object, error) {
	out, err := c.call(ctx, request{method: http.MethodGet, path: path})
	return out.Body, err
}

// Discover reads the capabilities of the host. It needs no key.
func (c *Client) Discover(ctx context.Context) (Object, error) {
	return c.get(ctx, "/.well-known/openwop")
}

// OpenAPI reads the description of the routes.
func (c *Client) OpenAPI(ctx context.Context) (Object, error) { return c.get(ctx, "/v1/openapi.json") }

// Workflow reads a definition.
func (c *Client) Workflow(ctx context.Context, id string) (Object, error) {
	return c.get(ctx, "/v1/workflows/"+url.PathEscape(id))
}

// Create creates a run with an idempotency key, and returns its id.
func (c *Client) Create(ctx context.Context, key string, body Object) (run string, out Reply, err error) {
	out, err = c.call(ctx, request{method: http.MethodPost, path: "/v1/runs", body: body, key: key})
	if err != nil {
		return "", out, err
	}
	if run, _ = out.Body["runId"].(string); run == "" || out.Status != http.StatusCreated {
		return "", out, fmt.Errorf("a run is created with 201 and a runId, not %d %v", out.Status, out.Body)
	}
	return run, out, nil
}

// Fork forks a run with an idempotency key, and returns the id of the new one.
func (c *Client) Fork(ctx context.Context, key, run string, body Object) (fork string, out Reply, err error) {
	out, err = c.call(ctx, request{method: http.MethodPost, path: runPath(run) + ":fork", body: body, key: key})
	if err != nil {
		return "", out, err
	}
	if fork, _ = out.Body["runId"].(string); fork == "" || out.Status != http.StatusCreated || out.Body["sourceRunId"] != run {
		return "", out, fmt.Errorf("a run is forked with 201, a runId and the source, not %d %v", out.Status, out.Body)
	}
	return fork, out, nil
}

// Run reads the state of a run.
func (c *Client) Run(ctx context.Context, run string) (Object, error) {
	return c.get(ctx, runPath(run))
}

// Cancel requests the end of a run.
func (c *Client) Cancel(ctx context.Context, key, run, reason string) (Reply, error) {
	return c.call(ctx, request{method: http.MethodPost, path: runPath(run) + "/cancel", key: key,
		body: Object{"reason": reason}})
}

// BulkCancel requests the end of several runs, and returns the results in the order of the ids.
func (c *Client) BulkCancel(ctx context.Context, key string, runs []string, reason string) ([]Object, error) {
	out, err := c.call(ctx, request{method: http.MethodPost, path: "/v1/runs:bulk-cancel", key: key,
		body: Object{"runIds": runs, "reason": reason}})
	if err != nil {
		return nil, err
	}
	results, err := objects(out.Body, "results")
	if err == nil && len(results) != len(runs) {
		err = fmt.Errorf("%d results for %d runs", len(results), len(runs))
	}
	return results, err
}

// Annotate records feedback about a run.
func (c *Client) Annotate(ctx context.Context, key, run string, body Object) (Reply, error) {
	return c.call(ctx, request{method: http.MethodPost, path: runPath(run) + "/annotations", body: body, key: key})
}

// Annotations lists the feedback about a run.
func (c *Client) Annotations(ctx context.Context, run string) ([]Object, error) {
	out, err := c.get(ctx, runPath(run)+"/annotations")
	if err != nil {
		return nil, err
	}
	return objects(out, "annotations")
}

const proposals = "/v1/host/sample/proposals"

// Proposals lists the proposals with a state and of a kind, "" for any.
func (c *Client) Proposals(ctx context.Context, state, kind string) ([]Object, error) {
	query := url.Values{}
	for name, value := range map[string]string{"state": state, "kind": kind} {
		if value != "" {
			query.Set(name, value)
		}
	}
	out, err := c.get(ctx, proposals+"?"+query.Encode())
	if err != nil {
		return nil, err
	}
	return objects(out, "proposals")
}

// Proposal reads one.
func (c *Client) Proposal(ctx context.Context, id string) (Object, error) {
	return c.get(ctx, proposalPath(id))
}

// Revise changes the members of a proposal that patch has: title, rationale, artifact.
func (c *Client) Revise(ctx context.Context, key, id string, patch Object) (Reply, error) {
	return c.call(ctx, request{method: http.MethodPatch, path: proposalPath(id), body: patch, key: key})
}

// Apply installs a proposal: 200, or 202 with what is pending. A host that is killed between the installation and its
// answer may answer the repetition with 409: then the proposal tells whether it is applied.
func (c *Client) Apply(ctx context.Context, key, id string) (Reply, error) {
	out, err := c.call(ctx, request{method: http.MethodPost, path: proposalPath(id) + "/apply", body: Object{}, key: key})
	if out.Tries > 1 {
		return c.inState(ctx, out, err, id, "applied")
	}
	return out, err
}

// Reject rejects a proposal.
func (c *Client) Reject(ctx context.Context, key, id, reason string) (Reply, error) {
	out, err := c.call(ctx, request{method: http.MethodPost, path: proposalPath(id) + "/reject", key: key,
		body: Object{"reason": reason}})
	if out.Tries > 1 {
		return c.inState(ctx, out, err, id, "rejected")
	}
	return out, err
}

// Archive archives a proposal.
func (c *Client) Archive(ctx context.Context, key, id string) (Reply, error) {
	out, err := c.call(ctx, request{method: http.MethodDelete, path: proposalPath(id), key: key})
	if out.Tries > 1 {
		return c.inState(ctx, out, err, id, "archived")
	}
	return out, err
}

// inState makes a conflict of a repetition a success if the proposal has the state that was asked for.
func (c *Client) inState(ctx context.Context, out Reply, err error, id, state string) (Reply, error) {
	var e *Error
	if !errors.As(err, &e) || e.Status != http.StatusConflict {
		return out, err
	}
	now, read := c.Proposal(ctx, id)
	if read != nil || now["state"] != state {
		return out, err
	}
	out.Status, out.Body = http.StatusOK, now
	return out, nil
}

func runPath(run string) string { return "/v1/runs/" + url.PathEscape(run) }

func proposalPath(id string) string { return proposals + "/" + url.PathEscape(id) }

// objects returns a member that is a list of objects.
func objects(doc Object, name string) ([]Object, error) {
	list, ok := doc[name].([]any)
	if !ok {
		return nil, fmt.Errorf("the answer has no list %s: %v", name, doc)
	}
	out := make([]Object, len(list))
	for i, v := range list {
		if out[i], ok = v.(Object); !ok {
			return nil, fmt.Errorf("item %d of %s is no object", i, name)
		}
	}
	return out, nil
}

// Terminal reports a type of event, or a state of a run, that is the last.
func Terminal(word string) bool {
	switch strings.TrimPrefix(word, "run.") {
	case "completed", "failed", "cancelled":
		return true
	}
	return false
}
