package httpserver

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/store/httpkeys"
	"github.com/waybill/waybill/infra/schema"
)

var update = flag.Bool("update", false, "write docs/http.md")

const pagePath = "../../docs/http.md"

// TestPageIsCurrent compares docs/http.md with the table of routes, the table of errors and the limits; with -update it is
// written. docs/design.md has the mapping of events.
func TestPageIsCurrent(t *testing.T) {
	t.Parallel()
	want := page(t)
	if *update {
		if err := os.WriteFile(pagePath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(pagePath)
	if err != nil || string(got) != want {
		t.Errorf("docs/http.md is not current (%v); run: go test ./infra/httpserver -run Page -update", err)
	}
}

// TestRoutesAreComplete: what the page and the description are made of has no holes.
func TestRoutesAreComplete(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	for _, r := range table() {
		if r.id == "" || ids[r.id] || !strings.HasSuffix(r.purpose, ".") || len(r.answers) == 0 || (r.handle == nil) == (r.stream == nil) {
			t.Errorf("%s is not complete", r.name())
		}
		if r.method != "GET" && r.scope != "" && !r.idempotent && !r.keyed { // the one without a scope answers once
			t.Errorf("%s has no idempotency key", r.name())
		}
		ids[r.id] = true
	}
}

func page(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(pageHead)
	scopeTable(&b)
	b.WriteString(pageRequests)
	b.WriteString("## Routes\n\n| route | purpose | scope |\n| --- | --- | --- |\n")
	for _, r := range table() {
		scope := "none, no key"
		if r.scope != "" {
			scope = "`" + string(r.scope) + "`"
		}
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s |\n", r.name(), strings.ToLower(r.id), strings.TrimSuffix(r.purpose, "."), scope)
	}
	b.WriteString("\nUnknown paths are 404, other methods 405 with the header `Allow`. `HEAD` is `GET` without a body, and `OPTIONS` " +
		"lists\nthe methods. There are no webhooks: `/v1/webhooks` is 404.\n")
	for _, r := range table() {
		routeSection(&b, r)
	}
	b.WriteString(pageStreams)
	b.WriteString(pageIdempotency)
	errorSection(&b)
	limitSection(&b)
	b.WriteString("\n## Events\n\n" + mapping(t))
	return b.String()
}

func scopeTable(b *strings.Builder) {
	purposes := []struct {
		scope httpkeys.Scope
		text  string
	}{{httpkeys.ManifestRead, "read workflows and prompts"}, {httpkeys.RunsCreate, "create runs"},
		{httpkeys.RunsRead, "read runs, events, bundles, annotations and proposals"}, {httpkeys.RunsCancel, "cancel runs"},
		{httpkeys.FeedbackWrite, "record annotations"}, {httpkeys.ProposalsAuthor, "revise, reject and archive proposals"},
		{httpkeys.PacksPublish, "apply proposals whose approvals people have given"},
		{httpkeys.ApprovalsRespond, "answer what runs wait for, but for decisions of people; read the tokens of interrupts"}}
	b.WriteString("| scope | permits to |\n| --- | --- |\n")
	for _, p := range purposes {
		fmt.Fprintf(b, "| `%s` | %s |\n", p.scope, p.text)
	}
	b.WriteString("\n")
}

func routeSection(b *strings.Builder, r *route) {
	fmt.Fprintf(b, "\n### %s\n\n`%s`\n\n%s", r.id, r.name(), r.purpose)
	if r.notes != "" {
		b.WriteString(" " + r.notes)
	}
	b.WriteString("\n\n")
	if len(r.query) > 0 {
		b.WriteString("| parameter | value | |\n| --- | --- | --- |\n")
		for _, p := range r.query {
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", p.name, p.form, p.purpose)
		}
		b.WriteString("\n")
	}
	bodyTable(b, r.body)
	b.WriteString("| answer | |\n| --- | --- |\n")
	for _, a := range r.answers {
		text := a.purpose
		if a.form != nil {
			text += ": `" + schemaName(a.form) + "`"
		}
		fmt.Fprintf(b, "| %d | %s |\n", a.status, text)
	}
	for _, o := range r.refusals {
		fmt.Fprintf(b, "| %d `%s` | %s |\n", o.status, o.code, o.when)
	}
	if r.idempotent || r.keyed {
		b.WriteString("\nTakes an [`Idempotency-Key`](#idempotency).\n")
	}
}

func bodyTable(b *strings.Builder, in *body) {
	if in == nil {
		return
	}
	s := schema.WithoutNull(schema.Of(in.form))
	if len(s.Properties) == 0 {
		b.WriteString("The body is absent or `{}`.\n\n")
		return
	}
	if !in.required {
		b.WriteString("The body may be absent.\n\n")
	}
	b.WriteString("| member | type | |\n| --- | --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		kind, required := s.Properties[name].Type, ""
		if kind == "" {
			kind = "object"
		}
		if slices.Contains(s.Required, name) {
			required = "required"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, kind, required)
	}
	b.WriteString("\n")
}

// answerRow is the answer to an error.
type answerRow struct {
	status int
	code   openwop.ErrorCode
}

// faultCodes are the codes of all faults.
func faultCodes() (out []fault.Code) {
	for _, row := range fault.Table {
		out = append(out, row.Code)
	}
	return out
}

func errorSection(b *strings.Builder) {
	b.WriteString(pageErrors)
	byAnswer := map[answerRow][]string{}
	for _, code := range faultCodes() {
		status, e, _ := answerOf(&fault.Fault{Code: code, Message: "x"})
		row := answerRow{status, e.Error}
		byAnswer[row] = append(byAnswer[row], "`"+string(code)+"`")
	}
	own := map[answerRow]string{
		{400, openwop.ErrUnsupportedStreamMode}: "the parameter `streamMode`",
		{401, openwop.ErrUnauthenticated}:       "no key, or one that no store has",
		{405, openwop.ErrMethodNotAllowed}:      "the path has no such method",
		{415, openwop.ErrUnsupportedMedia}:      "the body is not application/json in UTF-8",
		{429, openwop.ErrTooManyRequests}:       "too many open streams",
		{431, openwop.ErrTooLarge}:              "too many or too long headers",
		{500, openwop.ErrInternal}:              "damaged data, an unknown outcome, an error of the server; every other code",
	}
	rows := slices.Collect(maps.Keys(byAnswer))
	for row := range own {
		if byAnswer[row] == nil {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b answerRow) int {
		return 10_000*(a.status-b.status) + strings.Compare(string(a.code), string(b.code))
	})
	for _, row := range rows {
		text := own[row]
		if text == "" {
			slices.Sort(byAnswer[row])
			text = strings.Join(byAnswer[row], " ")
		}
		fmt.Fprintf(b, "| %d | `%s` | %s |\n", row.status, row.code, text)
	}
}

func limitSection(b *strings.Builder) {
	b.WriteString(pageLimits)
	for _, l := range []struct {
		what  string
		value int
		unit  string
		over  string
	}{
		{"body of a request", limits.HTTPBodyBytesMax >> 10, "KiB", "413; also advertised"},
		{"values in a body", limits.HTTPBodyValuesMax, "", "413"},
		{"request line and headers", limits.HTTPHeaderBytesMax >> 10, "KiB", "431"},
		{"header lines", limits.HTTPHeadersMax, "", "431"},
		{"requests that are executed at once", limits.HTTPRequestsMax, "", "waits; then 503"},
		{"wait for that, and for an idempotency key", limits.HTTPTurnMs / 1000, "s", "503; 409"},
		{"open streams and waiting polls", limits.HTTPStreamsMax, "", "429"},
		{"open connections", limits.HTTPConnectionsMax, "", "wait to be accepted"},
		{"arrival of the headers of a request", limits.HTTPHeaderReadMs / 1000, "s", "the connection ends"},
		{"arrival of a whole request", limits.HTTPBodyReadMs / 1000, "s", "400, the connection ends"},
		{"a write to a client that does not read", limits.HTTPWriteMs / 1000, "s", "the connection ends"},
		{"a connection without a request", limits.HTTPIdleMs / 1000, "s", "it ends"},
		{"runs of one bulk cancel", limits.HTTPCancelRunsMax, "", "400 with `details.maxRunIds`"},
		{"wait of a poll", limits.HTTPPollSecondsMax, "s", "longer ones are that long"},
		{"`bufferMs`", limits.HTTPBufferMsMax, "ms", "400"},
		{"a batch", limits.HTTPBatchBytesMax >> 10, "KiB", "is sent before its time"},
	} {
		fmt.Fprintf(b, "| %s | %s | %s |\n", l.what, strings.TrimSpace(fmt.Sprint(l.value, " ", l.unit)), l.over)
	}
}

// mapping is the section of docs/design.md about events, and a reference to the design while it has none.
func mapping(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## OpenWOP events\n")
	if !found {
		return "Run events are a projection of the log of a run ([design](design.md)).\n"
	}
	section, _, _ = strings.Cut(section, "\n## ")
	return strings.TrimSpace(strings.ReplaceAll(section, "](#", "](design.md#")) + "\n"
}

const pageHead = `# Runs over HTTP

<!-- Generated from the table of routes by 'go test ./infra/httpserver -run Page -update'. Do not edit. -->

` + "`waybill serve`" + ` answers other programs on this machine in the OpenWOP protocol, over the same engine and the same logs as the
command line and the [tools for agents](mcp.md). It is a foreground process that keeps nothing beside the store: it may be
killed and started again at any moment, and the runs continue.

` + "```console" + `
$ waybill serve keys add ci --scope manifest:read,runs:create,runs:read,runs:cancel
$ waybill serve --addr 127.0.0.1:8731
$ curl -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \
    -d '{"workflowId":"wr.demo","inputs":{}}' http://127.0.0.1:8731/v1/runs
$ curl -N -H "Authorization: Bearer $KEY" http://127.0.0.1:8731/v1/runs/$RUN/events
` + "```" + `

The first line that it prints has its URL. ` + "`GET /v1/openapi.json`" + ` describes the routes in OpenAPI 3.1, and the schemas that
this page names.

## Keys

A person makes a key at a terminal. Its text is shown once; the store keeps its SHA-256. A request presents it as
` + "`Authorization: Bearer KEY`" + `. A key belongs to one store: with several stores, what another one holds does not exist for it
(404). It acts as an agent with the name ` + "`key:NAME`" + `: it gives no approval, and counts towards no quorum. Without a valid key
the answer is 401, without the scope of the route 403 with ` + "`details.requiredScope`" + `.

`

const pageRequests = `## Requests

- The server listens on loopback addresses only. The header ` + "`Host`" + ` names it with its port (127.0.0.1, [::1], localhost), else
  400. A request with a header ` + "`Origin`" + `, which web pages send, is 403; there are no CORS headers.
- A body is ` + "`application/json`" + ` in UTF-8. Keys that occur twice or differ in case only, unknown members, numbers that are not
  exactly a double and more than 64 levels are 400 with ` + "`details.pointer`" + ` and ` + "`details.reason`" + `.
- Query parameters that a route does not know are ignored. A known one that occurs twice or is not valid is 400.
- Answers have the header ` + "`X-Request-Id`" + `, ` + "`X-Content-Type-Options: nosniff`" + `, and ` + "`Cache-Control: no-store`" + ` unless the route
  says otherwise. Characters that a terminal executes or hides are ` + "`\\u`" + ` escapes.
- The request log on stderr has method, route, status, bytes, duration, the name of the key and the request id; never a
  body, a key or a query.

`

const pageStreams = `
## Streams

` + "`GET /v1/runs/{runId}/events`" + ` is a stream of Server-Sent Events: ` + "`id`" + ` is the sequence, ` + "`event`" + ` the type, ` + "`data`" + ` the run event
as one line of JSON. The server ends it behind the last event of the run, and at once where that was read before.

| ` + "`streamMode`" + ` | messages |
| --- | --- |
| ` + "`updates`" + ` | ` + "`run.*`, `approval.*`, `clarification.*`, `interrupt.*`, `proposal.*`, `artifact.created`, `node.completed`, `node.failed`, `node.skipped`, `node.suspended`" + ` |
| ` + "`values`" + ` | ` + "`state.snapshot`" + ` with the state of the run (` + "`Snapshot`" + `) behind events of updates; alone. Events that are read together have one |
| ` + "`messages`" + ` | ` + "`ai.message.chunk`" + ` |
| ` + "`debug`" + ` | every event |
| ` + "`updates,messages`" + ` and others | what one of them has |

- ` + "`Last-Event-ID: N`" + ` continues behind event N, in every mode. In ` + "`values`" + ` the state is sent first.
- With ` + "`bufferMs`" + ` events are collected into ` + "`event: batch`" + `, whose data is an array and whose id is that of its last event. The end
  of the run, a suspension and a full batch are sent at once.
- ` + "`run.annotated`" + ` and ` + "`proposal.*`" + ` have no id and data ` + "`{type, runId, payload, timestamp}`" + `: they are in no log, and a client that
  was not connected reads annotations and proposals by their routes.
- ` + "`: keepalive`" + ` is sent at least every 15 seconds.
- A stream that ends before its run has a last message ` + "`waybill.stream_closed`" + ` without id, whose payload has the reason:
  ` + "`server_stopping`" + `, or the code of an error with its ` + "`correlationId`" + `. Connect again with ` + "`Last-Event-ID`" + `.
- A client that does not read is disconnected; its run does not notice.
`

const pageIdempotency = `
## Idempotency

` + "`Idempotency-Key: KEY`" + ` (1 to 255 visible ASCII characters) makes a call that changes something safe to repeat. Each answer to such
a call has the header ` + "`openwop-Idempotent-Replay: true|false`" + `. The same key with another body or path is 409
` + "`idempotency_key_mismatch`" + `. A key is of one
caller, one store and one route.

- A run is found by its key for ever. Answers of other routes are kept for 24 hours.
- 202, 400, 401, 403, 429 and everything from 500 on are not kept: the call is decided again.
- A call waits for another with the same key. If that takes too long it is 409 ` + "`idempotency_in_flight`" + ` with ` + "`Retry-After`" + `.
`

const pageErrors = `
## Errors

Every answer from 400 on is ` + "`{\"error\": CODE, \"message\": TEXT, \"details\"?: {…}}`" + `, with no other members and without secrets.
` + "`details.waybillCode`" + ` is the [code](errors.md) of the command line, ` + "`details.correlationId`" + `, from 500 on, is in the request log too, and
` + "`details.retryAfter`" + ` and the header ` + "`Retry-After`" + ` are seconds.

| status | ` + "`error`" + ` | codes |
| --- | --- | --- |
`

const pageLimits = `
## Limits

| of | | beyond |
| --- | --- | --- |
`
