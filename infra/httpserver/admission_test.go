package httpserver

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/store/httpkeys"
)

// TestAListenerOfAnotherAddressIsNotServed: also where it was not made by Listen.
func TestAListenerOfAnotherAddressIsNotServed(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Skip(err)
	}
	if err := (Server{Hosts: []Host{newHost()}}).Serve(context.Background(), l); !fault.Is(err, fault.UsageError) {
		t.Errorf("%v", err)
	}
}

func TestAForeignHostIsRefused(t *testing.T) {
	t.Parallel()
	s := serve(t)
	_, port, _ := net.SplitHostPort(s.addr)
	for host, want := range map[string]int{
		"127.0.0.1:" + port: 200, "localhost:" + port: 200, "LOCALHOST:" + port: 200, "[::1]:" + port: 200,
		"127.0.0.1": 400, "localhost": 400, "example.com:" + port: 400, "localhost.example.com:" + port: 400,
		"127.0.0.1:1": 400, "localhost.:" + port: 400, "0.0.0.0:" + port: 400, "127.0.0.1.:" + port: 400, "127.0.0.2:" + port: 400,
	} {
		for _, path := range []string{"/.well-known/openwop", "/v1/openapi.json", "/v1/workflows/wr.demo"} {
			got := s.do("GET", path, "", "Host: "+host)
			if got.status != want {
				t.Errorf("Host %s: %d %s; want %d", host, got.status, got.body, want)
			}
			if want == 400 && got.code(t) != "validation_error" {
				t.Errorf("Host %s: %s", host, got.body)
			}
		}
	}
	// A request target with a host of its own is what counts, and HTTP/1.0 has no way around the rule.
	for _, text := range []string{"GET http://example.com/.well-known/openwop HTTP/1.1\r\nHost: " + s.addr + "\r\nConnection: close\r\n\r\n",
		"GET /.well-known/openwop HTTP/1.0\r\n\r\n"} {
		if got := rawAnswer(t, s.raw(text)); got.status != 400 {
			t.Errorf("%q: %d", text, got.status)
		}
	}
}

func TestRequestsOfWebPagesAreRefused(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, origin := range []string{"http://example.com", "null", s.url, "http://localhost"} {
		for _, c := range [][2]string{{"GET", "/.well-known/openwop"}, {"POST", "/v1/runs"}, {"OPTIONS", "/v1/runs"}} {
			got := s.do(c[0], c[1], "", "Origin: "+origin)
			if got.status != 403 || got.code(t) != "forbidden" {
				t.Errorf("Origin %s, %s: %d %s", origin, c[1], got.status, got.body)
			}
			for name := range got.header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("Origin %s: header %s", origin, name)
				}
			}
		}
	}
	if got := rawAnswer(t, s.raw(s.head("GET /v1/workflows/wr.demo HTTP/1.1", "Origin:", "Connection: close"))); got.status != 403 {
		t.Errorf("an empty Origin: %d", got.status)
	}
	if calls := s.host.called(); len(calls) > 0 {
		t.Errorf("the host was called: %v", calls)
	}
}

