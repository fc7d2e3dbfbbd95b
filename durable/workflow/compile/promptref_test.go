package compile

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/promptref"
	"github.com/waybill/waybill/durable/workflow/source"
)

// withPrompts returns options with templates, each given as JSON.
func withPrompts(t testing.TB, templates ...string) Library {
	t.Helper()
	var all []promptref.Template
	for _, text := range templates {
		one, err := promptref.TemplateOf(value(t, text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		all = append(all, one)
	}
	return Library{Prompts: promptref.NewLibrary(all)}
}

// prompt returns a template with this text and these variables.
func prompt(id, version, kind, text, variables string) string {
	return fmt.Sprintf(`{"templateId": %q, "version": %q, "kind": %q, "text": %q, "variables": [%s]}`, id, version,
		kind, text, variables)
}

const (
	topic    = `{"name": "topic", "type": "string", "required": true, "description": "What it is about"}`
	number   = `{"name": "count", "type": "number", "required": true, "source": "context"}`
	tone     = `{"name": "tone", "type": "string", "required": false, "defaultValue": "plain {{topic}}"}`
	shown    = `{"name": "shown", "type": "array", "required": false, "defaultValue": [1, "b"]}`
	extra    = `{"name": "extra", "type": "object", "required": false}`
	wellText = `On {{topic}} ({{ topic }}), {{tone}}, {{count}}, {{shown}}: {{extra}} {{else.where}} {topic}`
)

// TestPromptRef: variables with a value are replaced in one pass, others remain for the run.
func TestPromptRef(t *testing.T) {
	o := withPrompts(t, prompt("well", "1.2.0", "user", wellText,
		strings.Join([]string{topic, number, tone, shown, extra}, ",")),
		prompt("well", "1.1.0", "user", "old", ""), prompt("rules", "0.1.0", "system", "Be brief.", ""))
	for _, row := range []struct{ ref, more, prompt, inputs string }{
		{`"prompt:well"`, "", "On {{topic}} ({{ topic }}), plain {{topic}}, {{count}}, [1,\"b\"]: {{extra}} " +
			"{{else.where}} {topic}",
			`[{"contextKey":"topic","description":"What it is about","reason":"needs_user_artifact"},{"contextKey":"count","description":"The value of count in prompt:well@1.2.0","reason":"needs_user_artifact"}]`},
		{`"prompt:well@1.1.0"`, "", "old", `[]`},
		{`{"templateId": "rules"}`, "", "Be brief.", `[]`},
		{`{"templateId": "well", "variableOverrides": {"topic": "a {{tone}}", "count": 3.0, "tone": "", "extra": {"b": [null], "a": "x"}}}`, "",
			"On a {{tone}} (a {{tone}}), , 3, [1,\"b\"]: {\"a\":\"x\",\"b\":[null]} {{else.where}} {topic}", `[]`},
		{`{"templateId": "well", "variableOverrides": {"count": 0}}`,
			`, "inputs": [{"contextKey": "topic", "reason": "needs_user_choice", "choiceKind": "scope_boundary", "description": "mine"}]`,
			"On {{topic}} ({{ topic }}), plain {{topic}}, 0, [1,\"b\"]: {{extra}} {{else.where}} {topic}",
			`[{"choiceKind":"scope_boundary","contextKey":"topic","description":"mine","reason":"needs_user_choice"}]`},
	} {
		_, c, found := FileWith("x.json", source.SourceProject,
			sourceText("", `{"id": "a", "title": "T", "promptRef": `+row.ref+row.more+`}`), o)
		if len(found) > 0 {
			t.Errorf("%s: %v", row.ref, problems(found))
			continue
		}
		s := c.Steps[0]
		if s.Prompt != row.prompt || s.PromptBlocks != nil || jcs(t, s.Inputs) != row.inputs {
			t.Errorf("%s: got %q with inputs %s", row.ref, s.Prompt, jcs(t, s.Inputs))
		}
		if again, err := Decode(c.Bytes()); err != nil || again.Hash() != c.Hash() {
			t.Errorf("%s: read again: %v", row.ref, err)
		}
	}
}

// TestPromptRefOrigin: the document records the template of a prompt and the digest of its
// text, and nothing else of the template.
func TestPromptRefOrigin(t *testing.T) {
	o := withPrompts(t, prompt("well", "1.2.0", "user", "On {{topic}}.", topic))
	_, c, found := FileWith("x.json", source.SourceProject,
		sourceText(`, "features": ["wr.features.durable_recap_guidance"]`,
			`{"id": "a", "title": "T", "promptRef": {"templateId": "well", "variableOverrides": {"topic": "bees"}}}, {"id": "b", "title": "T", "promptRef": "prompt:well"}`), o)
	if len(found) > 0 {
		t.Fatal(problems(found))
	}
	want := fmt.Sprintf(`[{"bytes":13,"contentHash":%q,"originId":"prompt:well@1.2.0"}]`,
		canon.Sum([]byte("On {{topic}}.")))
	for _, s := range c.Steps {
		if jcs(t, s.Injected) != want {
			t.Errorf("%s: injected %s, want %s", s.StepID, jcs(t, s.Injected), want)
		}
	}
	if n := strings.Count(string(c.Bytes()), "prompt:well"); n != 2 {
		t.Errorf("the template is named %d times", n)
	}
	// The features of steps with a raw prompt are in the metaGuidance once.
	if len(c.MetaGuidance) != 1 {
		t.Errorf("guidance %q", c.MetaGuidance)
	}
	// The pinned document does not depend on the template.
	if again, err := Decode(c.Bytes()); err != nil || again.Steps[0].Prompt != "On bees." {
		t.Errorf("read again: %v", err)
	}
}

// TestPromptRefInRoutine: the arguments of the call are filled into variable values, but not
// into the text of the template, which is not part of the routine.
func TestPromptRefInRoutine(t *testing.T) {
	o := withPrompts(t, prompt("well", "1.0.0", "user", "{{topic}} {name} {{count}}", topic+","+number))
	src, found := source.Parse("r.json", source.SourceProject, []byte(strings.Replace(string(sourceText(
		`, "inputs": [{"contextKey": "count", "reason": "needs_user_choice", "choiceKind": "scope_boundary", "description": "routine"}]`,
		`{"id": "in", "title": "T", "promptRef": {"templateId": "well", "variableOverrides": {"topic": "on {name}"}}}`)), "test.one", "routine-r", 1)))
	if source.HasErrors(found) {
		t.Fatal(found)
	}
	known := optionsOf(map[string]source.Source{"routine-r": src})
	known.Prompts = o.Prompts
	_, c, found := FileWith("x.json", source.SourceProject,
		sourceText("", `{"id": "a", "title": "T", "templateCall": {"templateId": "wr.templates.routine.r", "args": {"name": "bees"}}}`), known)
	if len(found) > 0 || c.Steps[0].Prompt != "on bees {name} {{count}}" || len(c.Steps[0].Inputs) != 1 ||
		c.Steps[0].Inputs[0].Description != "routine" {
		t.Errorf("got %+v, %v", c.Steps, problems(found))
	}
	known.Prompts = promptref.Library{}
	wantProblem(t, known, "", `{"id": "a", "title": "T", "templateCall": {"templateId": "wr.templates.routine.r", "args": {"name": "bees"}}}`,
		"/steps/0/templateCall/templateId", `prompt template "well" does not exist`, "Install it first")
}

func TestPromptRefProblems(t *testing.T) {
	o := withPrompts(t, prompt("well", "1.2.0", "user", wellText, strings.Join([]string{topic, number, tone}, ",")),
		prompt("shots", "1.0.0", "few-shot", "x", ""), prompt("hint", "1.0.0", "schema-hint", "x", ""),
		prompt("key", "1.0.0", "user", "{{token}}",
			`{"name": "token", "type": "string", "required": false, "source": "secret"}`))
	ref := func(text string) string { return `{"id": "a", "title": "T", "promptRef": ` + text + `}` }
	for _, row := range []struct {
		ref   string
		words []string
	}{
		{`"prompt:wall"`, []string{"/steps/0/promptRef:", `prompt template "wall" does not exist`,
			`Did you mean "well"?`}},
		{`"prompt:well@1.2.1"`, []string{"/steps/0/promptRef:", `no version "1.2.1"`,
			"Did you mean prompt:well@1.2.0?"}},
		{`"prompt:shots"`, []string{"/steps/0/promptRef:", "of kind few-shot", "user or system"}},
		{`"prompt:hint"`, []string{"of kind schema-hint"}},
		{`"prompt:key"`, []string{`variable "token" of prompt:key@1.0.0 is a secret`, "where the secret is kept"}},
		{`{"templateId": "key", "variableOverrides": {"token": "x"}}`, []string{"is a secret"}},
		{`{"templateId": "well", "variableOverrides": {"topic": 1}}`,
			[]string{"/steps/0/promptRef/variableOverrides/topic:", "of type string, got number", "of type string."}},
		{`{"templateId": "well", "variableOverrides": {"count": "1"}}`,
			[]string{"/steps/0/promptRef/variableOverrides/count:", "of type number, got string"}},
	} {
		wantProblem(t, o, "", ref(row.ref), row.words...)
	}
	_, c, found := FileWith("x.json", source.SourceProject,
		sourceText("", ref(`{"templateId": "well", "variableOverrides": {"tpoic": "x"}}`)), o)
	if len(found) != 1 || !strings.Contains(problems(found)[0],
		`warning /steps/0/promptRef/variableOverrides/tpoic: prompt:well@1.2.0 has no variable "tpoic"`) ||
		!strings.Contains(problems(found)[0], "Did you mean topic?") || len(c.Steps) != 1 {
		t.Errorf("a value without a variable: %v", problems(found))
	}
	// Without templates every reference is an error.
	wantProblem(t, Library{}, "", ref(`"prompt:well"`), "no prompt template is installed here")
}

// TestPromptRefIsBounded: a text that uses one value very often is rejected before memory is
// allocated for the result.
func TestPromptRefIsBounded(t *testing.T) {
	o := withPrompts(t, prompt("huge", "1.0.0", "user", strings.Repeat("{{topic}}", limits.PromptTextBytesMax/9),
		topic))
	steps := `{"id": "a", "title": "T", "promptRef": {"templateId": "huge", "variableOverrides": {"topic": "` +
		strings.Repeat("x", 1<<16) + `"}}}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	wantProblem(t, o, "", steps, "the compiled workflow would have")
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 10*limits.CompiledBytesMax {
		t.Errorf("%d bytes were allocated", used)
	}
}

// TestPromptRefEqualsText: a reference to a template without variables compiles to the same
// step as the text itself, except for the origin.
func TestPromptRefEqualsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([a-z {}<>#\n]|\{\{[ab]\}\}){1,40}`).Draw(t, "text")
		o := Library{Prompts: promptref.NewLibrary([]promptref.Template{{ID: "x", Version: "1.0.0",
			Kind: promptref.User, Text: text}})}
		_, named, found := FileWith("x.json", source.SourceProject,
			sourceText("", `{"id": "a", "title": "T", "promptRef": "prompt:x"}`), o)
		quoted := string(canon.OfString(text).JCS())
		_, written, also := FileWith("x.json", source.SourceProject,
			sourceText("", `{"id": "a", "title": "T", "prompt": `+quoted+`}`), Library{})
		if len(found) > 0 || len(also) > 0 {
			t.Fatalf("%v, %v", found, also)
		}
		s := named.Steps[0]
		if s.Injected = nil; !same(s, written.Steps[0]) {
			t.Fatalf("got %+v, want %+v", s, written.Steps[0])
		}
	})
}
