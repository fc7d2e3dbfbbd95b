package httpserver

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/openwop"
)

// ofSize is a valid request to create a run with exactly n bytes.
func ofSize(n int) string {
	const head, tail = `{"workflowId":"wr.demo","inputs":{}`, `}`
	return head + strings.Repeat(" ", n-len(head)-len(tail)) + tail
}

// TestTheLimitOfABodyIsExact: with and without Content-Length, and the connection ends behind a body that is too large.
func TestTheLimitOfABodyIsExact(t *testing.T) {
	t.Parallel()
	s := serve(t, func(n *tuning) { n.drain = 50 * time.Millisecond })
	chunked := func(body string) string {
		var b strings.Builder
		for len(body) > 0 {
			n := min(len(body), 30_000)
			fmt.Fprintf(&b, "%x\r\n%s\r\n", n, body[:n])
			body = body[n:]
		}
		return b.String() + "0\r\n\r\n"
	}
	for _, c := range []struct {
		name   string
		body   string
		header string
		status int
	}{
		{"the limit", ofSize(limits.HTTPBodyBytesMax), fmt.Sprintf("Content-Length: %d", limits.HTTPBodyBytesMax), 201},
		{"one more", ofSize(limits.HTTPBodyBytesMax + 1), fmt.Sprintf("Content-Length: %d", limits.HTTPBodyBytesMax+1), 413},
		{"the limit in chunks", chunked(ofSize(limits.HTTPBodyBytesMax)), "Transfer-Encoding: chunked", 201},
		{"one more in chunks", chunked(ofSize(limits.HTTPBodyBytesMax + 1)), "Transfer-Encoding: chunked", 413},
		{"a huge length and no body", "", "Content-Length: 999999999999", 413},
	} {
		c := c
		t.Run(c.name, func(t *testing.T) {
			got := rawAnswer(t, s.raw(s.head("POST /v1/runs HTTP/1.1", "Content-Type: application/json", c.header, "Connection: close")+c.body))
			if got.status != c.status {
				t.Fatalf("%d %.200s", got.status, got.body)
			}
			if c.status == 413 && (got.code(t) != "payload_too_large" || got.details(t)["maxRequestBodyBytes"] != float64(1<<20)) {
				t.Errorf("%s", got.body)
			}
		})
	}
	for _, call := range s.host.called() {
		if strings.HasPrefix(call, "CreateRun") {
			continue
		}
		t.Errorf("the host was called: %s", call)
	}
	if n := len(s.host.called()); n != 2 {
		t.Errorf("%d calls", n)
	}
}

// TestAWrongLengthIsNoSecondRequest: what follows a short length is no request of its own, and a long one ends in time.
func TestAWrongLengthIsNoSecondRequest(t *testing.T) {
	t.Parallel()
	s := serve(t, func(n *tuning) {
		n.headerRead, n.bodyRead, n.drain = time.Second, time.Second, 50*time.Millisecond
	})
	text := s.raw(s.head("POST /v1/runs HTTP/1.1", "Content-Type: application/json", "Content-Length: 10") + `{"workflowId":"wr.demo"}`)
	if n := strings.Count(text, "HTTP/1.1 400"); n != 2 || strings.Contains(text, "HTTP/1.1 20") {
		t.Errorf("a length that is too small: %q", text)
	}
	got := rawAnswer(t, s.raw(s.head("POST /v1/runs HTTP/1.1", "Content-Type: application/json", "Content-Length: 1000")+`{"workflowId"`))
	if got.status != 400 || !strings.Contains(got.body, "did not arrive in time") {
		t.Errorf("half a body: %d %s", got.status, got.body)
	}
	if len(s.host.called()) != 0 {
		t.Errorf("the host was called: %v", s.host.called())
	}
}

