package httpserver

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/openwop"
)

// TestEveryRouteAnswers sends one valid request to each route of the table.
func TestEveryRouteAnswers(t *testing.T) {
	t.Parallel()
	s := serve(t)
	ended := s.host.addRun().add(openwop.RunStarted, openwop.NodeStarted, openwop.RunCompleted)
	open, held := s.host.addRun().add(openwop.RunStarted), s.host.addRun().add(openwop.RunStarted)
	draft, other, third := s.host.addProposal(), s.host.addProposal(), s.host.addProposal()
	const proposals = proposalPath + "/"
	cases := []struct {
		route              string // an operationId
		method, path, body string
		status             int
		contains           string
	}{
		{"getCapabilities", "GET", "/.well-known/openwop", "", 200, `"protocolVersion":"1.1"`},
		{"getOpenApiSpec", "GET", "/v1/openapi.json", "", 200, `"openapi":"3.1.0"`},
		{"getWorkflow", "GET", "/v1/workflows/wr.demo", "", 200, `"id":"wr.demo"`},
		{"createRun", "POST", "/v1/runs", `{"workflowId":"wr.demo","inputs":{"any":1}}`, 201, `"status":"pending"`},
		{"forkRun", "POST", "/v1/runs/" + ended.id + ":fork", `{"fromSeq":0,"mode":"branch"}`, 201, `"sourceRunId":"` + ended.id},
		{"getRun", "GET", "/v1/runs/" + ended.id, "", 200, `"status":"completed"`},
		{"streamRunEvents", "GET", "/v1/runs/" + ended.id + "/events", "", 200, "event: run.completed\n"},
		{"pollRunEvents", "GET", "/v1/runs/" + ended.id + "/events/poll", "", 200, `"isComplete":true`},
		{"cancelRun", "POST", "/v1/runs/" + ended.id + "/cancel", "", 200, `"status":"completed"`},
		{"bulkCancelRuns", "POST", "/v1/runs:bulk-cancel", `{"runIds":["` + open.id + `"],"reason":"r"}`, 200, `"ok":true`},
		{"pauseRun", "POST", "/v1/runs/" + held.id + ":pause", `{"drainPolicy":"immediate","reason":"r"}`, 202, `"status":"paused"`},
		{"pauseRun", "POST", "/v1/runs/" + held.id + ":pause", "", 409, `"runStatus":"paused"`},
		{"resumeRun", "POST", "/v1/runs/" + held.id + ":resume", "", 202, `"status":"running"`},
		{"resumeRun", "POST", "/v1/runs/" + held.id + ":resume", `{}`, 409, `"runStatus":"running"`},
		{"resolveInterrupt", "POST", "/v1/runs/" + open.id + "/interrupts/gate", `{"resumeValue":{"action":"accept"}}`, 200, `"interruptId":"gate:1"`},
		{"inspectInterrupt", "GET", "/v1/interrupts/" + fakeToken, "", 200, `"kind":"external-event"`},
		{"resolveInterruptByToken", "POST", "/v1/interrupts/" + fakeToken, `{"resumeValue":7}`, 200, `"status":"running"`},
		{"createAnnotation", "POST", "/v1/runs/" + ended.id + "/annotations", `{"signal":{"kind":"flag"}}`, 201, `"principalRef":"key:all"`},
		{"listAnnotations", "GET", "/v1/runs/" + ended.id + "/annotations", "", 200, `{"annotations":[{`},
		{"listProposals", "GET", proposalPath + "?state=draft", "", 200, `{"proposals":[{`},
		{"getProposal", "GET", proposals + draft, "", 200, `"state":"draft"`},
		{"reviseProposal", "PATCH", proposals + draft, `{"title":"second"}`, 200, `"title":"second"`},
		{"applyProposal", "POST", proposals + draft + "/apply", `{}`, 200, `"state":"applied"`},
		{"rejectProposal", "POST", proposals + other + "/reject", `{"reason":"no"}`, 200, `"state":"rejected"`},
		{"archiveProposal", "DELETE", proposals + third, "", 200, `"state":"archived"`},
		{"getDebugBundle", "GET", "/v1/runs/" + ended.id + "/debug-bundle", "", 200, `"bundleVersion":"1.0"`},
		{"listPromptTemplates", "GET", "/v1/prompts?kind=user&limit=1", "", 200, `{"items":[{"kind":"user"`},
		{"getPromptTemplate", "GET", "/v1/prompts/a?version=1.0.0", "", 200, `"templateId":"a"`},
		{"resolvePrompt", "POST", seamPath + "/prompt/resolve", `{"kind":"system","node":{"nodeId":"n","config":{"systemPromptRef":"prompt:a"}}}`, 200,
			`"resolved":"prompt:a"`},
		{"emitProviderUsage", "POST", seamPath + "/test/emit-provider-usage", `{"runId":"x","payload":{"provider":"p","model":"m","inputTokens":1,"outputTokens":2}}`,
			200, `"type":"provider.usage"`},
		{"emitEnvelopeReliability", "POST", seamPath + "/test/emit-envelope-reliability",
			`{"runId":"x","type":"envelope.refusal","payload":{"nodeId":"n","provider":"p","model":"m"}}`, 200, `"type":"envelope.refusal"`},
		{"listEmittedEvents", "GET", seamPath + "/test/runs/" + ended.id + "/events?type=a.b", "", 200, `{"events":[{`},
		{"programMockProvider", "POST", seamPath + "/test/mock-ai/program", `{"nodeId":"n","program":[{"content":"{}"}]}`, 200, `"nodeId":"n"`},
		{"getMockBudget", "GET", seamPath + "/test/mock-ai/last-dispatch-budget?nodeId=n", "", 200, `"maxTokens":7`},
		{"resetTest", "POST", seamPath + "/test/reset", `{}`, 200, `{"runsEnded":2}`},
	}
	tried := map[string]bool{}
	for _, c := range cases {
		tried[c.route] = true
		got := s.do(c.method, c.path, c.body)
		if got.status != c.status || !strings.Contains(got.body, c.contains) {
			t.Errorf("%s %s: %d %s; want %d with %s", c.method, c.path, got.status, got.body, c.status, c.contains)
		}
		if got.header.Get("X-Content-Type-Options") != "nosniff" || got.header.Get("X-Request-Id") == "" {
			t.Errorf("%s %s: headers %v", c.method, c.path, got.header)
		}
		if private := c.route != "getCapabilities" && c.route != "getOpenApiSpec" && c.route != "getPromptTemplate"; private != (got.header.Get("Cache-Control") == "no-store") {
			t.Errorf("%s %s: Cache-Control %q", c.method, c.path, got.header.Get("Cache-Control"))
		}
		for name := range got.header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s %s: header %s", c.method, c.path, name)
			}
		}
	}
	for _, r := range table() {
		if !tried[r.id] {
			t.Errorf("no case for the route %s", r.id)
		}
	}
}

