package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/infra/mcpserver"
)

// inProcess returns an agent whose server runs in this process, with the working directory of p.
func inProcess(t *testing.T, p program) *agent {
	t.Helper()
	t.Chdir(p.dir)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ended := make(chan int, 1)
	var diagnostics bytes.Buffer
	go func() {
		ended <- run([]string{"mcp"}, inR, outW, &diagnostics,
			[]string{"HOME=" + p.dir, "USERPROFILE=" + p.dir, "WAYBILL_HOME=" + p.store})
		_ = outW.Close()
	}()
	c := &agent{t: t, in: inW, out: bufio.NewReaderSize(outR, 1<<20)}
	t.Cleanup(func() {
		_ = inW.Close()
		if status := <-ended; status != 0 || diagnostics.Len() > 0 {
			t.Errorf("exit status %d\n%s", status, diagnostics.String())
		}
	})
	return c
}

// TestAgentDocIsCurrent compares docs/mcp.md with the definitions of the tools and a dialogue
// that is executed here; with -update it writes the file.
func TestAgentDocIsCurrent(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Tools for agents

<!-- Generated from the tools themselves by 'go test ./cmd/waybill -update'. Do not edit. -->

` + "`waybill mcp`" + ` serves the Model Context Protocol on stdin and stdout: one JSON-RPC message a line, at most 8 MiB
long. An agent's program starts it, in the directory whose workflows it should find:

` + "```json\n" + `{"mcpServers": {"waybill": {"command": "waybill", "args": ["mcp"]}}}
` + "```" + `

` + "`waybill mcp install claude|codex|gemini|opencode`" + ` shows how your settings of that client change, and writes them
after you confirmed it.

Flags such as ` + "`--store DIR`, `--tenant NAME` and `--as REF`" +
		` are added after "mcp". The server keeps no state between
calls: it may be killed and started again at any moment, tokens stay valid, and people can inspect the same
runs with the other commands meanwhile.

Each result is one document, as structured content and as the same text, since a client shows its agent one of them:
` + "`{\"v\":1,\"kind\":K,\"data\":{…}}`" +
		`. It is the one that the command line prints with --json, without ` + "`workflow.workflowHash`" + `,
the sources of preferences that are defaults, and ` + "`next.command`" + ` where the tool call does the same. The output
schemas of the tools name the envelope; 'waybill schema' prints the schema of each kind. Errors are data too, with isError:
` + "`{\"v\":1,\"kind\":\"error\",\"error\":{code,message,retry,suggestion,details?}}`" +
		`; errors.md has every code. Only errors of
the protocol itself, such as an unknown tool, are protocol errors. Parameters are closed: one that is
not known is refused, and so is a "…" of ` + "`next.params`" + ` that was left as it was. Numbers beyond 2^53, keys that
occur twice and JSON nested over 64 levels are refused with their position.

The warning SECRET_SUSPECTED of an answer names the place (` + "`pointer`" + `) of what may be a password, a token or a
key in what was sent. It is stored as it is: tell the user.

Decisions of a person are not tools: approving, trusting, applying, repairing, deleting. Autonomy
beyond the configured agentMaxAutonomy (full_auto_stop_on_user_deps by default) is refused.
Facts are recorded with an agent as actor, under the name that its program gives itself, or that of --as.

## Prompts, resources and questions

Beside the tools the server has one prompt for each workflow that can be started, named as it, with its declared inputs
as arguments. Its text is the call of start_workflow with the values that were given; it starts nothing by itself.

Two forms of addresses are read as resources: ` + "`waybill://run/RUN_ID`" + `, the document of 'waybill runs show', and
` + "`waybill://workflow/ID`" + `, that of inspect_workflow. The list of resources has the ` +
		fmt.Sprint(limits.MCPRunsListed) + ` latest runs and the workflows that
can be started; other runs are read by their complete id. An address without a resource is an error of the protocol.

If the client declares the capability ` + "`elicitation`" + ` with forms, continue_workflow asks its user, before an attempt, for
declared inputs that the step needs and the call does not bring, and for the confirmation of a step that waits for one
in guided mode. It never asks for a secret, an approval, trust or a setting. What is not answered within two minutes is
left out: the attempt is blocked as usual, and without a confirmation the answer is the step as it is, with the
warning NOT_CONFIRMED. What was asked for is recorded with the attempt (` + "`elicited`" + `).

` + "`traceparent`" + ` in the ` + "`_meta`" + ` of a call, in the form of W3C Trace Context, is recorded with the attempt and shown by
'waybill runs show'. ` + "`ttlMs`" + ` of lists says how long they may be kept: the tools an hour, prompts and resources five seconds.
`)
	for _, d := range mcpserver.Definitions() {
		toolDoc(&b, d)
	}
	dialogue(t, &b)
	current(t, filepath.Join(home, "../../docs/mcp.md"), b.String())
}

