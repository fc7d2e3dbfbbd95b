package compile

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/source"
)

// sourceText returns a workflow file with these steps and more keys.
func sourceText(more, steps string) []byte {
	return []byte(`{"id": "test.one", "name": "One", "description": "A test", "version": "1.0.0"` + more +
		`, "steps": [` + steps + `]}`)
}

func compiled(t testing.TB, more, steps string) Compiled {
	t.Helper()
	_, c, found := File("x.json", source.SourceProject, sourceText(more, steps))
	if source.HasErrors(found) {
		t.Fatalf("%s: %v", steps, found)
	}
	return c
}

func value(t testing.TB, text string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// step returns a step object with more keys.
func step(id, more string) string {
	return `{"id": "` + id + `", "title": "T", "prompt": "p"` + more + `}`
}

func TestConfirmation(t *testing.T) {
	for in, want := range map[string]string{
		``:                               `{"kind":"never"}`,
		`, "requireConfirmation": false`: `{"kind":"never"}`,
		`, "requireConfirmation": true`:  `{"kind":"always"}`,
		`, "requireConfirmation": {"and": [{"var": "x", "equals": 1}]}`:                                       `{"condition":{"equals":1,"var":"x"},"kind":"condition"}`,
		`, "requireConfirmation": {"kind": "human_approval"}`:                                                 `{"kind":"human_approval"}`,
		`, "requireConfirmation": {"kind": "human_approval", "condition": {"var": "x", "gt": 1}}`:             `{"condition":{"gt":1,"var":"x"},"kind":"human_approval"}`,
		`, "requireConfirmation": {"kind": "coordinator_eval"}`:                                               `{"kind":"always"}`,
		`, "requireConfirmation": {"kind": "coordinator_eval", "condition": {"or": [{"var": "x", "lt": 1}]}}`: `{"condition":{"lt":1,"var":"x"},"kind":"condition"}`,
	} {
		c := compiled(t, "", step("a", in))
		got, err := canon.Marshal(c.Steps[0].RequireConfirmation)
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v; want %s", in, got, err, want)
		}
		if warned := len(c.CompiledWarnings) == 1; warned != strings.Contains(in, "coordinator_eval") {
			t.Errorf("%s: warnings %v", in, c.CompiledWarnings)
		}
	}
}

func TestConfirmationOverContext(t *testing.T) {
	for _, row := range []struct {
		gate, vars        string
		confirm, approval bool
	}{
		{`false`, `{}`, false, false},
		{`true`, `{}`, true, false},
		{`{"var": "x", "equals": 1}`, `{"x": 1}`, true, false},
		{`{"var": "x", "equals": 1}`, `{"x": 2}`, false, false},
		{`{"kind": "human_approval"}`, `{}`, false, true},
		{`{"kind": "human_approval", "condition": {"var": "x", "equals": 1}}`, `{"x": 1}`, false, true},
		{`{"kind": "human_approval", "condition": {"var": "x", "equals": 1}}`, `{}`, false, false},
		{`{"kind": "coordinator_eval", "condition": {"var": "x", "equals": 1}}`, `{"x": 1}`, true, false},
	} {
		s := compiled(t, "", step("a", `, "requireConfirmation": `+row.gate)).Steps[0]
		vars := value(t, row.vars)
		if s.NeedsConfirmation(vars) != row.confirm || s.NeedsApproval(vars) != row.approval {
			t.Errorf("%s over %s: confirmation %v, approval %v", row.gate, row.vars, s.NeedsConfirmation(vars),
				s.NeedsApproval(vars))
		}
	}
}

func TestCompiledWarnings(t *testing.T) {
	gate := `, "requireConfirmation": {"kind": "coordinator_eval"}`
	_, c, found := File("x.json", source.SourceProject, sourceText("", step("b", gate)+","+step("a", gate)))
	want := []Warning{{CoordinatorEvalAsConfirmation, "a"}, {CoordinatorEvalAsConfirmation, "b"}}
	if !slices.Equal(c.CompiledWarnings, want) {
		t.Errorf("got %v, want them by step", c.CompiledWarnings)
	}
	if len(found) != 2 || found[0].Pointer != "/steps/0/requireConfirmation/kind" || source.HasErrors(found) {
		t.Errorf("problems %v", found)
	}
}

func TestFunctions(t *testing.T) {
	c := compiled(t, `, "functionDefinitions": [{"name": "z", "definition": "wz"}, {"name": "b", "definition": "wb"}, {"name": "unused", "definition": "u"}]`,
		step("a", `, "functionDefinitions": [{"name": "m", "definition": "sm"}, {"name": "b", "definition": "sb"}],
			"functionReferences": ["z()", "m()", "b()", "z()"], "functionCalls": [{"name": "z", "args": {"n": 1}}, {"name": "z", "args": {"n": 2}}]`)+","+
			step("plain", ""))
	var got []string
	for _, f := range c.Steps[0].Functions {
		got = append(got, string(f.Scope)+" "+f.Definition)
	}
	if !slices.Equal(got, []string{"step sb", "step sm", "workflow wz"}) {
		t.Errorf("got %q", got)
	}
	if calls := c.Steps[0].Functions[2].Calls; len(calls) != 2 || string(calls[1].JCS()) != `{"n":2}` {
		t.Errorf("calls are %v", calls)
	}
	if len(c.Steps[1].Functions) != 0 {
		t.Error("a step has functions that it does not refer to")
	}
}