// TestUnknownThingsAreNotFound: each route that names something says so where it does not exist.
func TestUnknownThingsAreNotFound(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.host.addRun().add(openwop.RunStarted)
	for _, c := range []struct{ method, path, body, code string }{
		{"GET", "/v1/workflows/none", "", "not_found"},
		{"POST", "/v1/runs", `{"workflowId":"none"}`, "not_found"},
		{"GET", "/v1/runs/none", "", "run_not_found"},
		{"GET", "/v1/runs/none/events", "", "run_not_found"},
		{"GET", "/v1/runs/none/events/poll", "", "run_not_found"},
		{"GET", "/v1/runs/none/debug-bundle", "", "run_not_found"},
		{"GET", "/v1/prompts/none", "", "not_found"},
		{"GET", "/v1/prompts/a?version=2.0.0", "", "not_found"},
		{"POST", "/v1/runs/none/cancel", "", "run_not_found"},
		{"POST", "/v1/runs/none/interrupts/gate", `{"resumeValue":1}`, "run_not_found"},
		{"POST", "/v1/runs/" + run.id + "/interrupts/none", `{"resumeValue":1}`, "interrupt_not_found"},
		{"GET", "/v1/interrupts/none", "", "interrupt_not_found"},
		{"POST", "/v1/interrupts/none", `{"other":1}`, "interrupt_not_found"},
		{"POST", "/v1/runs/none/annotations", `{"signal":{"kind":"flag"}}`, "run_not_found"},
		{"GET", "/v1/runs/none/annotations", "", "run_not_found"},
		{"GET", proposalPath + "/none", "", "not_found"},
		{"PATCH", proposalPath + "/none", `{"title":"x"}`, "not_found"},
		{"POST", proposalPath + "/none/apply", "", "not_found"},
		{"POST", proposalPath + "/none/reject", "", "not_found"},
		{"DELETE", proposalPath + "/none", "", "not_found"},
		{"POST", "/v1/webhooks", `{"url":"http://example.com"}`, "not_found"},
		{"DELETE", "/v1/webhooks/x", "", "not_found"},
		{"GET", "/v1/runs/none/artifacts/x", "", "not_found"},
		{"POST", "/v1/runs/none:pause", `{}`, "run_not_found"},
		{"POST", "/v1/runs/none:resume", "", "run_not_found"},
		{"POST", "/v1/runs/none:pause:resume", "", "not_found"},
		{"POST", "/v1/runs/none:", "", "not_found"},
		{"POST", "/v1/runs/none:bulk-cancel", `{}`, "not_found"},
		{"GET", "/v1/runs/:x", "", "not_found"},
		{"GET", "/", "", "not_found"},
		{"GET", "/v1", "", "not_found"},
		{"GET", "/v1/runs/", "", "not_found"},
		{"POST", "/v1/runs:bulk-cancel/x", `{}`, "not_found"},
		{"POST", "/v2/runs", `{}`, "not_found"},
	} {
		got := s.do(c.method, c.path, c.body)
		if code := got.code(t); got.status != 404 || code != c.code {
			t.Errorf("%s %s: %d %s; want 404 %s", c.method, c.path, got.status, code, c.code)
		}
	}
}

