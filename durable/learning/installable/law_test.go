package installable

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/promptref"
)

// TestManyProblems: the list is bounded, and an error beyond the bound still makes it an
// error.
func TestManyProblems(t *testing.T) {
	warnings := "{{a}}"
	for i := range problemsMax + 10 {
		warnings += fmt.Sprintf("{{v%d}}", i)
	}
	template := func(more string) string {
		return `{"templateId": "a", "version": "1.0.0", "kind": "user", "text": "` + warnings + `"` + more + `}`
	}
	found := Check(KindPromptTemplate, value(t, template("")), Options{})
	if len(found) != problemsMax+1 || problem.HasErrors(found) ||
		!strings.HasPrefix(found[problemsMax].Message, "11 more") {
		t.Errorf("got %d, the last %v", len(found), found[len(found)-1])
	}
	agents := strings.Repeat(agent+`},`, problemsMax) + agent + `}`
	found = Check(KindAgentPack, value(t, `{"name": "vendor.a.b", "version": "1.0.0", "agents": [`+agents+`]}`),
		Options{})
	if len(found) != problemsMax+1 || found[problemsMax].Severity != problem.Error {
		t.Errorf("got %d, the last %v", len(found), found[len(found)-1])
	}
}

// TestAcceptedArtifactsDecode: an artifact without an error can be decoded by its reader.
func TestAcceptedArtifactsDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		artifact := drawn(t)
		for _, kind := range []Kind{KindPromptTemplate, KindAgentPack, KindAutomation, KindWorkflowChainPack} {
			if problem.HasErrors(Check(kind, artifact, Options{})) {
				continue
			}
			var err error
			switch kind {
			case KindPromptTemplate:
				_, err = promptref.TemplateOf(artifact)
			case KindAgentPack:
				_, err = Agents(artifact)
			case KindAutomation:
				_, err = AutomationOf(artifact)
			case KindWorkflowChainPack:
				_, err = Chains(artifact)
			}
			if err != nil {
				t.Fatalf("%s %s: %v", kind, artifact.JCS(), err)
			}
		}
	})
}

// drawn draws an artifact with the members of the tables, valid values more often than
// invalid ones.
func drawn(t *rapid.T) canon.Value {
	members := map[string][]string{
		"templateId": {`"a"`}, "version": {`"1.0.0"`, `"1"`}, "kind": {`"user"`, `"system"`, `"node"`},
		"text": {`"{{x}}"`, `""`}, "name": {`"vendor.a.b"`, `"n"`},
		"variables": {`[]`, `[{"name":"x","type":"string","required":false,"defaultValue":null}]`},
		"meta":      {`{}`, `{"source":"host"}`}, "modelHints": {`{}`},
		"agentId": {`"local.a.b"`}, "persona": {`"p"`}, "modelClass": {`"general"`}, "systemPrompt": {`"s"`},
		"label": {`"l"`}, "automationId": {`"a"`},
		"schedule": {`{"cron":"x"}`, `{}`}, "workflowId": {`"team.a"`}, "context": {`{}`}, "enabled": {`true`, `1`},
		"description": {`"d"`, `null`}, "tags": {`["x"]`},
	}
	sets := [][]string{
		{"templateId", "version", "kind", "text", "name", "variables", "meta", "modelHints", "tags", "description"},
		{"agentId", "persona", "modelClass", "systemPrompt", "label", "description"},
		{"automationId", "schedule", "workflowId", "context", "enabled", "description"},
	}
	set := rapid.SampledFrom(sets).Draw(t, "set")
	var out []canon.Member
	for i, name := range set {
		if i >= 4 && !rapid.Bool().Draw(t, name) {
			continue
		}
		v, err := canon.Parse([]byte(rapid.SampledFrom(members[name]).Draw(t, name)))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, canon.Member{Name: name, Value: v})
	}
	return canon.OfMembers(out...)
}

// TestPublishedKeys: the tables have the members of the published schemas, if those are
// available next to the checkout.
func TestPublishedKeys(t *testing.T) {
	for _, row := range []struct{ file, artifact, def string }{
		{"prompt-template", "template", ""}, {"prompt-template", "variable", "PromptVariable"},
		{"agent-manifest", "agent", ""}, {"prompt-ref", "ref", ""},
		{"workflow-chain-pack-manifest", "pack", ""}, {"workflow-chain-pack-manifest", "chain", "WorkflowChain"},
		{"workflow-chain-pack-manifest", "node", "FragmentNode"},
		{"workflow-chain-pack-manifest", "edge", "FragmentEdge"},
	} {
		data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "data", "openwop", "schemas", row.file+
			".schema.json"))
		if err != nil {
			t.Skip("the published schemas are not here: ", err)
		}
		publishedSchema := value(t, string(data))
		if row.def != "" {
			defs, _ := publishedSchema.Get("$defs")
			publishedSchema, _ = defs.Get(row.def)
		}
		if row.file == "prompt-ref" {
			forms, _ := publishedSchema.Get("oneOf")
			publishedSchema = forms.Item(1)
		}
		tableSchema := tables[row.artifact].Schema(func(string, string) string { return "" })
		for _, part := range []string{"properties", "required"} {
			if a, b := namesIn(publishedSchema, part), namesIn(tableSchema, part); !slices.Equal(a, b) || len(a) == 0 {
				t.Errorf("%s: %s\n     table %q\n published %q", row.artifact, part, b, a)
			}
		}
		for _, pattern := range patternsIn(publishedSchema) {
			if !slices.Contains(patternsIn(tableSchema), pattern) {
				t.Errorf("%s: the pattern %s is not in the table", row.artifact, pattern)
			}
		}
	}
}
