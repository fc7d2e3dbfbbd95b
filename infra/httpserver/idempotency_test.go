package httpserver

import (
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/openwop"
)

func TestTheSameKeyGetsTheSameAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.host.addRun().add(openwop.RunStarted)
	draft := s.host.addProposal()
	for i, c := range []struct{ method, path, body string }{
		{"POST", "/v1/runs", `{"workflowId":"wr.demo","inputs":{"n":1}}`},
		{"POST", "/v1/runs/" + run.id + "/annotations", `{"signal":{"kind":"flag"}}`},
		{"POST", "/v1/runs/" + run.id + ":pause", `{"reason":"r"}`},
		{"POST", "/v1/runs/" + run.id + ":resume", `{"reason":"r"}`},
		{"POST", "/v1/runs/" + run.id + "/cancel", `{"reason":"r"}`},
		{"POST", "/v1/runs:bulk-cancel", `{"runIds":["` + run.id + `"]}`},
		{"PATCH", proposalPath + "/" + draft, `{"title":"second"}`},
		{"POST", proposalPath + "/" + draft + "/reject", ``},
		{"DELETE", proposalPath + "/" + draft, ``},
		{"POST", proposalPath + "/" + draft + "/apply", ``},
		{"POST", proposalPath + "/none/apply", ``},
	} {
		key := "Idempotency-Key: key-" + itoa(i)
		first := s.do(c.method, c.path, c.body, key)
		calls := len(s.host.called())
		again := s.do(c.method, c.path, c.body, key)
		if first.header.Get(replayHeader) != "false" || again.header.Get(replayHeader) != "true" {
			t.Errorf("%s %s: %s, then %s", c.method, c.path, first.header.Get(replayHeader), again.header.Get(replayHeader))
		}
		if same := again.body == first.body || c.path == "/v1/runs" && again.json(t)["runId"] == first.json(t)["runId"]; !same ||
			again.status != first.status {
			t.Errorf("%s %s: %d %s, then %d %s", c.method, c.path, first.status, first.body, again.status, again.body)
		}
		if c.path != "/v1/runs" && len(s.host.called()) != calls {
			t.Errorf("%s %s: the use case was called again", c.method, c.path)
		}
		// The member order and white space of the body are no other request, and another body is.
		if c.body != "" {
			spaced := s.do(c.method, c.path, " "+strings.ReplaceAll(c.body, ":", " : "), key)
			if spaced.status != first.status || spaced.header.Get(replayHeader) != "true" {
				t.Errorf("%s %s, spelled otherwise: %d %s", c.method, c.path, spaced.status, spaced.body)
			}
		}
		other := `{"reason":"other"}`
		if c.path == "/v1/runs" {
			other = `{"workflowId":"wr.demo","inputs":{"n":2}}`
		}
		got := s.do(c.method, c.path, other, key)
		if got.status != 409 || got.code(t) != "idempotency_key_mismatch" || strings.Contains(got.body, "run_") {
			t.Errorf("%s %s, another body: %d %s", c.method, c.path, got.status, got.body)
		}
	}
}