func TestPromptBlocks(t *testing.T) {
	c := compiled(t, "", `{"id": "a", "title": "T", "promptBlocks": {"verify": ["v"], "outputRequired": {"b": "two", "a": "one"},
		"procedure": ["first", [{"kind": "text", "text": "sec"}, {"kind": "text", "text": "ond"}]], "constraints": ["c"], "goal": "g"}},
		{"id": "b", "title": "T", "promptBlocks": {"goal": "only"}}`)
	want := "## Goal\n\ng\n\n## Constraints\n\n- c\n\n## Procedure\n\n1. first\n2. second\n\n## Required output\n\n" +
		"- b: two\n- a: one\n\n## Verify\n\n- v"
	if got := c.Steps[0].Prompt; got != want {
		t.Errorf("got:\n%s", got)
	}
	if blocks := c.Steps[0].PromptBlocks; blocks.Procedure[1] != "second" || blocks.Goal != "g" {
		t.Errorf("blocks are %+v", blocks)
	}
	if c.Steps[1].Prompt != "## Goal\n\nonly" {
		t.Errorf("got %q", c.Steps[1].Prompt)
	}
}

// TestOutputsInTheAuthorsOrder: the required output is listed in the order of the file, in JSON and
// YAML, on one line or on several.
func TestOutputsInTheAuthorsOrder(t *testing.T) {
	const head = `{"id": "test.order", "name": "N", "description": "D", "version": "1.0.0", "steps": [{"id": "a", "title": "T", "promptBlocks": {"outputRequired": `
	const want = "## Required output\n\n- notesMarkdown: n\n- context: c\n- Zed: z\n- artifact: a"
	for name, text := range map[string]string{
		"x.json":      head + `{"notesMarkdown": "n", "context": "c", "Zed": "z", "artifact": "a"}}}]}`,
		"l.json":      head + "{\"notesMarkdown\": \"n\",\n\"context\": \"c\",\n\"Zed\": \"z\",\n\"artifact\": \"a\"}}}]}",
		"f.yaml":      head + `{notesMarkdown: n, context: c, Zed: z, artifact: a}}}]}`,
		"b.yaml":      "id: test.order\nname: N\ndescription: D\nversion: 1.0.0\nsteps:\n- id: a\n  title: T\n  promptBlocks:\n    outputRequired:\n      notesMarkdown: n\n      context: c\n      Zed: z\n      artifact: a\n",
		"sorted.json": head + `{"Zed": "z", "artifact": "a", "context": "c", "notesMarkdown": "n"}}}]}`,
	} {
		_, c, found := File(name, source.SourceProject, []byte(text))
		if source.HasErrors(found) {
			t.Fatal(name, found)
		}
		order := want
		if name == "sorted.json" {
			order = "## Required output\n\n- Zed: z\n- artifact: a\n- context: c\n- notesMarkdown: n"
		}
		if c.Steps[0].Prompt != order {
			t.Errorf("%s: got\n%s", name, c.Steps[0].Prompt)
		}
	}
}

// TestEquivalentSpellings: equivalent spellings compile to the same bytes.
func TestEquivalentSpellings(t *testing.T) {
	for _, row := range [][4]string{
		{"", `, "capabilities": {}`, "", ""},
		{`, "capabilities": {"preferred": ["web_browsing", "delegation"]}`,
			`, "capabilities": {"preferred": ["delegation", "web_browsing"], "required": []}`, "", ""},
		{"", `, "features": [], "about": "x", "modelTier": "mid", "examples": ["An example of it"], "metricsProfile": "none"`, "", ""},
		{"", `, "metaGuidance": [], "inputs": [], "recommendedPreferences": {}`, "", ""},
		{"", "", "", `, "requireConfirmation": false, "notesRequired": false, "notesOptional": true, "guidance": [], "hasValidation": true`},
		{"", "", `, "runCondition": {"var": "x", "gt": 1, "lt": 3.0}`,
			`, "runCondition": {"and": [{"lt": 3, "gt": 1e0, "var": "x"}]}`},
		{"", "", `, "validationCriteria": {"type": "length", "min": 3, "message": "m"}`,
			`, "validationCriteria": [{"message": "m", "type": "length", "min": 3}]`},
		{`, "references": [{"id": "re", "title": "R", "source": "s", "purpose": "p", "authoritative": true}]`,
			`, "references": [{"id": "re", "title": "R", "source": "s", "purpose": "p", "authoritative": true, "resolveFrom": "workspace"}]`, "", ""},
	} {
		a, b := compiled(t, row[0], step("a", row[2])), compiled(t, row[1], step("a", row[3]))
		if a.Hash() != b.Hash() {
			t.Errorf("%q: they compile to\n%s\n%s", row, a.Bytes(), b.Bytes())
		}
	}
}