// TestAKeyIsRequired: for every route but the public ones, and nothing of what was presented is in the answer or the log.
func TestAKeyIsRequired(t *testing.T) {
	t.Parallel()
	s := serve(t)
	n := 0
	for _, r := range table() {
		path := strings.NewReplacer("{runId}", "x", "{proposalId}", "x", "{workflowId}", "x", "{templateId}", "a").Replace(r.path)
		for _, auth := range []string{"-", "Bearer wb_wrong_key", "Bearer ", "Bearer", "Basic " + allKey, allKey, "Bearer  " + allKey,
			"Bearer " + allKey + "x", "Bearer " + strings.ToUpper(allKey), "Bearer " + canon.Sum([]byte(allKey)).String()} {
			got := s.do(r.method, path, "", "Authorization: "+auth)
			n++
			if r.scope == "" {
				if want := map[string]int{"inspectInterrupt": 404, "resolveInterruptByToken": 404}[r.id]; got.status != cmp.Or(want, 200) {
					t.Errorf("%s %s: %d", r.method, path, got.status)
				}
				continue
			}
			if got.status != 401 || got.code(t) != "unauthenticated" || got.header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s %s with %q: %d %s", r.method, path, auth, got.status, got.body)
			}
			if strings.Contains(got.body, "wb_") || strings.Contains(fmt.Sprint(got.header), "wb_") {
				t.Errorf("%s %s with %q: %s", r.method, path, auth, got.body)
			}
		}
	}
	for _, call := range s.host.called() {
		if call != "Discovery" && call != "Inspect{token}" {
			t.Errorf("the host was called: %v", call)
		}
	}
	for _, e := range s.entries(n) {
		if strings.Contains(fmt.Sprintf("%+v", e), "wb_") || e.Key != "" {
			t.Errorf("the log has %+v", e)
		}
	}
	if got := s.do("GET", "/v1/workflows/wr.demo", "", "Authorization: bEaReR "+allKey); got.status != 200 {
		t.Errorf("the scheme has no case: %d", got.status)
	}
	two := s.raw(s.head("GET /v1/workflows/wr.demo HTTP/1.1", "Authorization: Bearer "+noneKey, "Connection: close"))
	if got := rawAnswer(t, two); got.status != 401 {
		t.Errorf("two keys: %d", got.status)
	}
}

// TestAScopeIsRequired: each route asks for its own, by name, and for no other.
func TestAScopeIsRequired(t *testing.T) {
	t.Parallel()
	h := newHost()
	run, draft := h.addRun().add(openwop.RunStarted, openwop.RunCompleted), h.addProposal()
	for _, scope := range allScopes() {
		var others []httpkeys.Scope
		for _, other := range allScopes() {
			if other != scope {
				others = append(others, other)
			}
		}
		h.addKey("only "+string(scope), "only "+string(scope), scope)
		h.addKey("not "+string(scope), "not "+string(scope), others...)
	}
	s := serveHosts(t, []Host{h})
	for _, r := range table() {
		if r.scope == "" {
			continue
		}
		path := strings.NewReplacer("{runId}", run.id, "{proposalId}", draft, "{workflowId}", "wr.demo", "{templateId}", "a").Replace(r.path)
		refused := s.do(r.method, path, "", "Authorization: Bearer not "+string(r.scope))
		if refused.status != 403 || refused.code(t) != "forbidden" || refused.details(t)["requiredScope"] != string(r.scope) ||
			!strings.Contains(refused.body, string(r.scope)) {
			t.Errorf("%s %s without %s: %d %s", r.method, path, r.scope, refused.status, refused.body)
		}
		got := s.do(r.method, path, "", "Authorization: Bearer only "+string(r.scope))
		if r.also != "" {
			if got.status != 403 || got.details(t)["requiredScope"] != string(r.also) {
				t.Errorf("%s %s without %s: %d %s", r.method, path, r.also, got.status, got.body)
			}
			continue
		}
		if got.status == 401 || got.status == 403 {
			t.Errorf("%s %s with %s: %d %s", r.method, path, r.scope, got.status, got.body)
		}
	}
}