// TestHalfSentRequestsEnd: in the request line, in the headers, in a body; with and without a key.
func TestHalfSentRequestsEnd(t *testing.T) {
	t.Parallel()
	s := serve(t, func(n *tuning) {
		n.headerRead, n.bodyRead, n.drain, n.idle = 100*time.Millisecond, 100*time.Millisecond, 50*time.Millisecond, 100*time.Millisecond
	})
	for _, text := range []string{"", "GET", "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ",
		s.head("POST /v1/runs HTTP/1.1", "Content-Type: application/json", "Content-Length: 9") + "{",
		s.head("POST /v1/runs HTTP/1.1", "Content-Type: application/json", "Transfer-Encoding: chunked") + "5\r\n{",
		"POST /v1/runs HTTP/1.1\r\nHost: " + s.addr + "\r\nContent-Length: 9\r\n\r\n{",
		s.head("GET /v1/workflows/wr.demo HTTP/1.1"), // complete, and then silent
	} {
		if got := s.raw(text); strings.Contains(got, " 201 ") { // returns: the server closed the connection
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestASlowBodyHoldsNoOther: a request that waits for its body takes a turn, and the others have theirs.
func TestASlowBodyHoldsNoOther(t *testing.T) {
	t.Parallel()
	s := serve(t, func(n *tuning) { n.requestsMax = 2 })
	c := s.dial()
	_, _ = io.WriteString(c, s.head("POST /v1/runs HTTP/1.1", "Content-Type: application/json", "Content-Length: 9")+"{")
	for range 5 {
		if got := s.do("GET", "/v1/workflows/wr.demo", ""); got.status != 200 {
			t.Errorf("%d", got.status)
		}
	}
}

func TestABusyServerSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	s := serve(t, func(n *tuning) { n.requestsMax, n.turn = 1, 50*time.Millisecond })
	block, entered := make(chan struct{}), make(chan string, 1)
	s.host.set(func() { s.host.block, s.host.entered = block, entered })
	first := make(chan answered)
	go func() { first <- s.do("GET", "/v1/workflows/wr.demo", "") }()
	<-entered
	got := s.do("GET", "/v1/workflows/wr.demo", "")
	if got.status != 503 || got.code(t) != "unavailable" || got.header.Get("Retry-After") != "1" || got.details(t)["correlationId"] == nil {
		t.Errorf("%d %s", got.status, got.body)
	}
	close(block)
	if got := <-first; got.status != 200 {
		t.Errorf("the first: %d", got.status)
	}
}

// TestBodiesAreStrict: what is not JSON of the route's form is refused with its place, before a use case is called.
func TestBodiesAreStrict(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.host.addRun().add(openwop.RunStarted)
	draft := s.host.addProposal()
	create, cancel, bulk := "POST /v1/runs", "POST /v1/runs/"+run.id+"/cancel", "POST /v1/runs:bulk-cancel"
	patch, apply := "PATCH "+proposalPath+"/"+draft, "POST "+proposalPath+"/"+draft+"/apply"
	for _, c := range []struct{ route, body, pointer, reason string }{
		{create, `{`, "", ""},
		{create, ` `, "", ""},
		{create, `[]`, "", ""},
		{create, `null`, "", ""},
		{create, `{"workflowId":"wr.demo"} x`, "", ""},
		{create, `{}`, "", ""},
		{create, `{"workflowId":""}`, "/workflowId", ""},
		{create, `{"workflowId":7}`, "/workflowId", ""},
		{create, `{"workflowId":"wr.demo","unknown":1}`, "/unknown", "has no key"},
		{create, `{"workflowId":"wr.demo","inputs":{"a":1,"a":2}}`, "/inputs", "duplicate key"},
		{create, `{"workflowId":"wr.demo","inputs":{"a":1,"A":2}}`, "", ""},
		{create, `{"workflowId":"wr.demo","inputs":{"a":9007199254740993}}`, "/inputs/a", "send it as a string"},
		{create, `{"workflowId":"wr.demo","inputs":[]}`, "/inputs", ""},
		{create, `{"workflowId":"wr.demo","configurable":1}`, "/configurable", ""},
		{create, `{"workflowId":"wr.demo","metadata":"x"}`, "/metadata", ""},
		{create, `{"workflowId":"wr.demo","tags":"x"}`, "/tags", ""},
		{create, "{\"workflowId\":\"\xff\"}", "", ""},
		{create, `{"workflowId":"\ud800"}`, "", ""},
		{create, `{"workflowId":"wr.demo","inputs":` + strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 71), "", ""},
		{cancel, `{"reason":7}`, "/reason", ""},
		{cancel, `{"why":"x"}`, "", "unknown key"},
		{cancel, `"x"`, "", ""},
		{bulk, `{"runIds":"x"}`, "/runIds", ""},
		{bulk, `{"runIds":[7]}`, "/runIds/0", ""},
		{bulk, `{"reason":"x"}`, "", ""},
		{patch, `{}`, "", ""},
		{patch, `{"state":"applied"}`, "", "unknown key"},
		{patch, `{"title":7}`, "/title", ""},
		{patch, `{"title":null}`, "/title", ""},
		{patch, `{"artifact":[]}`, "/artifact", ""},
		{apply, `{"force":true}`, "", "unknown key"},
		{create, `{"workflowId":"wr.demo","sk-abcdefghijklmnopqrstuvwx":1}`, "", ""},
	} {
		method, path, _ := strings.Cut(c.route, " ")
		got := s.do(method, path, c.body)
		if got.status != 400 || got.code(t) != "validation_error" {
			t.Errorf("%s %.80s: %d %s", c.route, c.body, got.status, got.body)
			continue
		}
		if c.pointer != "" && got.details(t)["pointer"] != c.pointer || !strings.Contains(got.body, c.reason) ||
			strings.Contains(got.body, "sk-abc") {
			t.Errorf("%s %.80s: %s", c.route, c.body, got.body)
		}
	}
	if got := s.do("POST", "/v1/runs", ""); got.status != 400 || !strings.Contains(got.body, "a body is required") {
		t.Errorf("no body: %d %s", got.status, got.body)
	}
	many := `{"workflowId":"wr.demo","inputs":{"a":[` + strings.Repeat("1,", limits.HTTPBodyValuesMax) + `1]}}`
	if got := s.do("POST", "/v1/runs", many); got.status != 413 || got.details(t)["maxValues"] == nil {
		t.Errorf("many values: %d %s", got.status, got.body)
	}
	if calls := s.host.called(); len(calls) != 0 {
		t.Errorf("the host was called: %v", calls)
	}
}

func TestABodyIsPlainJSON(t *testing.T) {
	t.Parallel()
	s := serve(t)
	body := `{"workflowId":"wr.demo"}`
	for header, status := range map[string]int{
		"Content-Type: application/json":                    201,
		"Content-Type: application/json; charset=utf-8":     201,
		"Content-Type: Application/JSON; charset=\"UTF-8\"": 201,
		"Content-Type: application/json; charset=latin1":    415,
		"Content-Type: text/plain":                          415,
		"Content-Type: application/x-www-form-urlencoded":   415,
		"Content-Type: application/jsonx":                   415,
		"Content-Type: ;":                                   415,
		"Content-Type: -":                                   415,
		"Content-Encoding: gzip":                            415,
	} {
		got := s.do("POST", "/v1/runs", body, header)
		if got.status != status || status == 415 && got.code(t) != "unsupported_media_type" {
			t.Errorf("%s: %d %s", header, got.status, got.body)
		}
	}
}

// TestKnownParametersAreChecked: unknown ones are ignored, also those that are not encoded as a URL requires.
func TestKnownParametersAreChecked(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.host.addRun().add(openwop.RunStarted, openwop.RunCompleted)
	events, poll := "/v1/runs/"+run.id+"/events?", "/v1/runs/"+run.id+"/events/poll?"
	for path, status := range map[string]int{
		events + "x=%zz&=&&y;z&%gg=1":                     200,
		events + "streamMode=debug&streamMode=debug":      400,
		events + "streamMode=%zz":                         400,
		events + "bufferMs=5000":                          200,
		events + "bufferMs=5001":                          400,
		events + "bufferMs=-1":                            400,
		events + "bufferMs=1e3":                           400,
		events + "bufferMs=":                              400,
		events + "bufferMs=007":                           400,
		events + "bufferMs=1;2":                           400,
		events + "lastEventId=x":                          400,
		events + "lastEventId=99999999999999999":          400,
		events + "lastEventId=9007199254740992":           200,
		poll + "lastSequence=99999":                       200,
		poll + "lastSequence=-1":                          400,
		poll + "lastSequence=1.5":                         400,
		poll + "timeout=0":                                200,
		poll + "timeout=100000":                           200,
		poll + "timeout=x":                                400,
		proposalPath + "?state=draft&kind=automation&x=1": 200,
		proposalPath + "?state=live":                      400,
		proposalPath + "?state=":                          400,
		proposalPath + "?kind=rule":                       400,
		"/v1/runs/" + run.id + "?timeout=x":               200,
	} {
		if got := s.do("GET", path, ""); got.status != status {
			t.Errorf("%s: %d %s; want %d", path, got.status, got.body, status)
		} else if status == 400 {
			got.code(t)
		}
	}
	for _, value := range []string{"x", "-1", "", "1 "} {
		got := rawAnswer(t, s.raw(s.head("GET "+strings.TrimSuffix(events, "?")+" HTTP/1.1", "Last-Event-ID: a"+value, "Connection: close")))
		if got.status != 400 {
			t.Errorf("Last-Event-ID %q: %d", value, got.status)
		}
	}
}

// FuzzQuery: no query makes the parser panic, and what it accepts has only known names.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"streamMode=updates,debug&bufferMs=10", "a=%zz&&=&streamMode", "bufferMs=1&bufferMs=2", ";", "%"} {
		f.Add(seed)
	}
	known := eventRoutes()[0].query
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := parseQuery(raw, known)
		if err != nil {
			return
		}
		for name, value := range got {
			if name == "streamMode" {
				continue
			}
			if name != "bufferMs" && name != "lastEventId" {
				t.Errorf("an unknown parameter: %q", name)
			}
			if n, err := natural("x", value, 5000); err == nil && fmt.Sprint(n) != value {
				t.Errorf("%q is read as %d", value, n)
			}
		}
	})
}