// TestEveryKeyChangesHash: every key that has an effect on a run changes the hash.
func TestEveryKeyChangesHash(t *testing.T) {
	seen := map[string]string{compiled(t, "", step("a", "")).Hash().String(): "nothing"}
	note := func(what string, c Compiled) {
		if other, ok := seen[c.Hash().String()]; ok {
			t.Errorf("%s compiles to the same as %s", what, other)
		}
		seen[c.Hash().String()] = what
	}
	for _, more := range []string{
		`, "agentRole": "You are careful."`, `, "metaGuidance": ["m"]`, `, "preconditions": ["m"]`,
		`, "clarificationPrompts": ["m"]`,
		`, "recommendedPreferences": {"recommendedAutonomy": "guided"}`,
		`, "recommendedPreferences": {"recommendedRiskPolicy": "balanced"}`,
		`, "capabilities": {"preferred": ["delegation"]}`, `, "capabilities": {"disabled": ["delegation"]}`,
		`, "inputs": [{"contextKey": "k", "reason": "needs_user_artifact", "description": "d"}]`,
		`, "references": [{"id": "re", "title": "R", "source": "s", "purpose": "p", "authoritative": false}]`,
	} {
		note(more, compiled(t, more, step("a", "")))
	}
	for _, more := range []string{
		`, "agentRole": "You are careful."`, `, "askForFiles": true`, `, "guidance": ["g"]`, `, "notesRequired": true`,
		`, "requireConfirmation": true`,
		`, "runCondition": {"var": "x", "equals": 1}`,
		`, "validationCriteria": {"type": "length", "min": 1, "message": "m"}`,
		`, "inputs": [{"contextKey": "k", "reason": "needs_user_artifact", "description": "d"}]`,
		`, "action": {"kind": "command", "argv": ["a"]}`, `, "action": {"kind": "command", "argv": ["a"], "cwd": "c"}`,
		`, "action": {"kind": "command", "argv": ["a"], "env": {"E": "v"}}`,
		`, "action": {"kind": "command", "argv": ["a"], "timeoutSeconds": 1}`,
		`, "action": {"kind": "command", "argv": ["a"], "retry": {"maxAttempts": 2}}`,
		`, "functionDefinitions": [{"name": "f", "definition": "d"}], "functionReferences": ["f()"]`,
	} {
		note(more, compiled(t, "", step("a", more)))
	}
	note("another step", compiled(t, "", step("a", "")+","+step("b", "")))
	note("another order", compiled(t, "", step("b", "")+","+step("a", "")))
}

// TestKeyOrder: the order of keys in a file does not change the hash.
func TestKeyOrder(t *testing.T) {
	want, _ := compileFile(t, examples+"/access-request.yaml")
	original, found := source.Parse("access-request.yaml", source.SourceProject,
		readFile(t, examples+"/access-request.yaml"))
	if len(found) > 0 {
		t.Fatal(found)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := shuffled(t, original.Root.Value)
		_, c, found := File("x.json", source.SourceProject, text)
		if source.HasErrors(found) {
			t.Fatalf("%s: %v", text, found)
		}
		if c.Hash() != want.Hash() {
			t.Fatalf("got %s\nwant %s", c.Bytes(), want.Bytes())
		}
	})
}

// shuffled returns v as JSON with the members of each object in random order, but for those of
// outputRequired, whose order the prompt shows.
func shuffled(t *rapid.T, v canon.Value) []byte { return shuffledMember(t, "", v) }

func shuffledMember(t *rapid.T, name string, v canon.Value) []byte {
	switch v.Kind() {
	case canon.Array:
		out := []byte("[ ")
		for i := range v.Len() {
			if i > 0 {
				out = append(out, ",\n"...)
			}
			out = append(out, shuffled(t, v.Item(i))...)
		}
		return append(out, ']')
	case canon.Object:
		keys := v.SourceKeys()
		if name != "outputRequired" {
			keys = rapid.Permutation(keys).Draw(t, "order")
		}
		out := []byte("{ ")
		for i, key := range keys {
			if i > 0 {
				out = append(out, ',')
			}
			inner, _ := v.Get(key)
			out = append(canon.AppendString(out, key), ": "...)
			out = append(out, shuffledMember(t, key, inner)...)
		}
		return append(out, '}')
	}
	return v.JCS()
}

// TestArgumentsResemblingReferences: an argument that resembles a reference is accepted as
// data.
func TestArgumentsResemblingReferences(t *testing.T) {
	for _, args := range []string{`{"kind": "ref"}`, `{"refId": "x"}`, `{"text": "{{wr}} {{ x.wr. }} wr.x"}`} {
		compiled(t, `, "functionDefinitions": [{"name": "f", "definition": "d"}]`,
			step("a", `, "functionCalls": [{"name": "f", "args": `+args+`}]`))
	}
}

func TestCompileRejectsInvalidSource(t *testing.T) {
	src, _ := source.Parse("x.json", source.SourceProject, []byte(`{}`))
	if c, found := Compile(src, Library{}); !source.HasErrors(found) || c.Steps != nil {
		t.Errorf("got %v", found)
	}
}