// TestStoresAreSeparate: a key reaches what its own store holds, by no path and no id of another one.
func TestStoresAreSeparate(t *testing.T) {
	t.Parallel()
	a, b := newHost(), newHost()
	a.addKey("of a", "key of a", allScopes()...)
	b.addKey("of b", "key of b", allScopes()...)
	b.addRun() // so that the ids differ
	run, draft := b.addRun().add(openwop.RunStarted), b.addProposal()
	s := serveHosts(t, []Host{a, b})
	for _, r := range table() {
		if r.scope == "" || !strings.Contains(r.path, "{runId}") && !strings.Contains(r.path, "{proposalId}") {
			continue
		}
		path := strings.NewReplacer("{runId}", run.id, "{proposalId}", draft).Replace(r.path)
		body := ""
		switch r.id {
		case "programMockProvider", "emitProviderUsage", "emitEnvelopeReliability", "resetTest", "resolvePrompt":
			continue
		case "createAnnotation":
			body = `{"signal":{"kind":"flag"}}`
		case "reviseProposal":
			body = `{"title":"x"}`
		case "forkRun":
			body = `{"fromSeq":0,"mode":"branch"}`
		case "resolveInterrupt":
			body = `{"resumeValue":{}}`
		}
		if got := s.do(r.method, path, body, "Authorization: Bearer key of a"); got.status != 404 || strings.Contains(got.body, run.id) {
			t.Errorf("%s %s: %d %s", r.method, path, got.status, got.body)
		}
	}
	got := s.do("POST", "/v1/runs:bulk-cancel", `{"runIds":["`+run.id+`"]}`, "Authorization: Bearer key of a")
	if !strings.Contains(got.body, `"code":"not_found"`) {
		t.Errorf("%s", got.body)
	}
	if len(b.called()) != 0 {
		t.Errorf("the other store was called: %v", b.called())
	}
	if got := s.do("GET", "/v1/runs/"+run.id, "", "Authorization: Bearer key of b"); got.status != 200 {
		t.Errorf("its own key: %d", got.status)
	}
}