func TestAnotherMethodIsRefusedWithThoseThatThePathHas(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, c := range []struct{ method, path, allow string }{
		{"PUT", "/.well-known/openwop", "GET, HEAD, OPTIONS"},
		{"GET", "/v1/runs", "OPTIONS, POST"},
		{"DELETE", "/v1/runs/x", "GET, HEAD, OPTIONS"},
		{"GET", "/v1/runs:bulk-cancel", "OPTIONS, POST"},
		{"POST", "/v1/runs/x/events", "GET, HEAD, OPTIONS"},
		{"PUT", proposalPath + "/x", "DELETE, GET, HEAD, OPTIONS, PATCH"},
		{"TRACE", "/v1/runs", "OPTIONS, POST"},
		{"BREW", "/v1/runs", "OPTIONS, POST"},
	} {
		got := s.do(c.method, c.path, "")
		if code := got.code(t); got.status != 405 || code != "method_not_allowed" || got.header.Get("Allow") != c.allow {
			t.Errorf("%s %s: %d %s, Allow %q; want %q", c.method, c.path, got.status, code, got.header.Get("Allow"), c.allow)
		}
	}
	got := s.do("OPTIONS", "/v1/runs", "", "Authorization: -")
	if got.status != 204 || got.header.Get("Allow") != "OPTIONS, POST" || got.body != "" {
		t.Errorf("OPTIONS: %d %v", got.status, got.header)
	}
	if log := s.entries(9); log[7].Method != "OTHER" || log[7].Route != "/v1/runs" {
		t.Errorf("the log has %+v", log[7])
	}
}

