package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
)

// TestToolListIsShort: the list of tools is part of every chat that has them. Clients cut descriptions of
// more than 2,047 characters.
func TestToolListIsShort(t *testing.T) {
	const listBytesMax, descriptionMax = 12_000, 2048
	c := connect(t, Server{Calls: &fakeUseCases{}}, "t")
	raw := c.call("tools/list", "{}").Result
	if len(raw) > listBytesMax || len(raw) < 4000 {
		t.Errorf("tools/list has %d bytes, at most %d", len(raw), listBytesMax)
	}
	var list struct {
		Tools []struct{ Name, Description string }
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, tool := range list.Tools {
		order = append(order, tool.Name)
		if n := len(tool.Description); n >= descriptionMax || n < 100 {
			t.Errorf("%s: a description of %d bytes", tool.Name, n)
		}
	}
	if got := strings.Join(order, " "); got != "list_workflows inspect_workflow start_workflow continue_workflow "+
		"checkpoint_workflow resume_session" {
		t.Errorf("the tools are in the order %s", got)
	}
}

// someWorkflows are n workflows, the first with inputs.
func someWorkflows(n int) (out []Startable) {
	for i := range n {
		out = append(out, Startable{WorkflowID: fmt.Sprintf("test.w%d", i), Name: "W", Description: "d"})
	}
	out[0].Description = strings.Repeat("ü", limits.MCPTextShownMax)
	out[0].Inputs = []Input{{Key: "customer", Description: "Who", FromStart: true},
		{Key: "size", Description: "How big", Choices: []string{"S", "L"}}}
	return out
}

// TestPromptsOfWorkflows: one prompt per workflow, in pages, whose text is the call with the values.
func TestPromptsOfWorkflows(t *testing.T) {
	f := &fakeUseCases{startable: someWorkflows(limits.MCPListMax + 3)}
	c := connect(t, Server{Calls: f}, "t")
	var list struct {
		Prompts []struct {
			Name, Description string
			Arguments         []struct {
				Name, Description string
				Required          bool
			}
		}
		NextCursor string
	}
	decode := func(m message) {
		t.Helper()
		list.Prompts, list.NextCursor = nil, ""
		if m.Error != nil || json.Unmarshal(m.Result, &list) != nil {
			t.Fatalf("got %+v %s", m.Error, m.Result)
		}
	}
	decode(c.call("prompts/list", "{}"))
	first := list.Prompts[0]
	if len(list.Prompts) != limits.MCPListMax || first.Name != "test.w0" ||
		len(first.Description) > limits.MCPTextShownMax || len(first.Arguments) != 2 || !first.Arguments[0].Required ||
		first.Arguments[1].Required || first.Arguments[1].Description != "How big (one of S, L)" {
		t.Errorf("%d prompts, the first is %+v", len(list.Prompts), first)
	}
	decode(c.call("prompts/list", fmt.Sprintf(`{"cursor":%q}`, list.NextCursor)))
	if len(list.Prompts) != 3 || list.NextCursor != "" {
		t.Errorf("the second page: %+v", list)
	}
	for _, cursor := range []string{"-1", "1000", "x", "18446744073709551616"} {
		if m := c.call("prompts/list", fmt.Sprintf(`{"cursor":%q}`, cursor)); m.Error == nil || m.Error.Code != -32602 {
			t.Errorf("cursor %s: %+v", cursor, m)
		}
	}

	got := string(c.call("prompts/get", `{"name":"test.w0","arguments":{"customer":"A\"C\nME","size":"L"}}`).Result)
	var text string
	var prompt struct {
		Messages []struct {
			Role    string
			Content struct{ Text string }
		}
	}
	if err := json.Unmarshal([]byte(got), &prompt); err != nil || len(prompt.Messages) != 1 {
		t.Fatalf("%v: %s", err, got)
	}
	text = prompt.Messages[0].Content.Text
	if !strings.Contains(text, `start_workflow with`+"\n\n"+
		`{"context":{"customer":"A\"C\nME","size":"L"},"workflowId":"test.w0"}`) ||
		strings.Contains(text, "Ask them") {
		t.Errorf("got %s", text)
	}
	// An answer that is missing is asked for before the start.
	if got := string(c.call("prompts/get", `{"name":"test.w0"}`).Result); !strings.Contains(got, "Ask them before") ||
		!strings.Contains(got, "customer") {
		t.Errorf("got %s", got)
	}
	for _, params := range []string{`{"name":"test.none"}`, `{"name":"test.w0","arguments":{"other":"x"}}`,
		`{"name":"test.w0","arguments":{"size":"XL"}}`} {
		if m := c.call("prompts/get", params); m.Error == nil || m.Error.Code != -32602 {
			t.Errorf("%s: %+v", params, m)
		}
	}
	if f.calls.Load() != 0 {
		t.Error("a prompt made a call")
	}
}

// TestResources: runs and workflows are read by their address; nothing else is.
func TestResources(t *testing.T) {
	f := &fakeUseCases{startable: someWorkflows(2)}
	for i := range limits.MCPRunsListed + 5 {
		f.runs = append(f.runs, ListedRun{RunID: fmt.Sprintf("run_%d", i), Title: "T", Status: "complete"})
	}
	c := connect(t, Server{Calls: f}, "t")
	var list struct {
		Resources []struct{ URI, Name, MIMEType string }
	}
	if err := json.Unmarshal(c.call("resources/list", "{}").Result, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Resources) != limits.MCPRunsListed+2 || list.Resources[0].URI != "waybill://run/run_0" ||
		list.Resources[limits.MCPRunsListed].URI != "waybill://workflow/test.w0" {
		t.Errorf("%d resources: %+v", len(list.Resources), list.Resources)
	}
	templates := string(c.call("resources/templates/list", "{}").Result)
	for _, want := range []string{"waybill://run/{runId}", "waybill://workflow/{workflowId}"} {
		if !strings.Contains(templates, want) {
			t.Errorf("no %s in %s", want, templates)
		}
	}
	for uri, kind := range map[string]string{"waybill://run/run_1": "run", "waybill://workflow/test.w0": "workflow"} {
		var read struct {
			Contents []struct{ URI, MIMEType, Text string }
		}
		m := c.call("resources/read", fmt.Sprintf(`{"uri":%q}`, uri))
		if m.Error != nil || json.Unmarshal(m.Result, &read) != nil || len(read.Contents) != 1 {
			t.Fatalf("%s: %+v %s", uri, m.Error, m.Result)
		}
		var doc document
		if err := json.Unmarshal([]byte(read.Contents[0].Text), &doc); err != nil || doc.Kind != kind ||
			read.Contents[0].URI != uri || read.Contents[0].MIMEType != "application/json" {
			t.Errorf("%s: %v %+v", uri, err, read.Contents[0])
		}
	}
	before := f.calls.Load()
	for _, uri := range []string{"waybill://run/", "waybill://runs/run_1", "file:///etc/passwd", "waybill:run/run_1", "",
		"WAYBILL://run/run_1"} {
		if m := c.call("resources/read", fmt.Sprintf(`{"uri":%q}`, uri)); m.Error == nil || m.Error.Code != -32602 {
			t.Errorf("%q: %+v %s", uri, m.Error, m.Result)
		}
	}
	if f.calls.Load() != before {
		t.Error("an unknown address made a call")
	}
	f.fail = fault.New(fault.RunNotFound, "no run")
	if m := c.call("resources/read", `{"uri":"waybill://run/run_1"}`); m.Error == nil || m.Error.Code != -32602 ||
		m.Error.Message != "no run" {
		t.Errorf("an unknown run: %+v", m.Error)
	}
	f.fail = fault.New(fault.StoreIO, "the disk")
	if m := c.call("resources/read", `{"uri":"waybill://run/run_1"}`); m.Error == nil || m.Error.Code != -32603 {
		t.Errorf("a store that cannot be read: %+v", m.Error)
	}
	f.fail, f.panics = nil, true
	if m := c.call("resources/read", `{"uri":"waybill://run/run_1"}`); m.Error == nil || m.Error.Code != -32603 {
		t.Errorf("a bug: %+v", m.Error)
	}
}

// TestResultsSayHowLongTheyAreFresh: what depends on the files and the store of a user is for that user.
func TestResultsSayHowLongTheyAreFresh(t *testing.T) {
	f := &fakeUseCases{startable: someWorkflows(1)}
	for method, want := range map[string]string{
		"tools/list": "3600000 public", "prompts/list": "5000 private", "resources/list": "5000 private",
		"resources/templates/list": "3600000 public",
		"resources/read run":       "0 private", "resources/read workflow": "5000 private",
	} {
		c := dial(t, Server{Calls: f})
		name, params := method, ""
		if at, id, found := strings.Cut(method, " "); found {
			name, params = at, fmt.Sprintf(`"uri":"waybill://%s/x",`, id)
		}
		m := c.call(name, `{`+params+`"_meta":`+newMeta("{}")+`}`)
		var got struct {
			TTLMs      int
			CacheScope string
		}
		if m.Error != nil || json.Unmarshal(m.Result, &got) != nil ||
			fmt.Sprint(got.TTLMs, " ", got.CacheScope) != want {
			t.Errorf("%s: %+v %+v, want %s", method, m.Error, got, want)
		}
	}
}

// newMeta is the _meta of a request in the version of the protocol without a handshake.
func newMeta(capabilities string) string {
	return `{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":` + capabilities + `}`
}

// TestSuggestionsNameTheRun: the run of the call is in the place of a word for it.
func TestSuggestionsNameTheRun(t *testing.T) {
	const run = "run_psqo7kb2m3vwdb6efdovh4mlwm"
	f := &fakeUseCases{}
	c := connect(t, Server{Calls: f}, "t")
	// The token of a run, with a wrong signature.
	const state = "st.v1.eyJub2RlSWQiOiJub2RlXzRkNHJ4bmF3NDZ6amluanY3ZTNxNjR1eGt5IiwicnVuSWQiOiJydW5fcHNxbzdrYjJtM3Z3ZGI2ZWZkb3ZoNG1sd20iLCJzZXNzaW9uSWQiOiJzZXNzXzV2N2p1bDIyenVneGtwcGJiaW95cGRubWc0IiwidG9rZW5LaW5kIjoic3RhdGUiLCJ0b2tlblZlcnNpb24iOjEsIndvcmtmbG93SGFzaCI6InNoYTI1Njo4MzNlMjljMjNmOTQ3ZWExYmJmZWIyMWNjMTI5OTg5NmNjZDk0NDA3MDQ2MzMyNDJmNmVmYmE1ZjNkYTEyN2Y0In0.AAAA"
	for _, code := range []fault.Code{fault.TokenBadSignature, fault.TokenUnknownNode, fault.TokenWorkflowHashMismatch,
		fault.TokenUnsupportedVersion} {
		f.fail = fault.New(code, "x")
		d, _ := c.tool("continue_workflow", fmt.Sprintf(`{"stateToken":%q}`, state))
		if !strings.Contains(d.Error.Suggestion, `resume_session {"runId":"`+run+`"}`) {
			t.Errorf("%s: %s", code, d.Error.Suggestion)
		}
	}
	// Of a call that names no run, none is made up.
	f.fail = fault.New(fault.TokenBadSignature, "x")
	if d, _ := c.tool("continue_workflow", `{"stateToken":"st.v1.AAAA.AAAA"}`); strings.Contains(d.Error.Suggestion, "run_") ||
		!strings.Contains(d.Error.Suggestion, "resume_session") {
		t.Errorf("got %s", d.Error.Suggestion)
	}
}
