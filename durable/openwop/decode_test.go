package openwop_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/openwop"
)

// object is an object of a length in bytes.
func object(bytes int) string { return `{"k":"` + strings.Repeat("x", bytes-len(`{"k":""}`)) + `"}` }

// tags is a list of n tags.
func tags(n int) string { return `["` + strings.Repeat(`t","`, n-1) + `t"]` }

// decode reads a request.
func decode(body string) (openwop.CreateRun, error) {
	v, err := canon.Parse([]byte(body))
	if err != nil {
		return openwop.CreateRun{}, err
	}
	return openwop.DecodeCreateRun(v)
}

// TestRequestsToCreateARun: what is accepted, and the place of what is refused.
func TestRequestsToCreateARun(t *testing.T) {
	const ok = "accepted"
	deep := strings.Repeat(`{"k":`, limits.ContextDepthMax+1) + `1` + strings.Repeat(`}`, limits.ContextDepthMax+1)
	for _, row := range []struct{ body, pointer string }{
		{`{"workflowId":"w"}`, ok},
		{`{"workflowId":"w","inputs":{"any":[1]},"tenantId":"t","scopeId":"s","callbackUrl":"http://127.0.0.1/x","configurable":{"any":1},"tags":["a","a"],"metadata":{"m":null}}`, ok},
		{`{}`, ""}, {`[]`, ""}, {`{"workflowId":""}`, "/workflowId"}, {`{"workflowId":7}`, "/workflowId"},
		{`{"workflowId":"w","extra":1}`, "/extra"}, {`{"workflowId":"w","a/b":1}`, "/a~1b"},
		{`{"workflowId":"w","inputs":[]}`, "/inputs"}, {`{"workflowId":"w","inputs":null}`, "/inputs"},
		{`{"workflowId":"w","inputs":{"__proto__":1}}`, "/inputs"},
		{`{"workflowId":"w","inputs":` + deep + `}`, "/inputs"},
		{`{"workflowId":"w","inputs":` + object(limits.ContextBytesMax) + `}`, ok},
		{`{"workflowId":"w","inputs":` + object(limits.ContextBytesMax+1) + `}`, "/inputs"},
		{`{"workflowId":"w","configurable":{"recursionLimit":1,"model":"m","temperature":2,"maxTokens":1,"promptOverrides":{"a":"b"},"mockProvider":{"id":"i","config":{}}}}`, ok},
		{`{"workflowId":"w","configurable":{"recursionLimit":0}}`, "/configurable/recursionLimit"},
		{`{"workflowId":"w","configurable":{"recursionLimit":1.5}}`, "/configurable/recursionLimit"},
		{`{"workflowId":"w","configurable":{"temperature":2.1}}`, "/configurable/temperature"},
		{`{"workflowId":"w","configurable":{"temperature":-0.1}}`, "/configurable/temperature"},
		{`{"workflowId":"w","configurable":{"model":""}}`, "/configurable/model"},
		{`{"workflowId":"w","configurable":{"promptOverrides":{"a":1}}}`, "/configurable/promptOverrides/a"},
		{`{"workflowId":"w","configurable":{"mockProvider":{"id":"i","more":1}}}`, "/configurable/mockProvider/more"},
		{`{"workflowId":"w","configurable":` + object(50<<10) + `}`, ok},
		{`{"workflowId":"w","configurable":` + object(50<<10+1) + `}`, "/configurable"},
		{`{"workflowId":"w","metadata":` + object(50<<10+1) + `}`, "/metadata"},
		{`{"workflowId":"w","metadata":` + object(40<<10) + `,"configurable":` + object(40<<10) + `}`, "/metadata"},
		{`{"workflowId":"w","tags":` + tags(100) + `}`, ok}, {`{"workflowId":"w","tags":` + tags(101) + `}`, "/tags"},
		{`{"workflowId":"w","tags":[""]}`, "/tags/0"}, {`{"workflowId":"w","tags":["` + strings.Repeat("ü", 256) + `"]}`, ok},
		{`{"workflowId":"w","tags":["a","` + strings.Repeat("ü", 257) + `"]}`, "/tags/1"},
	} {
		shown := row.body[:min(len(row.body), 90)]
		got, err := decode(row.body)
		if row.pointer == ok {
			if err != nil || got.WorkflowID != "w" {
				t.Errorf("%s: %v", shown, err)
			}
			continue
		}
		f := fault.Of(err)
		if f == nil || f.Code != fault.ValidationError || f.Details["pointer"] != row.pointer {
			t.Errorf("%s: %v, details %v, want a pointer to %q", shown, err, f, row.pointer)
		}
	}
	if _, err := canon.ValueOf(map[string]any{"x": openwop.CreateRunSchema()}); err != nil {
		t.Error(err)
	}
}

// TestManyProblemsAreBounded: a request with thousands of unknown members gets a small error.
func TestManyProblemsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `"k%d":1,`, i)
	}
	_, err := decode(`{` + b.String() + `"workflowId":"w"}`)
	_, e := openwop.EnvelopeOf(err)
	text, marshalErr := canon.Marshal(e)
	if marshalErr != nil || len(text) > 4096 {
		t.Errorf("an envelope of %d bytes, %v", len(text), marshalErr)
	}
}

// TestARequestIsReadCompletely: each member arrives.
func TestARequestIsReadCompletely(t *testing.T) {
	const body = `{"callbackUrl":"u","configurable":{"a":1},"inputs":{"b":2},"metadata":{"c":3},"scopeId":"s","tags":["t"],"tenantId":"n","workflowId":"w"}`
	got, err := decode(body)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := canon.Marshal(got); err != nil || string(back) != body {
		t.Errorf("%s %v", back, err)
	}
}
