package installable

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/promptref"
)

func value(t testing.TB, text string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// row is an artifact and its problems: lines of "severity pointer: words | words of the fix",
// as many as problems are found.
type row struct {
	artifact string
	want     []string
}

func checkRows(t *testing.T, kind Kind, o Options, rows []row) {
	t.Helper()
	for _, r := range rows {
		found := Check(kind, value(t, r.artifact), o)
		lines := make([]string, len(found))
		for i, p := range found {
			lines[i] = fmt.Sprintf("%s %s: %s | %s", p.Severity, p.Pointer, p.Message, p.Fix)
		}
		fits := len(found) == len(r.want)
		for _, want := range r.want {
			head, rest, _ := strings.Cut(want, ": ")
			words, fix, _ := strings.Cut(rest, " | ")
			fits = fits && slices.ContainsFunc(lines, func(s string) bool {
				place, rest, _ := strings.Cut(s, ": ")
				message, suggestion, _ := strings.Cut(rest, " | ")
				return place == head && strings.Contains(message, words) &&
					suggestion != "" && strings.Contains(suggestion, fix)
			})
		}
		if !fits {
			t.Errorf("%.300s:\n got %s\nwant %s", r.artifact, strings.Join(lines, "\n     "),
				strings.Join(r.want, "\n     "))
		}
	}
}

func TestTemplates(t *testing.T) {
	template := func(more string) string {
		return `{"templateId": "review", "version": "1.0.0", "kind": "user"` + more + `}`
	}
	variable := func(text, more string) string {
		return template(`, "text": "` + text + `", "variables": [{"name": "topic", "type": "string"` + more + `}]`)
	}
	checkRows(t, KindPromptTemplate, Options{}, []row{
		{template(`, "text": "Do it."`), nil},
		{variable("On {{topic}}.", `, "required": true, "source": "input", "description": "What it is about"`), nil},
		{variable("On {{topic}}.", `, "required": false, "defaultValue": "bees"`), nil},
		{template(`, "text": "Do it.", "name": "Review", "description": "d", "modelHints": {"modelClass": "writing", "temperature": 2, "maxTokens": 100, "envelopeType": "e"}, "tags": ["a"],
			"meta": {"author": "me", "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z", "source": "pack", "packName": "vendor.acme.prompts", "packVersion": "1.0.0"}`), nil},
		{`[]`, []string{"error : expected an object that describes a prompt template, got array | Write"}},
		{`{}`, []string{`error : lacks "templateId" | Add`, `error : lacks "version" | Add`,
			`error : lacks "kind" | Add`, `error : lacks "text" | Add`}},
		{template(`, "text": "x", "txt": "x"`), []string{`error /txt: no key "txt" | Did you mean "text"?`}},
		{`{"templateId": "Review", "version": "1.0", "kind": "usr", "text": 7}`,
			[]string{"error /templateId: lowercase letters | Write", "error /version: a semantic version | Write",
				`error /kind: expected "system", "user", "few-shot" or "schema-hint", got "usr" | Did you mean "user"?`,
				"error /text: a string, got number | Write"}},
		{template(`, "text": " "`), []string{"warning /text: nothing would be shown | Write"}},
		{template(`, "text": "` + strings.Repeat("ä", limits.PromptTextBytesMax/2) + `x"`),
			[]string{"error /text: at most 65536 bytes, got 65537 | Shorten"}},
		{template(`, "text": "x", "modelHints": {"temperature": 2.5, "maxTokens": 0}, "tags": [""], "name": "` +
			strings.Repeat("x", 201) + `"`), []string{"error /modelHints/temperature: from 0 to 2 | Write",
			"error /modelHints/maxTokens: from 1 | Write", "error /tags/0: 1 to 64 | Write",
			"error /name: at most 200 | Write"}},
		{template(`, "text": "x", "meta": {"source": "pack", "packName": "acme"}`),
			[]string{`error /meta: "packVersion" is missing | Add`,
				"error /meta/packName: the name of a pack | Write"}},
		// Names and declarations.
		{template(`, "text": "{{a}} {{ a }} {{b.c}} {{wr.bindings.x}}"`),
			[]string{`warning /text: no variable "a" is declared; it is filled | Declare`,
				`warning /text: no variable "b.c" | Declare`,
				"warning /text: {{wr.bindings.x}} is not replaced | Remove"}},
		{template(`, "text": "{{topic}} {{tpoic}}", "variables": [{"name": "topic", "type": "string", "required": true}, {"name": "topic", "type": "number", "required": true}]`),
			[]string{"error /variables/1: item 2 repeats item 1 | Remove",
				`warning /text: no variable "tpoic" | Did you mean {{topic}}?`}},
		{variable("{{topic}}", ""), []string{`error /variables/0: lacks "required" | Add`}},
		{variable("{{topic}}", `, "required": true, "kind": "x"`),
			[]string{`error /variables/0/kind: no key "kind" | Remove`}},
		{template(`, "text": "x", "variables": [{"name": "to-pic", "type": "text", "required": 1, "source": "env"}]`),
			[]string{"error /variables/0/name: letters, digits and _ | Write",
				"error /variables/0/type: expected | Write", "error /variables/0/required: true or false | Write",
				"error /variables/0/source: expected | Write", "warning /variables/0: has no {{to-pic}} | Write"}},
		{variable("x", `, "required": false`),
			[]string{"warning /variables/0: has no {{topic}} | remove the variable"}},
		{variable("{{topic}}", `, "required": true, "defaultValue": "x"`),
			[]string{"warning /variables/0/defaultValue: never used | false"}},
		{variable("{{topic}}", `, "required": false, "defaultValue": 1`),
			[]string{"warning /variables/0/defaultValue: of type number, the variable of type string | Write"}},
		{variable("{{topic}}", `, "required": true, "source": "secret"`),
			[]string{"warning /variables/0/source: no workflow can use | where the secret is stored"}},
		{variable("{{topic}}", `, "required": true, "extractPath": "$.a"`),
			[]string{"warning /variables/0/extractPath: not followed | context key"}},
	})
}

const agent = `{"agentId": "local.team.reviewer", "persona": "Reviewer", "modelClass": "reasoning"`

func TestAgents(t *testing.T) {
	pack := func(more, agents string) string {
		return `{"name": "vendor.acme.agents", "version": "1.0.0"` + more + `, "agents": [` + agents + `]}`
	}
	checkRows(t, KindAgentPack, Options{}, []row{
		{agent + `, "systemPrompt": "You review."}`, nil},
		{agent + `, "systemPromptRef": "prompts/review.md", "label": "R", "description": "d", "toolAllowlist": ["mcp:x"], "requiresCapabilities": ["a"], "memoryShape": {"longTerm": true},
			"confidence": {"defaultThreshold": 0.5}, "handoff": {"taskSchemaRef": "a.json"}, "promptLibraryRef": "vendor.x", "promptOverrides": {"user": "prompt:review", "few-shot": {"templateId": "shots"}}, "evalSuiteRef": "e.json"}`, nil},
		{pack("", agent+`, "systemPrompt": "You review."}`), nil},
		{pack(`, "description": "d", "engines": {"openwop": ">=1.0", "waybill": "*"}, "license": "MIT"`,
			agent+`, "systemPrompt": "p"}`), nil},
		{`{}`, []string{`error : has none of "agentId" or "agents" | Add "agentId" or "agents".`}},
		{`"x"`, []string{`error : expected an object with "agentId" or "agents", got "x" | Write`}},
		{agent + `, "systemPrompt": "p", "agents": []}`,
			[]string{`error /agents: "agents" beside "agentId" | Keep one`}},
		{agent + `}`, []string{"error : needs systemPrompt or systemPromptRef | Add"}},
		{agent + `, "systemPrompt": "p", "systemPromptRef": "r"}`,
			[]string{"error /systemPromptRef: not both | Keep one"}},
		{`{"agentId": "host:x", "persona": "", "modelClass": "reasonning", "systemPrompt": ""}`,
			[]string{"error /agentId: the id of an agent | Write", "error /persona: 1 to 200 | Write",
				`error /modelClass: got "reasonning" | Did you mean "reasoning"?`,
				"error /systemPrompt: not empty | Write"}},
		{agent + `, "systemPrompt": "p", "tools": [], "confidence": {"defaultThreshold": 1.5}, "promptOverrides": {"usr": "prompt:a", "user": "review"}}`,
			[]string{`error /tools: no key "tools" | Remove`, "error /confidence/defaultThreshold: from 0 to 1 | Write",
				`error /promptOverrides/usr: no key "usr" | Did you mean "user"?`,
				"error /promptOverrides/user: a reference such as | Write"}},
		{pack("", ""), []string{"error /agents: at least 1 | Add"}},
		{pack(`, "runtime": {"language": "wasm"}`, agent+`, "systemPrompt": "p"}`),
			[]string{`error /runtime: an agent pack has no key "runtime" | Remove`}},
		{pack(`, "engines": {"waybill": "*"}`, agent+`, "systemPrompt": "p"}, `+agent+`}, 3`),
			[]string{"error /engines/openwop: names the versions of openwop | Add",
				"error /agents/1: item 2 repeats item 1 | rename",
				"error /agents/1: needs systemPrompt | Add",
				"error /agents/2: an object that describes an agent, got number | Write"}},
		{`{"name": "acme pack", "version": "1", "agents": {}}`,
			[]string{"error /name: a name of letters | Write", "error /version: a semantic version | Write",
				"error /agents: a list | Write"}},
	})
	for _, text := range []string{agent + `, "systemPrompt": "p", "label": "L"}`,
		pack("", agent+`, "systemPrompt": "p", "label": "L"}`)} {
		got, err := Agents(value(t, text))
		if err != nil || len(got) != 1 || got[0] != (Agent{"local.team.reviewer", "Reviewer", "reasoning", "L", ""}) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, bad := range []string{`{"agents": [1]}`, `{}`, `[]`} {
		if got, err := Agents(value(t, bad)); err == nil {
			t.Errorf("%s: %+v", bad, got)
		}
	}
}

// workflowText returns a workflow with an id and these steps.
func workflowText(id, steps string) string {
	return `{"id": "` + id + `", "name": "N", "description": "d", "version": "1.0.0", "steps": [` + steps + `]}`
}

const look = `{"id": "look", "title": "Look", "prompt": "p"}`

func TestWorkflows(t *testing.T) {
	pack := func(more, workflows string) string {
		return `{"name": "vendor.acme.flows", "version": "1.0.0"` + more + `, "workflows": [` + workflows + `]}`
	}
	looped := `{"id": "l", "type": "loop", "title": "L", "loop": {"type": "for", "count": 2, "maxIterations": 3}, "body": "in"}, {"id": "in", "title": "In", "prompt": "p"}`
	asked := `{"id": "a", "title": "A", "promptRef": "prompt:review"}`
	with := Options{Library: compile.Library{Prompts: promptref.NewLibrary([]promptref.Template{{ID: "review",
		Version: "1.0.0", Kind: promptref.User, Text: "x"}})}}
	checkRows(t, KindWorkflowChainPack, with, []row{
		{workflowText("team.one", look), nil},
		{workflowText("team.asks", asked), nil},
		{pack("", workflowText("team.one", look+","+looped)+","+workflowText("team.asks", asked)), nil},
		{`{"name": "x"}`, []string{`error : has none of "steps", "workflows" or "chains" | Add`}},
		{`{"steps": [], "chains": []}`, []string{`error /chains: "chains" beside "steps" | Keep one`}},
		{workflowText("wr.one", look), []string{`error /id: reserved for bundled workflows | Write "project.one".`}},
		{workflowText("one", look), []string{`warning /id: has no namespace | Write "project.one".`}},
		{workflowText("team.one", `{"id": "look", "title": "Look"}`), []string{"error /steps/0: needs a prompt | Add"}},
		{workflowText("team.one",
			`{"id": "a", "title": "A", "templateCall": {"templateId": "wr.templates.routine.none"}}`),
			[]string{`error /steps/0/templateCall/templateId: routine "none" does not exist | Known are`}},
		{pack("", workflowText("team.one", look)+","+workflowText("team.one", look)),
			[]string{"error /workflows/1: item 2 repeats item 1 | rename"}},
		{pack("", workflowText("team.one", look)+",7,"+
			workflowText("team.two", `{"id": "Look", "title": "Look", "prompt": "p"}, `+asked)),
			[]string{"error /workflows/1: an object, got number | Write",
				`error /workflows/2/steps/0/id: lowercase | Write "look".`}},
		{pack(`, "kind": "workflow-chain"`, workflowText("team.one", look)),
			[]string{`error /kind: a workflow pack has no key "kind" | Remove`}},
		{pack("", ""), []string{"error /workflows: at least 1 | Add"}},
		{strings.Replace(workflowText("team.one", look), `"description": "d"`, `"description": "d", "about": "`+
			strings.Repeat("x", limits.SourceBytesMax)+`"`, 1), []string{"error : at most 4194304 bytes | Split"}},
	})
	// Without a library no template exists.
	checkRows(t, KindWorkflowChainPack, Options{}, []row{
		{workflowText("team.one", asked),
			[]string{`error /steps/0/promptRef: prompt template "review" does not exist | Install it first`}},
		{pack("", workflowText("team.one", asked)),
			[]string{`error /workflows/0/steps/0/promptRef: prompt template "review" does not exist | Install`}},
	})
	one, many := Workflows(value(t, workflowText("team.one", look))),
		Workflows(value(t, pack("", workflowText("team.one", look)+","+workflowText("team.two", look))))
	if len(one) != 1 || one[0].Pointer != "" || len(many) != 2 || many[1].Pointer != "/workflows/1" ||
		string(many[0].Source.JCS()) != string(one[0].Source.JCS()) {
		t.Errorf("one %v, many %v", one, many)
	}
	if none := Workflows(value(t, `{"chains": []}`)); none != nil {
		t.Errorf("of chains: %v", none)
	}
}

func TestChains(t *testing.T) {
	manifest := func(more, nodes, rest string) string {
		return `{"name": "vendor.acme.presets", "version": "1.0.0", "kind": "workflow-chain", "engines": {"openwop": ">=1.0"}` + more +
			`, "chains": [{"chainId": "vendor.acme.prd", "version": "1.1.0", "label": "PRD", "description": "d", "parameters": {"type": "object"}, "dag": {"nodes": [` + nodes + `]` + rest + `}]}`
	}
	const a, b = `{"id": "a", "typeId": "core.prompt", "config": {"x": "{{params.y}}"}, "position": {"x": 1, "y": -2.5}}`, `{"id": "b.c", "typeId": "core.end"}`
	const edges = `, "edges": [{"from": "a", "to": "b.c"}, {"from": "a.out", "to": "b.c.in", "condition": "x"}]}`
	good := manifest("", a+","+b,
		edges+`, "outputs": {"doc": {"type": "string", "description": "d"}}, "capabilities": ["cacheable"]`)
	checkRows(t, KindWorkflowChainPack, Options{}, []row{
		{good, nil},
		{manifest("", a, "}"), nil},
		{manifest("", a+","+b, "}"), []string{"error /chains/0/dag: of several nodes needs edges | Add"}},
		{manifest("", a+","+a, `, "edges": []}`),
			[]string{"error /chains/0/dag/nodes/1: item 2 repeats item 1 | rename"}},
		{manifest("", a+","+b, `, "edges": [{"from": "x", "to": "b"}]}`),
			[]string{`error /chains/0/dag/edges/0/from: no node "x" | Name one of a, b.c.`,
				`error /chains/0/dag/edges/0/to: no node "b" | Name`}},
		{manifest("", "", "}"), []string{"error /chains/0/dag/nodes: at least 1 | Add"}},
		{manifest(`, "chain": 1`, `{"id": "", "typeId": "Core"}`,
			`, "id": "x"}, "capabilities": ["fast"], "outputs": {"x": {"type": "string"}}`),
			[]string{`error /chain: no key "chain" | Did you mean "chains"?`,
				"error /chains/0/dag/nodes/0/id: not empty | Write",
				"error /chains/0/dag/nodes/0/typeId: a name such as | Write",
				`error /chains/0/dag/id: no key "id" | Remove`,
				`error /chains/0/capabilities/0: got "fast" | Write`,
				`error /chains/0/outputs/x: lacks "description" | Add`}},
		{strings.Replace(good, `"workflow-chain"`, `"node"`, 1),
			[]string{`error /kind: expected "workflow-chain", got "node" | Write`}},
		{strings.Replace(good, `"openwop"`, `"other"`, 1),
			[]string{"error /engines/openwop: names the versions | Add"}},
		{`{"chains": []}`, []string{`error : lacks "name" | Add`, `error : lacks "version" | Add`,
			`error : lacks "kind" | Add`, `error : lacks "engines" | Add`, "error /chains: at least 1 | Add"}},
	})
	got, err := Chains(value(t, good))
	if err != nil || len(got) != 1 || got[0] != (Chain{"vendor.acme.prd", "1.1.0", "PRD", "d"}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := Chains(value(t, `{"chains": [{}]}`)); err == nil {
		t.Errorf("half a chain: %+v", got)
	}
}

func TestAutomations(t *testing.T) {
	automation := func(more string) string {
		return `{"automationId": "nightly", "schedule": {"cron": "0 6 * * *"}, "workflowId": "team.build"` + more + `}`
	}
	scheduled := func(schedule string) string {
		return `{"automationId": "nightly", "schedule": {` + schedule + `}, "workflowId": "team.build"}`
	}
	o := Options{Schedule: func(cron, zone string) error {
		switch {
		case cron == "never":
			return errors.New("one field")
		case zone != "" && zone != "Europe/Berlin":
			return errors.New("no such zone")
		}
		return nil
	}}
	checkRows(t, KindAutomation, o, []row{
		{automation(""), nil},
		{automation(`, "title": "Build", "description": "d", "context": {"branch": "main"}, "enabled": false`), nil},
		{scheduled(`"cron": "0 6 * * *", "timezone": "Europe/Berlin"`), nil},
		{`{}`, []string{`error : lacks "automationId" | Add`, `error : lacks "schedule" | Add`,
			`error : lacks "workflowId" | Add`}},
		{`{"automationId": "Nightly", "schedule": "daily", "workflowId": "team/build"}`,
			[]string{"error /automationId: lowercase | Write",
				"error /schedule: an object that describes a schedule | Write",
				`error /workflowId: got "team/build" | Write`}},
		{automation(`, "at": 1`), []string{`error /at: an automation has no key "at" | Remove`}},
		{automation(`, "title": "", "enabled": "yes", "context": []`),
			[]string{"error /title: not empty | Write", "error /enabled: true or false | Write",
				"error /context: an object | Write"}},
		{automation(`, "title": "` + strings.Repeat("ä", limits.TitleBytesMax/2) + `x"`),
			[]string{"error /title: at most 256 bytes, got 257 | Shorten"}},
		{automation(`, "context": {"__proto__": 1}`), []string{"error /context: is reserved | Correct"}},
		{scheduled(`"cron": "never", "timezone": "Nowhere"`),
			[]string{"error /schedule/cron: not understood: one field | Write"}},
		{scheduled(`"cron": "0 6 * * *", "timezone": "Nowhere"`),
			[]string{"error /schedule/timezone: not understood in this time zone: no such zone | Write"}},
		{scheduled(`"cron": "", "every": 5`),
			[]string{"error /schedule/cron: 1 to 256 | Write", `error /schedule/every: no key "every" | Remove`}},
	})
	if found := Check(KindAutomation, value(t, scheduled(`"cron": "never"`)), Options{}); len(found) > 0 {
		t.Errorf("without a schedule checker: %v", found)
	}
	got, err := AutomationOf(value(t, automation(`, "context": {"branch": "main"}`)))
	if err != nil || !got.Enabled || got.ID != "nightly" || got.Schedule.Cron != "0 6 * * *" ||
		string(got.Context.JCS()) != `{"branch":"main"}` {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := AutomationOf(value(t, automation(`, "enabled": false`))); err != nil || got.Enabled ||
		!got.Context.IsNull() {
		t.Errorf("switched off: %+v, %v", got, err)
	}
	for _, bad := range []string{`{}`, `[]`, automation(`, "at": 1`)} {
		if _, err := AutomationOf(value(t, bad)); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

func TestUnknownKind(t *testing.T) {
	checkRows(t, "prompt-templates", Options{},
		[]row{{`{}`, []string{`error : nothing of kind "prompt-templates" can be installed | "prompt-template"`}}})
}
