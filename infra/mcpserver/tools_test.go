package mcpserver

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
)

// TestToolSignatures pins the interface for agents (docs/design.md#callers): no decision of the
// user is among the tools.
func TestToolSignatures(t *testing.T) {
	want := []string{
		"list_workflows {}",
		"inspect_workflow {workflowId}",
		"start_workflow {workflowId, goal?, context?, tags? [], preferences? {autonomy?, riskPolicy?}}",
		"continue_workflow {stateToken, ackToken?, context?, output? {notesMarkdown?, artifacts? []}}",
		"checkpoint_workflow {stateToken, checkpointToken, output {notesMarkdown?, artifacts? []}}",
		"resume_session {query?, sessionId?, runId?}",
	}
	var got []string
	for _, d := range Definitions() {
		got = append(got, d.Signature)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// listTools is tools/list as a client receives it.
func listTools(t *testing.T) (tools []map[string]any) {
	t.Helper()
	c := connect(t, Server{Calls: &fakeUseCases{}}, "t")
	var list struct{ Tools []map[string]any }
	if err := json.Unmarshal(c.call("tools/list", "{}").Result, &list); err != nil {
		t.Fatal(err)
	}
	return list.Tools
}

// TestDescriptionSizeIsBounded: the descriptions take space in every chat that has the tools.
func TestDescriptionSizeIsBounded(t *testing.T) {
	const tokensMax, bytesPerToken = 1100, 4
	total := len(instructions)
	var count func(v any)
	count = func(v any) {
		switch at := v.(type) {
		case map[string]any:
			for name, member := range at {
				if text, ok := member.(string); ok && (name == "description" || name == "title") {
					total += len(text)
				}
				count(member)
			}
		case []any:
			for _, item := range at {
				count(item)
			}
		}
	}
	tools := listTools(t)
	for _, tool := range tools {
		count(tool)
		if len(tool["description"].(string)) < 100 {
			t.Errorf("%s has a description of less than 100 bytes", tool["name"])
		}
	}
	if len(tools) != 6 || total == 0 {
		t.Fatalf("%d tools, %d bytes", len(tools), total)
	}
	if total > tokensMax*bytesPerToken {
		t.Errorf("the descriptions take %d bytes, about %d tokens; at most %d tokens", total, total/bytesPerToken,
			tokensMax)
	}
	t.Logf("%d bytes, about %d tokens", total, total/bytesPerToken)
}

// TestInputSchemasAreClosedAndOutputSchemasOpen walks every schema
// (docs/design.md#json-from-outside).
func TestInputSchemasAreClosedAndOutputSchemasOpen(t *testing.T) {
	objects := 0
	var walk func(name string, v any, closed bool)
	walk = func(name string, v any, closed bool) {
		at, _ := v.(map[string]any)
		if at["type"] == "object" {
			objects++
			free := name == "context" || name == "artifacts" // any members
			if extra, given := at["additionalProperties"]; given != (closed && !free) || given && extra != false {
				t.Errorf("%s: additionalProperties %v (given: %v), closed: %v", name, extra, given, closed)
			}
		}
		if at["description"] == "" || closed && at["type"] == nil {
			t.Errorf("%s: %v", name, at)
		}
		properties, _ := at["properties"].(map[string]any)
		for member, p := range properties {
			if closed && name != "preferences" && p.(map[string]any)["description"] == nil {
				t.Errorf("%s is not described", member)
			}
			walk(member, p, closed)
		}
		if items, ok := at["items"]; ok {
			walk(name, items, closed)
		}
	}
	for _, tool := range listTools(t) {
		walk(tool["name"].(string), tool["inputSchema"], true)
		walk(tool["name"].(string), tool["outputSchema"], false)
	}
	if objects < 20 {
		t.Errorf("only %d objects were checked", objects)
	}
}

func TestInvalidArgumentsAreRejected(t *testing.T) {
	rows := []struct{ tool, args, message, pointer string }{
		{"start_workflow", `{"workflowId":"a","workflowId":"b"}`, "duplicate key", ""},
		{"start_workflow", `{"workflowId":"a","WorkflowID":"b"}`, "differ only in case", ""},
		{"start_workflow", `{"workflowId":"a","context":{"n":9007199254740993}}`, "send it as a string", "/context/n"},
		{"start_workflow", `{"workflowId":"a","context":{"deep":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) +
			`}}`, "nested deeper", ""},
		{"start_workflow", `{"workflowId":"a","title":"x"}`, `unknown key "title"`, ""},
		{"start_workflow", `{}`, `missing key "workflowId"`, ""},
		{"start_workflow", `{"workflowId":null}`, `missing key "workflowId"`, ""},
		{"start_workflow", `{"workflowId":7}`, "want string, got number", "/workflowId"},
		{"start_workflow", `{"workflowId":"a","context":"{}"}`, "want object, got string", "/context"},
		{"start_workflow", `{"workflowId":"a","preferences":{"mode":"fast"}}`, `unknown key "mode"`, "/preferences"},
		{"continue_workflow", `{"stateToken":"x","notesMarkdown":"n"}`, `unknown key "notesMarkdown"`, ""},
		{"continue_workflow", `{"stateToken":"x","output":{"artifacts":[1]}}`, "want object, got number",
			"/output/artifacts/0"},
		{"continue_workflow", `{"stateToken":"x","preferences":{}}`, `unknown key "preferences"`, ""},
		{"checkpoint_workflow", `{"stateToken":"x","checkpointToken":"y"}`, `missing key "output"`, ""},
		{"list_workflows", `{"all":true}`, `unknown key "all"`, ""},
		{"list_workflows", `[]`, "want object, got array", ""},
	}
	f := &fakeUseCases{}
	c := connect(t, Server{Calls: f}, "t")
	for _, row := range rows {
		d, isError := c.tool(row.tool, row.args)
		if !isError || d.Error.Code != "VALIDATION_ERROR" || !strings.Contains(d.Error.Message, row.message) ||
			!strings.Contains(d.Error.Message, row.tool) {
			t.Errorf("%s %.80s: %+v", row.tool, row.args, d.Error)
		}
		if row.pointer != "" && d.Error.Details["pointer"] != row.pointer {
			t.Errorf("%s %.80s: pointer %v, want %s", row.tool, row.args, d.Error.Details["pointer"], row.pointer)
		}
		if !strings.Contains(d.Error.Suggestion, row.tool+" {") {
			t.Errorf("%s: the suggestion does not show the call: %s", row.tool, d.Error.Suggestion)
		}
	}
	if f.calls.Load() != 0 {
		t.Error("a refused call was made")
	}
}

func TestArgumentsArePassedUnchanged(t *testing.T) {
	f := &fakeUseCases{}
	c := connect(t, Server{Calls: f}, "t")
	c.tool("continue_workflow",
		`{"stateToken":"s","ackToken":"a","context":{"gone":null,"n":1.50},"output":{"notesMarkdown":"ü","artifacts":[{"kind":"k","x":null}]}}`)
	in := f.last.(ContinueWorkflow)
	if in.StateToken != "s" || in.AckToken != "a" || string(in.Context.Value().JCS()) != `{"gone":null,"n":1.5}` ||
		in.Output.NotesMarkdown != "ü" ||
		string(in.Output.Artifacts[0].Value().JCS()) != `{"kind":"k","x":null}` {
		t.Errorf("got %+v", in)
	}
	// Many clients send null for absent parameters.
	c.tool("continue_workflow",
		`{"stateToken":"s","ackToken":null,"context":null,"output":{"notesMarkdown":null,"artifacts":null}}`)
	if in := f.last.(ContinueWorkflow); in.AckToken != "" || !in.Context.Value().IsNull() ||
		in.Output.Artifacts != nil {
		t.Errorf("got %+v", in)
	}
	if d, isError := c.tool("list_workflows", "null"); isError {
		t.Errorf("got %+v", d)
	}
	c.tool("start_workflow", `{"workflowId":"w","preferences":{"riskPolicy":"balanced","autonomy":"guided"}}`)
	if got := f.last.(StartWorkflow).Preferences.Changes(); len(got) != 2 || got[0].Value != "guided" ||
		got[1].Key != "riskPolicy" {
		t.Errorf("got %+v", got)
	}
}

// TestSuggestionsNameToolsOrTheUser: a suggestion names the tool for what an agent can do, and
// leaves other commands to the user.
func TestSuggestionsNameToolsOrTheUser(t *testing.T) {
	for _, row := range fault.Table {
		for _, tool := range tools {
			got := tool.forAgent(fault.New(row.Code, "x"), "").Suggestion.String()
			for _, command := range []string{"'waybill continue", "'waybill runs list", "'waybill workflows list",
				"--"} {
				if strings.Contains(got, command) && !strings.Contains(got, "the user") &&
					row.Retry.Kind == fault.NotRetryable {
					t.Errorf("%s in %s: %s", row.Code, tool.name, got)
				}
			}
			if strings.Contains(got, "'waybill ") && !strings.Contains(got, "the user") {
				t.Errorf("%s: the suggestion does not name who acts: %s", row.Code, got)
			}
		}
	}
	f := fault.New(fault.TokenScopeMismatch, "x").
		Suggest("Send the two tokens of one answer; %s returns new ones.",
			fault.Command{"continue", "--store", "/s", "--run", "run_abc"})
	if got, want := tools[3].forAgent(f, "").Suggestion.String(),
		`Send the two tokens of one answer; resume_session {"runId":"run_abc"} returns new ones.`; got != want {
		t.Errorf("got %s", got)
	}
	f = fault.New(fault.TokenBadSignature, "x").
		Suggest("Check --store and --tenant; then get fresh tokens with %s.", fault.Command{"continue", "--run", "ID"})
	if got := tools[3].forAgent(f, "").Suggestion.String(); strings.Contains(got, "--") ||
		!strings.Contains(got, "resume_session") {
		t.Errorf("got %s", got)
	}
}
