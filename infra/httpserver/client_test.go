package httpserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/infra/httpserver/clienttest"
)

// cut is a connection that breaks after a number of bytes in either direction.
type cut struct {
	net.Conn
	left *atomic.Int64
}

var errCut = errors.New("the connection is cut")

func (c cut) Read(p []byte) (int, error) {
	left := c.left.Load()
	if left <= 0 {
		_ = c.Close()
		return 0, errCut
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), left)])
	c.left.Add(-int64(n))
	return n, err
}

func (c cut) Write(p []byte) (int, error) {
	left := c.left.Load()
	if int64(len(p)) > left {
		n, _ := c.Conn.Write(p[:max(left, 0)])
		c.left.Store(0)
		_ = c.Close()
		return n, errCut
	}
	c.left.Add(-int64(len(p)))
	return c.Conn.Write(p)
}

// client is a client whose n-th connection breaks after first + n*step bytes; step 0 is one that never breaks.
func (s *served) client(first, step int64) (c *clienttest.Client, retries *atomic.Int64) {
	var connections atomic.Int64
	retries = new(atomic.Int64)
	web := &http.Transport{DisableKeepAlives: step > 0, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err != nil || step == 0 {
			return conn, err
		}
		left := new(atomic.Int64)
		left.Store(first + step*connections.Add(1))
		return cut{conn, left}, nil
	}}
	s.t.Cleanup(web.CloseIdleConnections)
	return &clienttest.Client{URL: func() string { return s.url }, Key: func() string { return allKey }, Pause: time.Millisecond,
		HTTP: &http.Client{Transport: web}, Retried: func(error) { retries.Add(1) }}, retries
}

// TestAClientOfTheProtocolWalksTheHost: over a connection that holds, and over ones that break in every place.
func TestAClientOfTheProtocolWalksTheHost(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]int64{"whole": 0, "broken": 37} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			c, retries := s.client(50, step)
			walkHost(t, s, c)
			if (retries.Load() > 0) != (step > 0) {
				t.Errorf("%d repetitions", retries.Load())
			}
			t.Logf("%d repetitions", retries.Load())
			s.eventually("all feeds are closed", func() bool { return s.host.feeds.Load() == 0 })
		})
	}
}

func walkHost(t *testing.T, s *served, c *clienttest.Client) {
	t.Helper()
	ctx := context.Background()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	doc, err := c.Discover(ctx)
	must(err)
	if doc["protocolVersion"] != "1.1" {
		t.Errorf("%v", doc)
	}
	_, err = c.Workflow(ctx, "wr.demo")
	must(err)
	run, _, err := c.Create(ctx, "create-1", clienttest.Object{"workflowId": "wr.demo"})
	must(err)
	again, reply, err := c.Create(ctx, "create-1", clienttest.Object{"workflowId": "wr.demo"})
	must(err)
	if again != run || !reply.Replayed {
		t.Errorf("the same key: %s, then %s, replayed %v", run, again, reply.Replayed)
	}
	r, err := s.host.find(run)
	must(err)
	go func() {
		r.add(openwop.RunStarted)
		for range 20 {
			r.add(openwop.NodeStarted, openwop.NodeCompleted)
		}
	}()
	var seen []string
	follow, stop := context.WithCancel(ctx)
	annotated := false
	_, err = c.Stream(follow, run, clienttest.StreamOptions{Mode: "debug"}, func(m clienttest.Message) error {
		if m.ID != "" {
			seen = append(seen, m.ID)
		}
		if len(seen) == 30 && !annotated {
			annotated = true
			_, err := c.Annotate(ctx, "annotate-1", run, clienttest.Object{"signal": clienttest.Object{"kind": "rating", "rating": 4}})
			return err
		}
		if len(seen) == 41 {
			_, err := c.Cancel(ctx, "cancel-1", run, "enough")
			return err
		}
		return nil
	})
	stop()
	must(err)
	var want []string
	for i := range 42 {
		want = append(want, fmt.Sprint(i))
	}
	if strings.Join(seen, " ") != strings.Join(want, " ") {
		t.Errorf("the stream had %v", seen)
	}
	polled, err := c.PollAll(ctx, run)
	must(err)
	listed, err := c.Events(ctx, run, "")
	must(err)
	if len(polled) != 42 || len(listed) != 42 {
		t.Errorf("%d polled, %d listed", len(polled), len(listed))
	}
	state, err := c.Run(ctx, run)
	must(err)
	notes, err := c.Annotations(ctx, run)
	must(err)
	if state["status"] != "cancelled" || len(notes) != 1 {
		t.Errorf("%v, %d annotations", state["status"], len(notes))
	}
	values := 0
	_, err = c.Stream(ctx, run, clienttest.StreamOptions{Mode: "values"}, func(clienttest.Message) error { values++; return nil })
	must(err)
	if values == 0 {
		t.Error("no snapshot")
	}
	results, err := c.BulkCancel(ctx, "bulk-1", []string{run, "none"}, "r")
	must(err)
	if results[0]["ok"] != true || results[1]["ok"] != false {
		t.Errorf("%v", results)
	}
	walkProposals(t, s, c)
	var e *clienttest.Error
	if _, err := c.Run(ctx, "none"); !errors.As(err, &e) || e.Status != 404 || e.Code != "run_not_found" {
		t.Errorf("an unknown run: %v", err)
	}
	s.host.mu.Lock()
	defer s.host.mu.Unlock()
	if len(s.host.runs) != 1 {
		t.Errorf("%d runs were created", len(s.host.runs))
	}
}

func walkProposals(t *testing.T, s *served, c *clienttest.Client) {
	t.Helper()
	ctx := context.Background()
	s.host.addProposal()
	s.host.addProposal()
	drafts, err := c.Proposals(ctx, "draft", "")
	if err != nil || len(drafts) != 2 {
		t.Fatalf("%v %v", drafts, err)
	}
	first, second := fmt.Sprint(drafts[0]["id"]), fmt.Sprint(drafts[1]["id"])
	if out, err := c.Revise(ctx, "revise-1", first, clienttest.Object{"title": "second"}); err != nil || out.Body["title"] != "second" {
		t.Errorf("%v %v", out, err)
	}
	s.host.set(func() { s.host.pending = &PendingGate{Have: 0, Want: 1, Role: "reviewer"} })
	if out, err := c.Apply(ctx, "apply-1", first); err != nil || out.Status != 202 || out.Body["pending"] == nil {
		t.Errorf("%v %v", out, err)
	}
	s.host.set(func() { s.host.pending = nil })
	if out, err := c.Apply(ctx, "apply-1", first); err != nil || out.Status != 200 || out.Body["state"] != "applied" {
		t.Errorf("%v %v", out, err)
	}
	if out, err := c.Reject(ctx, "reject-1", second, "no"); err != nil || out.Body["state"] != "rejected" {
		t.Errorf("%v %v", out, err)
	}
	if out, err := c.Archive(ctx, "archive-1", second); err != nil || out.Body["state"] != "archived" {
		t.Errorf("%v %v", out, err)
	}
	if out, err := c.Proposal(ctx, first); err != nil || out["state"] != "applied" {
		t.Errorf("%v %v", out, err)
	}
}