// TestAnIdempotencyKeyIsOfOneStore: another store has another record, and another turn.
func TestAnIdempotencyKeyIsOfOneStore(t *testing.T) {
	t.Parallel()
	a, b := newHost(), newHost()
	a.addKey("of a", "key of a", allScopes()...)
	b.addKey("of b", "key of b", allScopes()...)
	s := serveHosts(t, []Host{a, b}, func(n *tuning) { n.turn = 50 * time.Millisecond })
	create := func(key string) answered {
		return s.do("POST", "/v1/runs", `{"workflowId":"wr.demo"}`, "Authorization: Bearer "+key, "Idempotency-Key: k")
	}
	block, entered := make(chan struct{}), make(chan string, 1)
	a.set(func() { a.block, a.entered = block, entered })
	first := make(chan answered, 1)
	go func() { first <- create("key of a") }()
	<-entered
	if got := create("key of b"); got.status != 201 || got.header.Get(replayHeader) != "false" {
		t.Errorf("beside a request of another store: %d %s", got.status, got.body)
	}
	close(block)
	if got := <-first; got.status != 201 || got.header.Get(replayHeader) != "false" {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestAKeyOfTwoStoresIsRefused: it would have to mean one of them. A store whose keys cannot be read has none.
func TestAKeyOfTwoStoresIsRefused(t *testing.T) {
	t.Parallel()
	a, b := newHost(), newHost()
	a.addKey("one", "of both", allScopes()...)
	b.addKey("two", "of both", allScopes()...)
	b.addKey("own", "of b", allScopes()...)
	s := serveHosts(t, []Host{a, b})
	if got := s.do("GET", "/v1/workflows/wr.demo", "", "Authorization: Bearer of both"); got.status != 401 {
		t.Errorf("%d", got.status)
	}
	a.set(func() { a.keysErr = fault.New(fault.StoreCorrupt, "damaged") })
	if got := s.do("GET", "/v1/workflows/wr.demo", "", "Authorization: Bearer of b"); got.status != 200 {
		t.Errorf("the keys of another store are damaged: %d", got.status)
	}
	if got := s.do("GET", "/v1/workflows/wr.demo", "", "Authorization: Bearer unknown"); got.status != 500 {
		t.Errorf("the key may be one of the damaged ones: %d", got.status)
	}
}

// TestARevokedKeyIsRefusedAtOnce: the keys are read for each request.
func TestARevokedKeyIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s := serve(t)
	if got := s.do("GET", "/v1/workflows/wr.demo", ""); got.status != 200 {
		t.Fatalf("%d", got.status)
	}
	s.host.set(func() { s.host.keys = s.host.keys[1:] })
	if got := s.do("GET", "/v1/workflows/wr.demo", ""); got.status != 401 {
		t.Errorf("%d", got.status)
	}
}

func TestHeadersAreBounded(t *testing.T) {
	t.Parallel()
	s := serve(t)
	many := make([]string, 80)
	for i := range many {
		many[i] = fmt.Sprintf("X-H%d: 1", i)
	}
	same := make([]string, 80)
	for i := range same {
		same[i] = "X-H: 1"
	}
	for name, headers := range map[string][]string{"many": many, "one, many times": same,
		"long": {"X-H: " + strings.Repeat("x", 40<<10)}} {
		got := rawAnswer(t, s.raw(s.head("GET /.well-known/openwop HTTP/1.1", append(headers, "Connection: close")...)))
		if got.status != 431 || got.code(t) != "payload_too_large" {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	long := s.raw("GET /" + strings.Repeat("a", 40<<10) + " HTTP/1.1\r\nHost: " + s.addr + "\r\n\r\n")
	if got := rawAnswer(t, long); got.status != 431 {
		t.Errorf("a long path: %d", got.status)
	}
}

// TestWhatIsNoRequestIsAnsweredWithAnEnvelope: also where net/http answers itself, before any route.
func TestWhatIsNoRequestIsAnsweredWithAnEnvelope(t *testing.T) {
	t.Parallel()
	s := serve(t, func(n *tuning) { n.drain = 50 * time.Millisecond })
	for text, status := range map[string]int{
		"hello\r\n\r\n":                     400,
		"GET / HTTP/9.9\r\nHost: x\r\n\r\n": 505,
		"GET / HTTP/1.1\r\n\r\n":            400, // without Host
		"GET / HTTP/1.1\r\nHost: " + s.addr + "\r\nbad header: x\r\n\r\n":                                  400,
		"POST / HTTP/1.1\r\nHost: " + s.addr + "\r\nContent-Length: -1\r\n\r\n":                            400,
		"POST / HTTP/1.1\r\nHost: " + s.addr + "\r\nTransfer-Encoding: gzip\r\n\r\n":                       501,
		"GET / HTTP/1.1\r\nHost: " + s.addr + "\r\nHost: " + s.addr + "\r\n\r\n":                           400,
		"POST / HTTP/1.1\r\nHost: " + s.addr + "\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n":        400,
		"GET /\x00 HTTP/1.1\r\nHost: " + s.addr + "\r\n\r\n":                                               400,
		"GET /%zz HTTP/1.1\r\nHost: " + s.addr + "\r\n\r\n":                                                400,
		s.head("GET /.well-known/openwop HTTP/1.1", "Expect: the-worst", "Connection: close"):              417,
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n":                                                                 400,
		"OPTIONS * HTTP/1.1\r\nHost: " + s.addr + "\r\nConnection: close\r\n\r\n":                          404,
		"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nConnection: close\r\n\r\n":           400,
		"GET x:y HTTP/1.1\r\nHost: " + s.addr + "\r\nConnection: close\r\n\r\n":                            404,
		"GET /a%2F..%2Fb HTTP/1.1\r\nHost: " + s.addr + "\r\nConnection: close\r\n\r\n":                    404,
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a TLS greeting\r\n\r\n":                              400,
		"GET /.well-known/openwop HTTP/1.1\r\nHost: " + s.addr + "\r\nContent-Length: 3\r\n\r\nabc":        400,
		"GET /.well-known/openwop HTTP/1.1\r\nHost: " + s.addr + "\r\nTransfer-Encoding: chunked\r\n\r\n0": 400,
	} {
		got := rawAnswer(t, s.raw(text))
		if got.status != status || got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%q: %d %v; want %d", text, got.status, got.header, status)
			continue
		}
		got.code(t)
	}
}

// TestAbsurdPathsReachNoUseCase: encoded slashes, dots and controls are no ids.
func TestAbsurdPathsReachNoUseCase(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, path := range []string{"/v1/runs/a%00b", "/v1/runs/%2e%2e", "/v1/runs/..", "/v1/runs/./x", "/v1//runs/x", "/v1/runs/x/",
		"/v1/runs/%0a", "/v1/runs/%ff", "/v1/runs/" + strings.Repeat("x", 200), "/v1/runs/%E2%80%AE", "/v1/workflows/%2e%2e%00",
		"/v1/runs/x%0d%0aSet-Cookie:%20a", "//v1/runs/x", "/v1/runs/x/events/", "/v1/runs/x/../y", proposalPath + "/%7f",
		"/.well-known/../v1/runs/x", "/v1/runs%2Fx", "/v1/runs/x%3Apause"} {
		text := s.raw(s.head("GET "+path+" HTTP/1.1", "Connection: close"))
		if got := rawAnswer(t, text); got.status != 404 || got.header.Get("Location") != "" || got.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %v", path, got.status, got.header)
		} else {
			got.code(t)
		}
	}
	// An encoded slash within an id is one segment, and no such run.
	if got := s.do("GET", "/v1/runs/a%2Fb", ""); got.status != 404 || got.code(t) != "run_not_found" {
		t.Errorf("%d %s", got.status, got.body)
	}
	for _, call := range s.host.called() {
		t.Errorf("the host was called: %q", call)
	}
	if got := s.do("POST", "/v1/runs%3Abulk-cancel", `{"runIds":["x"]}`); got.status != 200 {
		t.Errorf("an encoded colon: %d", got.status)
	}
}

// TestAConnectionIsUsedAgain: pipelined requests are answered in order, and HTTP/1.0 gets its answer.
func TestAConnectionIsUsedAgain(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.host.addRun().add(openwop.RunStarted, openwop.RunCompleted)
	body := `{"workflowId":"none"}`
	text := s.raw(s.head("GET /v1/workflows/wr.demo HTTP/1.1") +
		s.head("POST /v1/runs HTTP/1.1", "Content-Type: application/json", fmt.Sprintf("Content-Length: %d", len(body))) + body +
		s.head("GET /v1/runs/none HTTP/1.1", "Connection: close"))
	at := 0
	for _, part := range []string{"HTTP/1.1 200 OK", `"id":"wr.demo"`, "HTTP/1.1 404 Not Found", `"no workflow`, "HTTP/1.1 404", `"run_not_found"`} {
		n := strings.Index(text[at:], part)
		if n < 0 {
			t.Fatalf("no %s behind byte %d of %q", part, at, text)
		}
		at += n + len(part)
	}
	for _, path := range []string{"/v1/runs/" + run.id, "/v1/runs/" + run.id + "/events"} {
		got := rawAnswer(t, s.raw(s.head("GET "+path+" HTTP/1.0")))
		if got.status != 200 || len(got.body) == 0 || strings.Contains(path, "events") && !strings.Contains(got.body, "event: run.completed") {
			t.Errorf("HTTP/1.0 %s: %d %q", path, got.status, got.body)
		}
	}
}

// TestConnectionsAreBounded: one more waits until another ends.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, func(n *tuning) { n.connectionsMax = 2 })
	first, second := s.dial(), s.dial()
	get := s.head("GET /v1/workflows/wr.demo HTTP/1.1", "Connection: close")
	third := make(chan string, 1)
	_, _ = first.Write([]byte("GET"))
	_, _ = second.Write([]byte("GET"))
	go func() { third <- s.raw(get) }()
	select {
	case got := <-third:
		t.Errorf("answered at once: %q", got)
	default:
	}
	_ = first.Close()
	if got := rawAnswer(t, <-third); got.status != http.StatusOK {
		t.Errorf("%d", got.status)
	}
}