// TestHeadIsGetWithoutABody: also for streams, which it does not open.
func TestHeadIsGetWithoutABody(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.host.addRun().add(openwop.RunStarted)
	for _, path := range []string{"/v1/runs/" + run.id, "/.well-known/openwop", "/v1/runs/" + run.id + "/events",
		"/v1/runs/" + run.id + "/events/poll?lastSequence=0"} {
		got := s.do("HEAD", path, "")
		if got.status != 200 || got.body != "" || got.header.Get("Content-Type") == "" {
			t.Errorf("%s: %d %v", path, got.status, got.header)
		}
	}
	if got := s.do("HEAD", "/v1/runs/none", ""); got.status != 404 {
		t.Errorf("an unknown run: %d", got.status)
	}
}

func TestDiscoveryIsKeptByClients(t *testing.T) {
	t.Parallel()
	s := serve(t)
	first := s.do("GET", "/.well-known/openwop", "", "Authorization: -")
	tag := first.header.Get("ETag")
	if first.status != 200 || first.header.Get("Cache-Control") != "public, max-age=300" || len(tag) < 10 {
		t.Fatalf("%d %v", first.status, first.header)
	}
	for _, known := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
		got := s.do("GET", "/.well-known/openwop", "", "If-None-Match: "+known)
		if got.status != 304 || got.body != "" || got.header.Get("ETag") != tag {
			t.Errorf("If-None-Match %s: %d %q", known, got.status, got.body)
		}
	}
	if got := s.do("GET", "/.well-known/openwop", "", `If-None-Match: "x"`); got.status != 200 {
		t.Errorf("another ETag: %d", got.status)
	}
}

// TestTheAdvertisedLimitIsTheEnforcedOne: what the host reports is replaced, in both places.
func TestTheAdvertisedLimitIsTheEnforcedOne(t *testing.T) {
	t.Parallel()
	s := serve(t)
	doc := s.do("GET", "/.well-known/openwop", "").json(t)
	root := doc["limits"].(map[string]any)
	nested := doc["capabilities"].(map[string]any)["limits"].(map[string]any)
	if root["maxRequestBodyBytes"] != float64(1<<20) || nested["maxRequestBodyBytes"] != float64(1<<20) {
		t.Errorf("advertised: %v and %v", root, nested)
	}
	if root["clarificationRounds"] != float64(0) {
		t.Errorf("the other limits are gone: %v", root)
	}
}

func TestACreatedRunHasItsAddresses(t *testing.T) {
	t.Parallel()
	s := serve(t)
	got := s.do("POST", "/v1/runs", `{"workflowId":"wr.demo"}`).json(t)
	base := s.url + "/v1/runs/" + fmt.Sprint(got["runId"])
	if got["statusUrl"] != base || got["eventsUrl"] != base+"/events" {
		t.Errorf("%v", got)
	}
	if calls := s.host.called(); !strings.HasPrefix(calls[0], "CreateRun{agent key:all}") {
		t.Errorf("the actor of the call: %q", calls[0])
	}
}