// TestAKeyOfAnotherPathIsAMismatch: the answer about one run is no answer about another.
func TestAKeyOfAnotherPathIsAMismatch(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a, b := s.host.addRun().add(openwop.RunStarted), s.host.addRun().add(openwop.RunStarted)
	if got := s.do("POST", "/v1/runs/"+a.id+"/cancel", "", "Idempotency-Key: k"); got.status != 200 {
		t.Fatalf("%d", got.status)
	}
	got := s.do("POST", "/v1/runs/"+b.id+"/cancel", "", "Idempotency-Key: k")
	if got.status != 409 || strings.Contains(got.body, a.id) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestPassingRefusalsAreNotKept: what depends on the input, the key, the load or the approvals of people is decided again.
func TestPassingRefusalsAreNotKept(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.host.addRun().add(openwop.RunStarted)
	draft := s.host.addProposal()
	cancel, apply := "/v1/runs/"+run.id+"/cancel", proposalPath+"/"+draft+"/apply"
	try := func(path string, status int, headers ...string) {
		t.Helper()
		if got := s.do("POST", path, `{}`, append(headers, "Idempotency-Key: k")...); got.status != status {
			t.Errorf("%s: %d %s; want %d", path, got.status, got.body, status)
		}
	}
	for code, status := range map[fault.Code]int{fault.ValidationError: 400, fault.ProposalForbidden: 403, fault.SessionLocked: 503,
		fault.StoreCorrupt: 500} {
		s.host.failWith("Cancel", fault.New(code, "x"))
		try(cancel, status)
	}
	s.host.failWith("Cancel", nil)
	try(cancel, 401, "Authorization: -")
	try(cancel, 403, "Authorization: Bearer "+noneKey)
	try(cancel, 200)
	s.host.set(func() { s.host.pending = &PendingGate{Want: 1} })
	try(apply, 202)
	s.host.set(func() { s.host.pending = nil })
	try(apply, 200)
}

// TestParallelRequestsWithOneKeyAreOne: ten requests give one run, and nine replays.
func TestParallelRequestsWithOneKeyAreOne(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, c := range []struct{ path, body, use string }{{"/v1/runs", `{"workflowId":"wr.demo"}`, "CreateRun"},
		{"/v1/runs:bulk-cancel", `{"runIds":["run_x"]}`, "Cancel"}} {
		var wait sync.WaitGroup
		got := make([]answered, 10)
		for i := range got {
			wait.Go(func() { got[i] = s.do("POST", c.path, c.body, "Idempotency-Key: parallel") })
		}
		wait.Wait()
		replays := 0
		for _, a := range got {
			if a.status >= 300 || a.json(t)["runId"] != got[0].json(t)["runId"] || a.json(t)["results"] == nil && a.status != 201 {
				t.Errorf("%s: %d %s", c.path, a.status, a.body)
			}
			if a.header.Get(replayHeader) == "true" {
				replays++
			}
		}
		if replays != 9 {
			t.Errorf("%s: %d replays", c.path, replays)
		}
	}
}

// TestARequestWaitsForTheOneBeforeIt: not longer than its time; then it is answered when to try again.
func TestARequestWaitsForTheOneBeforeIt(t *testing.T) {
	t.Parallel()
	s := serve(t, func(n *tuning) { n.turn = 50 * time.Millisecond })
	run := s.host.addRun().add(openwop.RunStarted)
	block, entered := make(chan struct{}), make(chan string, 10)
	s.host.set(func() { s.host.block, s.host.entered = block, entered })
	path := "/v1/runs/" + run.id + "/cancel"
	first := make(chan answered)
	go func() { first <- s.do("POST", path, "", "Idempotency-Key: k") }()
	<-entered
	second := make(chan answered, 1)
	go func() { second <- s.do("POST", path, "", "Idempotency-Key: k") }()
	var got answered
	select {
	case got = <-second:
	case <-entered:
		close(block)
		<-first
		t.Fatal("the second is executed beside the first")
	}
	if got.status != 409 || got.code(t) != "idempotency_in_flight" || got.header.Get("Retry-After") != "1" ||
		got.details(t)["retryAfter"] != 1.0 {
		t.Errorf("%d %s", got.status, got.body)
	}
	close(block)
	if got := <-first; got.status != 200 {
		t.Errorf("the first: %d", got.status)
	}
	if got := s.do("POST", path, "", "Idempotency-Key: k"); got.status != 200 || got.header.Get(replayHeader) != "true" {
		t.Errorf("after it: %d", got.status)
	}
}

// TestTheAnswerToAVanishedClientIsKept: it asks again, with its key.
func TestTheAnswerToAVanishedClientIsKept(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.host.addRun().add(openwop.RunStarted)
	block, entered := make(chan struct{}), make(chan string, 10)
	s.host.set(func() { s.host.block, s.host.entered, s.host.deaf = block, entered, true })
	c := s.dial()
	if _, err := io.WriteString(c, s.head("POST /v1/runs/"+run.id+"/cancel HTTP/1.1", "Idempotency-Key: k")); err != nil {
		t.Fatal(err)
	}
	<-entered
	_ = c.Close()
	s.eventually("the server notices it", func() bool {
		s.host.mu.Lock()
		defer s.host.mu.Unlock()
		return s.host.request.Err() != nil
	})
	close(block)
	s.entries(1)
	if got := s.do("POST", "/v1/runs/"+run.id+"/cancel", "", "Idempotency-Key: k"); got.status != 200 || got.header.Get(replayHeader) != "true" {
		t.Errorf("%d %v", got.status, got.header)
	}
}

// TestTurnsAreForgotten: a key that no request has or wants costs no memory.
func TestTurnsAreForgotten(t *testing.T) {
	t.Parallel()
	var f inflight
	a, b := f.join([32]byte{1}), f.join([32]byte{1})
	other := f.join([32]byte{2})
	if a != b || a == other || len(f.turns) != 2 {
		t.Errorf("%d turns", len(f.turns))
	}
	f.leave([32]byte{1}, a)
	if f.join([32]byte{1}) != b {
		t.Error("a turn is forgotten that a request wants")
	}
	f.leave([32]byte{1}, a)
	f.leave([32]byte{1}, b)
	f.leave([32]byte{2}, other)
	if len(f.turns) != 0 {
		t.Errorf("%d turns are left", len(f.turns))
	}
}

func TestAnIdempotencyKeyHasAForm(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.host.addRun().add(openwop.RunStarted)
	for _, path := range []string{"/v1/runs", "/v1/runs/" + run.id + "/cancel"} {
		body := `{"workflowId":"wr.demo"}`
		if path != "/v1/runs" {
			body = `{}`
		}
		for _, key := range []string{"Idempotency-Key: ", "Idempotency-Key: " + strings.Repeat("k", 256), "Idempotency-Key: a b",
			"Idempotency-Key: ä", "Idempotency-Key: a\r\nIdempotency-Key: b"} {
			text := s.raw(s.head("POST "+path+" HTTP/1.1", "Content-Type: application/json", key, "Connection: close",
				"Content-Length: "+itoa(len(body))) + body)
			if got := rawAnswer(t, text); got.status != 400 {
				t.Errorf("%s %q: %d %s", path, key, got.status, got.body)
			}
		}
		if got := s.do("POST", path, body, "Idempotency-Key: "+strings.Repeat("k", 255)); got.status >= 300 {
			t.Errorf("%s, 255 bytes: %d", path, got.status)
		}
	}
	// A route that reads has none: the header is ignored.
	if got := s.do("GET", "/v1/runs/"+run.id, "", "Idempotency-Key: "+strings.Repeat("k", 256)); got.status != 200 ||
		got.header.Get(replayHeader) != "" {
		t.Errorf("GET: %d", got.status)
	}
}

// TestAnAnswerIsSentThoughItsRecordFails: the call was performed. The log has the failure.
func TestAnAnswerIsSentThoughItsRecordFails(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.host.addRun().add(openwop.RunStarted)
	s.host.failWith("Record", fault.New(fault.StoreLocked, "busy"))
	if got := s.do("POST", "/v1/runs/"+run.id+"/cancel", "", "Idempotency-Key: k"); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if e := s.entries(1)[0]; e.Status != 200 || !fault.Is(e.Err, fault.Internal) {
		t.Errorf("the log has %+v", e)
	}
	s.host.failWith("Replay", fault.New(fault.StoreLocked, "busy"))
	if got := s.do("POST", "/v1/runs/"+run.id+"/cancel", "", "Idempotency-Key: k"); got.status != 503 {
		t.Errorf("the record cannot be read: %d", got.status)
	}
}