func toolDoc(b *strings.Builder, d mcpserver.Definition) {
	fmt.Fprintf(b, "\n## %s\n\n%s. `%s`\n\nDescription for agents:\n\n```text\n%s\n```\n", d.Name, d.Title, d.Signature,
		d.Description)
	parameters := listParameters("", d.Input)
	if len(parameters) > 0 {
		b.WriteString("\n| parameter | type | | |\n| --- | --- | --- | --- |\n")
	}
	for _, p := range parameters {
		need, about := "optional", p.Description
		if p.Required {
			need = "required"
		}
		if len(p.Words) > 0 {
			about = strings.TrimSpace(about + " One of " + strings.Join(p.Words, ", ") + ".")
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", p.Name, p.Type, need, about)
	}
	kinds := make([]string, len(d.Kinds))
	for i, k := range d.Kinds {
		kinds[i] = "`" + k + "`"
	}
	codes := make([]string, len(d.Errors))
	for i, c := range d.Errors {
		codes[i] = "`" + string(c) + "`"
	}
	fmt.Fprintf(b, "\nKind of its document: %s.\nErrors, besides those of the store: %s.\n",
		strings.Join(kinds, " or "), strings.Join(codes, ", "))
}

// parameter is one parameter of a tool, or one member of an object parameter.
type parameter struct {
	Name        string // with the names of the enclosing objects: output.notesMarkdown
	Type        string // as in JSON Schema
	Words       []string
	Required    bool
	Description string
}

// listParameters lists the properties of s and of the objects in it, in order.
func listParameters(prefix string, s *jsonschema.Schema) []parameter {
	var out []parameter
	for _, name := range s.PropertyOrder {
		p := s.Properties[name]
		one := parameter{Name: prefix + name, Type: p.Type, Required: slices.Contains(s.Required, name),
			Description: p.Description}
		for _, w := range p.Enum {
			one.Words = append(one.Words, fmt.Sprint(w))
		}
		out = append(append(out, one), listParameters(prefix+name+".", p)...)
	}
	return out
}

// dialogue writes the messages between an agent and the server. Only ids, tokens and digests
// are masked.
func dialogue(t *testing.T, b *strings.Builder) {
	p := programWithWorkflows(t, "team.talk", "team.walk")
	c := inProcess(t, p)
	c.greet()
	conforms := schemas(t, c)
	say := func(about, tool string, args any) reply {
		r := c.tool(tool, args)
		conforms(tool, r)
		text, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(b, "\n%s\n\n```text\n→ %s %s\n← %s\n```\n", about, tool, masked(t, string(text)), masked(t, r.raw))
		return r
	}
	b.WriteString("\n## A dialogue\n\nThis took place when this page was written; ids, tokens and digests are cut.\n")
	one := say("A run begins with its first step.", "start_workflow", map[string]any{"workflowId": "team.talk"})
	blocked := say("The step is handed in with nothing. It is not accepted, and blockers say why.", "continue_workflow",
		map[string]any{"stateToken": one.Data.StateToken, "ackToken": one.Data.AckToken})
	two := say("It is handed in with notes and the tokens of that answer: its `next.params`, filled in.",
		"continue_workflow", blocked.ready("Did the first thing."))
	other := c.tool("start_workflow", `{"workflowId":"team.walk"}`)
	say("A second workflow was started in the same chat, and the tokens are mixed up. Nothing is recorded.",
		"continue_workflow",
		map[string]any{"stateToken": two.Data.StateToken, "ackToken": other.Data.AckToken})
	say("A new chat finds the run again.", "resume_session", map[string]any{"runId": one.Data.Session.RunID})
	three := c.tool("continue_workflow", two.ready("ACME"))
	conforms("continue_workflow", three)
	end := say("The last step is handed in, and the run is complete.", "continue_workflow",
		three.ready("Did the last thing."))
	if !end.Data.IsComplete {
		t.Errorf("the dialogue does not complete the run: %s", end.raw)
	}
	for tool, args := range map[string]any{"list_workflows": "{}", "inspect_workflow": `{"workflowId":"team.talk"}`,
		"resume_session": "{}",
		"checkpoint_workflow": map[string]any{"stateToken": other.Data.StateToken,
			"checkpointToken": other.Data.CheckpointToken, "output": map[string]any{"notesMarkdown": "n"}}} {
		r := c.tool(tool, args)
		conforms(tool, r)
		if r.isError {
			t.Errorf("%s: %s", tool, r.raw)
		}
	}
}

// schemas returns a function that validates a document of a tool against the output schema
// that the server lists for the tool.
func schemas(t *testing.T, c *agent) func(tool string, r reply) {
	var list struct {
		Tools []struct {
			Name         string
			OutputSchema *jsonschema.Schema
		}
	}
	if err := json.Unmarshal(c.call("tools/list", "{}"), &list); err != nil {
		t.Fatal(err)
	}
	resolved := map[string]*jsonschema.Resolved{}
	for _, tool := range list.Tools {
		r, err := tool.OutputSchema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		resolved[tool.Name] = r
	}
	errors := map[string][]fault.Code{}
	for _, d := range mcpserver.Definitions() {
		errors[d.Name] = d.Errors
	}
	return func(tool string, r reply) {
		t.Helper()
		var doc any
		if err := json.Unmarshal([]byte(r.raw), &doc); err != nil {
			t.Fatal(err)
		}
		if err := resolved[tool].Validate(doc); err != nil {
			t.Errorf("%s: %v\n%s", tool, err, r.raw)
		}
		if r.isError && !slices.Contains(errors[tool], fault.Code(r.Error.Code)) {
			t.Errorf("%s fails with %s, which its page does not name", tool, r.Error.Code)
		}
	}
}

// longWord matches tokens, digests and ids; the page shows only their beginning.
var longWord = expression(
	`\b(st\.v1\.|ack\.v1\.|chk\.v1\.|(?:run|sess|node|attempt)_|sha256:)[A-Za-z0-9_.-]{16,}`)

// aTime matches the time of the last event of a run.
var aTime = expression(`"lastAtMs":\d+`)

// masked returns a document as the page shows it: indented, with the parts that differ between
// executions masked.
func masked(t *testing.T, text string) string {
	t.Helper()
	text = aTime().ReplaceAllString(longWord().ReplaceAllString(text, "$1…"), `"lastAtMs":0`)
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	raw, err := canon.ValueOf(doc)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw.JCS(), "", "  "); err != nil {
		t.Fatal(err)
	}
	if out.Len() < 120 {
		return string(raw.JCS())
	}
	return out.String()
}