// TestResultsOfABulkCancelAreInOrder: each run by itself; one that is named twice is cancelled once.
func TestResultsOfABulkCancelAreInOrder(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a, b := s.host.addRun().add(openwop.RunStarted), s.host.addRun().add(openwop.RunStarted)
	long := strings.Repeat("x", 4000)
	got := s.do("POST", "/v1/runs:bulk-cancel", fmt.Sprintf(`{"runIds":["%s","none","%s","%s","%s"]}`, b.id, a.id, b.id, long))
	var text []string
	for _, r := range got.json(t)["results"].([]any) {
		r := r.(map[string]any)
		e, _ := r["error"].(map[string]any)
		text = append(text, fmt.Sprint(r["runId"], " ", r["ok"], " ", r["status"], " ", e["code"]))
	}
	want := []string{b.id + " true cancelled <nil>", "none false <nil> not_found", a.id + " true cancelled <nil>",
		b.id + " true cancelled <nil>", long + " false <nil> not_found"}
	if strings.Join(text, "\n") != strings.Join(want, "\n") {
		t.Errorf("results:\n%s\nwant:\n%s", strings.Join(text, "\n"), strings.Join(want, "\n"))
	}
	cancels := 0
	for _, call := range s.host.called() {
		if strings.HasPrefix(call, "Cancel") {
			cancels++
		}
	}
	if cancels != 3 {
		t.Errorf("%d cancels: want one for each run, and none for a text that is no id", cancels)
	}
	for _, body := range []string{`{"runIds":[]}`, `{"runIds":["` + strings.Repeat(`x","`, 100) + `x"]}`} {
		if got := s.do("POST", "/v1/runs:bulk-cancel", body); got.status != 400 || got.details(t)["maxRunIds"] != 100.0 {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
}

// TestADisabledGroupIsRefusedBeforeAnythingElse: no run is looked up, no body read, no scope asked for.
func TestADisabledGroupIsRefusedBeforeAnythingElse(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host.set(func() { s.host.noFeedback, s.host.noProposals = true, true })
	for _, r := range table() {
		if r.group == always || r.group == seamGroup {
			continue
		}
		path := strings.NewReplacer("{runId}", "none", "{proposalId}", "none").Replace(r.path)
		for _, key := range []string{allKey, noneKey} {
			got := s.do(r.method, path+"?state=none", "", "Authorization: Bearer "+key)
			if code := got.code(t); got.status != 501 || code != "capability_not_provided" {
				t.Errorf("%s %s: %d %s", r.method, path, got.status, code)
			}
		}
		if r.body != nil { // a body that is not valid, or never comes, changes nothing
			got := rawAnswer(t, s.raw(s.head(r.method+" "+path+" HTTP/1.1", "Content-Type: text/plain", "Content-Length: 5",
				"Connection: close")))
			if got.status != 501 {
				t.Errorf("%s %s with a body: %d", r.method, path, got.status)
			}
		}
	}
	if calls := s.host.called(); len(calls) != 0 {
		t.Errorf("the host was called: %v", calls)
	}
	if got := s.do("GET", "/v1/runs/none/annotations", "", "Authorization: -"); got.status != 401 {
		t.Errorf("without a key: %d", got.status)
	}
}

// TestApplyAsksForItsScopeFirst: before the proposal is looked up, and before its approvals.
func TestApplyAsksForItsScopeFirst(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host.set(func() { s.host.pending = &PendingGate{Have: 1, Want: 2, Role: "reviewer"} })
	draft := s.host.addProposal()
	got := s.do("POST", proposalPath+"/"+draft+"/apply", `{}`, "Authorization: Bearer "+noneKey)
	if got.status != 403 || got.code(t) != "forbidden" || got.details(t)["requiredScope"] != "packs:publish" {
		t.Errorf("%d %s", got.status, got.body)
	}
	if len(s.host.called()) != 0 {
		t.Errorf("the host was called: %v", s.host.called())
	}
	got = s.do("POST", proposalPath+"/"+draft+"/apply", `{}`)
	if got.status != 202 || got.body != `{"pending":{"have":1,"role":"reviewer","want":2}}` {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestFaultsHaveTheirAnswers: the codes that callers branch on, with their status, and no secret in any of them.
func TestFaultsHaveTheirAnswers(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.host.addRun().add(openwop.RunStarted)
	want := map[fault.Code]answerRow{
		fault.ValidationError: {400, "validation_error"}, fault.UsageError: {400, "validation_error"},
		fault.ProposalForbidden: {403, "forbidden"}, fault.WorkflowUntrusted: {403, "forbidden"},
		fault.RunNotFound: {404, "run_not_found"}, fault.WorkflowNotFound: {404, "not_found"}, fault.ProposalNotFound: {404, "not_found"},
		fault.ProposalState: {409, "conflict"}, fault.ProposalChanged: {409, "conflict"}, fault.RunClosed: {409, "conflict"},
		fault.IdempotencyMismatch: {409, "idempotency_key_mismatch"}, fault.StoreLimit: {413, "payload_too_large"},
		fault.ProposalInvalid: {422, "unprocessable"}, fault.WorkflowInvalid: {422, "unprocessable"},
		fault.CapabilityNotProvided: {501, "capability_not_provided"}, fault.SessionLocked: {503, "unavailable"},
		fault.StoreLocked: {503, "unavailable"}, fault.StoreConflict: {503, "unavailable"}, fault.StoreCorrupt: {500, "internal_error"},
		fault.StoreOutcomeUnknown: {500, "internal_error"}, fault.Internal: {500, "internal_error"},
	}
	for _, code := range faultCodes() {
		f := fault.New(fault.ValidationError, "token sk-abcdefghijklmnopqrstuv in a message")
		f.Code = code
		f.With("password", "hunter2").With("list", []string{"a"})
		s.host.failWith("Snapshot", f)
		got := s.do("GET", "/v1/runs/"+run.id, "")
		if row, ok := want[code]; ok && (got.status != row.status || got.code(t) != string(row.code)) {
			t.Errorf("%s: %d %s", code, got.status, got.body)
		}
		if got.status < 400 || got.details(t)["waybillCode"] != string(code) {
			t.Errorf("%s: %d %s", code, got.status, got.body)
		}
		if strings.Contains(got.body, "sk-abc") || strings.Contains(got.body, "hunter2") {
			t.Errorf("%s: %s", code, got.body)
		}
		if busy := got.status == http.StatusServiceUnavailable; busy != (got.header.Get("Retry-After") != "") {
			t.Errorf("%s: Retry-After %q", code, got.header.Get("Retry-After"))
		}
	}
}

// TestInternalErrorsAreFoundInTheLog: the caller gets a correlation id, the log the cause.
func TestInternalErrorsAreFoundInTheLog(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.host.addRun()
	for i, err := range []error{fault.New(fault.StoreCorrupt, "the file /home/you/store is damaged"), errText("open /home/you: denied"),
		errText("panic")} {
		s.host.failWith("Snapshot", err)
		got := s.do("GET", "/v1/runs/"+run.id, "")
		id, _ := got.details(t)["correlationId"].(string)
		if got.status != 500 || got.code(t) != "internal_error" || id == "" || id != got.header.Get("X-Request-Id") {
			t.Errorf("%v: %d %s", err, got.status, got.body)
		}
		if strings.Contains(got.body, "/home") || strings.Contains(got.body, "sk-") {
			t.Errorf("%v: %s", err, got.body)
		}
		if e := s.entries(i + 1)[i]; e.CorrelationID != id || e.Err == nil || e.Status != 500 || e.Key != "all" ||
			e.Route != runPath || e.Method != "GET" {
			t.Errorf("%v: the log has %+v", err, e)
		}
	}
}

type errText string

func (e errText) Error() string { return string(e) }

// TestAnswersAreEscaped: no character that a terminal executes or hides is sent as it is.
func TestAnswersAreEscaped(t *testing.T) {
	t.Parallel()
	s := serve(t)
	got := s.do("POST", "/v1/runs:bulk-cancel", "{\"runIds\":[\"a\u202eb\u200b\\u001b[31m\"]}")
	if got.status != 200 || strings.ContainsAny(got.body, "\u202e\u200b\x1b") {
		t.Errorf("%q", got.body)
	}
	r := got.json(t)["results"].([]any)[0].(map[string]any)
	if r["runId"] != "a\u202eb\u200b\x1b[31m" {
		t.Errorf("the value changed: %q", r["runId"])
	}
}

// TestSeamsAreUnknownPathsWithoutTheFlag: also for keys with every scope, and with any method.
func TestSeamsAreUnknownPathsWithoutTheFlag(t *testing.T) {
	t.Parallel()
	h := newHost()
	h.addKey("all", allKey, allScopes()...)
	s := serveSeams(t, []Host{h}, false)
	n := 0
	for _, r := range table() {
		if r.group != seamGroup {
			continue
		}
		for _, method := range []string{r.method, "DELETE", "OPTIONS"} {
			n++
			if got := s.do(method, strings.ReplaceAll(r.path, "{runId}", "x"), ""); got.status != 404 || got.code(t) != "not_found" {
				t.Errorf("%s %s: %d %s", method, r.path, got.status, got.body)
			}
		}
	}
	if calls := h.called(); n < 15 || len(calls) != 0 {
		t.Errorf("%d requests, calls %v", n, calls)
	}
}
