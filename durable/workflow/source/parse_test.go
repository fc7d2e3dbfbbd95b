package source

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// file returns a valid workflow with one step. more is appended to its members, steps to its
// list of steps.
func file(more, steps string) string {
	return `{"id": "test.one", "name": "One", "description": "A test", "version": "1.0.0"` + more +
		`, "steps": [{"id": "only", "title": "Only", "prompt": "Do it."}` + steps + `]}`
}

// parse parses a JSON source of a project.
func parse(text string) (Source, []Problem) { return Parse("x.json", SourceProject, []byte(text)) }

func TestValid(t *testing.T) {
	src, found := parse(file("", ""))
	if len(found) > 0 || !src.Valid || src.ID != "test.one" || len(src.Steps) != 1 || src.Steps[0].Prompt != "Do it." {
		t.Fatalf("got %+v, %v", src, found)
	}
}

func TestParseSetsEveryField(t *testing.T) {
	src, found := parse(file(`, "about": "a", "agentRole": "You are careful.", "capabilities": {"preferred": ["delegation"]},
		"clarificationPrompts": ["c?"], "examples": ["An example of it"], "inputs": [{"contextKey": "k", "reason": "needs_user_artifact", "description": "d"}],
		"metaGuidance": ["m"], "metricsProfile": "none", "modelTier": "mid", "preconditions": ["p"],
		"recommendedPreferences": {"recommendedAutonomy": "guided"}, "validatedAgainstSpecVersion": 2,
		"references": [{"id": "re", "title": "R", "source": "s", "purpose": "p", "authoritative": true, "resolveFrom": "package"}],
		"functionDefinitions": [{"name": "f", "definition": "d", "parameters": [{"name": "x", "type": "number", "enum": [1, "a", true], "default": null}]}]`,
		`, {"id": "two", "title": "Two", "promptBlocks": {"goal": "g", "constraints": [[{"kind": "text", "text": "t"}]], "procedure": ["p"], "outputRequired": {"o": "r"}, "verify": ["v"]},
		"agentRole": "You are careful.", "askForFiles": true, "guidance": ["g"], "hasValidation": true, "notesRequired": true, "modelTier": "heavy",
		"functionReferences": ["f()"], "functionCalls": [{"name": "f", "args": {"x": 1}}], "requireConfirmation": {"kind": "human_approval"},
		"runCondition": {"var": "x", "equals": 1}, "validationCriteria": {"type": "length", "min": 100, "message": "m"}},
		{"id": "three", "title": "Three", "action": {"kind": "command", "argv": ["a", ""], "cwd": "c", "env": {"E": "v"}, "timeoutSeconds": 5, "retry": {"maxAttempts": 2}}}`))
	if len(found) > 0 {
		t.Fatal(found)
	}
	two, three := src.Steps[1], src.Steps[2]
	for what, ok := range map[string]bool{
		"workflow": src.About == "a" && src.AgentRole != "" && src.ModelTier == "mid" &&
			src.ValidatedAgainstSpecVersion == 2 && src.MetaGuidance[0] == "m",
		"input":    src.Inputs[0].Code().String() == "user_only_dependency:needs_user_artifact",
		"ref":      src.References[0].ResolveFrom == "package" && src.References[0].Authoritative,
		"function": len(src.FunctionDefinitions[0].Parameters[0].Enum) == 3,
		"two": two.AskForFiles && two.NotesRequired && two.FunctionCalls[0].Name == "f" &&
			len(two.PromptBlocks.Verify) == 1,
		"three": three.Action.Retry.MaxAttempts == 2 && three.Action.Env["E"] == "v" && len(three.Action.Argv) == 2,
	} {
		if !ok {
			t.Errorf("%s was not set: %+v", what, src)
		}
	}
}

// TestLanguages: the file name selects the language, or else the first character does.
func TestLanguages(t *testing.T) {
	yaml := "id: test.one\nname: One\ndescription: A test\nversion: 1.0.0\n" +
		"steps: [{id: only, title: Only, prompt: Do it.}]\n"
	for name, text := range map[string]string{
		"a.json": file("", ""), "A.JSON": file("", ""), "a.yaml": yaml, "a.yml": yaml, "a": yaml, "b": "\n\t " +
			file("", ""), "c.txt": file("", ""), "d.yaml": file("", ""),
	} {
		if src, found := Parse(name, SourceProject, []byte(text)); !src.Valid || len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
	}
	if src, found := Parse("a.json", SourceProject, []byte(yaml)); src.Valid || len(found) != 1 {
		t.Errorf("YAML in a JSON file: %v", found)
	}
}

func TestUnreadable(t *testing.T) {
	for name, row := range map[string]struct {
		text, pointer, message string
		line                   int
	}{
		"a.json": {"{\n\"id\": \"x\",\n\"id\": \"y\"}", "", "duplicate key", 3},
		"b.yaml": {"id: x\nsteps:\n  - &a 1\n", "/steps/0", "anchor &a", 3},
		"c.json": {"", "", "unexpected end", 1},
		"d.json": {strings.Repeat(" ", limits.SourceBytesMax) + "{}", "", "at most 4194304 are accepted", 0},
		"e.json": {`{"steps": [9007199254740993]}`, "/steps/0", "not exactly a double", 1},
	} {
		src, found := Parse(name, SourceUser, []byte(row.text))
		if len(found) != 1 || src.Valid || src.Kind != SourceUser {
			t.Errorf("%s: %v", name, found)
			continue
		}
		p := found[0]
		if p.Pointer != row.pointer || p.Line != row.line || p.Severity != problem.Error ||
			!strings.Contains(p.Message, row.message) || p.Fix == "" {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestInvalidSourceHasName: a file with errors still has an id and a name for lists.
func TestInvalidSourceHasName(t *testing.T) {
	src, found := parse(`{"id": "test.bad", "name": "Bad", "description": 3, "steps": 1}`)
	if src.Valid || !HasErrors(found) || src.ID != "test.bad" || src.Name != "Bad" || src.Description != "" ||
		src.Steps != nil {
		t.Errorf("got %+v", src)
	}
	if src, _ := parse(`{"id": "test.bad", "description": "What it does", "steps": 1}`); src.Description != "What it does" || src.Name != "" {
		t.Errorf("got %+v", src)
	}
	for _, text := range []string{`[]`, `"x"`, `null`, `3`} {
		if src, found := parse(text); src.Valid || len(found) != 1 || found[0].Pointer != "" {
			t.Errorf("%s: %v", text, found)
		}
	}
}

func TestLimits(t *testing.T) {
	steps := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `, {"id": "s%d", "title": "S", "prompt": "p"}`, i)
		}
		return b.String()
	}
	whole := file("", "")
	if _, found := parse(whole + strings.Repeat(" ", limits.SourceBytesMax-len(whole))); len(found) > 0 {
		t.Errorf("the largest file: %v", found[0])
	}
	if _, found := parse(file("", steps(limits.WorkflowStepsMax-1))); len(found) > 0 {
		t.Errorf("the largest workflow: %v", found[0])
	}
	if _, found := parse(file("", steps(limits.WorkflowStepsMax))); len(found) != 1 || found[0].Pointer != "/steps" {
		t.Errorf("one step too many: %v", found)
	}
}

// growsLinearly parses a source of few elements and one of ten times as many, and compares
// how often memory is allocated: more than twenty times as often is no linear growth.
func growsLinearly(t *testing.T, few, many int, text func(n int) string) {
	t.Helper()
	cost := func(n int) float64 {
		source := text(n)
		return testing.AllocsPerRun(1, func() { parse(source) })
	}
	if a, b := cost(few), cost(many); b > 20*a {
		t.Errorf("%d elements take %.0f allocations, %d take %.0f", few, a, many, b)
	}
}

// TestHostileFile: the list of problems is bounded, and each member of the file costs the same.
func TestHostileFile(t *testing.T) {
	text := func(n int) string {
		var b strings.Builder
		b.WriteString(`{"id": "test.one"`)
		for i := range n {
			fmt.Fprintf(&b, ",\"%s%d\":0", string(rune('a'+i%26)), i)
		}
		b.WriteString("}")
		return b.String()
	}
	_, found := parse(text(200_000))
	// The first unknown keys, the number of the others, and the size.
	if last := found[len(found)-1]; len(found) != shape.UnknownKeysMax+2 || last.Severity != problem.Error ||
		!strings.Contains(last.Message, "199900 more keys") {
		t.Errorf("%d problems, the last is %+v", len(found), last)
	}
	growsLinearly(t, 5_000, 50_000, text)
	// The first member alone has too many values, so that no member is read.
	_, found = parse(`{"x":[0` + strings.Repeat(",0", 200_000) + "]}")
	if len(found) != 1 || !strings.Contains(found[0].Message, "the rest of it was not read") {
		t.Errorf("%+v", found)
	}
}

// published returns published WorkRail files, which are not part of the repository.
func published(t *testing.T, pattern string) []string {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join("../../../../shared/data/workrail", pattern))
	if len(names) == 0 {
		t.Skip("the published WorkRail files are not available next to the repository")
	}
	return names
}

func TestPublishedFiles(t *testing.T) {
	for _, name := range published(t, "workflows/*.json") {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		src, found := Parse(name, SourceBundled, data)
		if !src.Valid {
			t.Errorf("%s: %v", filepath.Base(name), found)
		}
		for _, p := range found {
			// The only loop that ends by context has a warning (docs/design.md#loops).
			if p.Pointer != "/id" &&
				(filepath.Base(name) != "simple-search.json" || p.Pointer != "/steps/1/loop/condition") {
				t.Errorf("%s: %+v", filepath.Base(name), p)
			}
		}
	}
}

// FuzzWorkflowParse checks that Parse does not panic, that a source is valid exactly when no
// problem is an error, and that problems are sorted and have a place, a message and a fix.
func FuzzWorkflowParse(f *testing.F) {
	for _, pattern := range []string{"../../../testdata/workflows/*.*", "../../../testdata/workflows/invalid/*.*"} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			if data, err := os.ReadFile(name); err == nil && filepath.Ext(name) != ".want" {
				f.Add(string(data))
			}
		}
	}
	f.Add(file(`, "stpes": 1`, `, {"type": "loop", "body": [{"type": "loop"}]}, 7`))
	f.Fuzz(func(t *testing.T, text string) {
		src, found := Parse("", SourceProject, []byte(text))
		if src.Valid == HasErrors(found) {
			t.Fatalf("valid is %v with %v", src.Valid, found)
		}
		for i, p := range found {
			if p.Message == "" || p.Fix == "" || p.Line < 0 || p.Pointer != "" && !strings.HasPrefix(p.Pointer, "/") {
				t.Fatalf("problem %+v", p)
			}
			if i > 0 && i < problemsMax && found[i-1].Line > p.Line {
				t.Fatalf("problems out of order: %v", found)
			}
		}
		if src.Valid && (len(src.Steps) == 0 || IDStatus(src.ID) == "") {
			t.Fatalf("a valid source without steps or id: %s", text)
		}
	})
}

// TestOfInsideDocument: a workflow inside another document has the same problems as in its
// own file, with pointers from the root of the document.
func TestOfInsideDocument(t *testing.T) {
	text := file(`, "abuot": "x"`,
		`, {"id": "l", "type": "loop", "title": "L", "loop": {"type": "for", "count": 2, "maxIterations": 3}, "body": "in"},
		{"id": "in", "title": "In", "prompt": "p"}, {"id": "only", "title": "T"}`)
	_, alone := parse(text)
	root, err := canon.Parse([]byte(`{"workflows": [` + text + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	src, inside := Of(SourceProject, problem.SourceValue{Value: root}.Member("workflows").Item(0))
	if len(alone) < 3 || len(inside) != len(alone) || src.Valid || src.ID == "" {
		t.Fatalf("alone %v, inside %v", alone, inside)
	}
	for i := range alone {
		alone[i].Column = 0 // the text of the document around it is not known to Of
		if alone[i].Pointer = "/workflows/0" + alone[i].Pointer; alone[i] != inside[i] {
			t.Errorf("got %v, want %v", inside[i], alone[i])
		}
	}
}

// TestTooManyValuesHaveTheirLine: the problem of a file with too many values is at the line that exceeds
// the limit, and that of more unknown keys behind the keys that are named.
func TestTooManyValuesHaveTheirLine(t *testing.T) {
	lines := func(before, each, after string, n int) []byte {
		return []byte(before + strings.Repeat(each, n) + after)
	}
	for name, c := range map[string]struct {
		text []byte
		line int
	}{
		"list.yaml":    {lines("# comment\nid: test.a\nsteps:\n", "- 1\n", "", 120_000), 50_001},
		"bracket.yaml": {lines("# comment\n[\n", "1,\n", "]\n", 120_000), 50_001},
		"list.json":    {lines("{\"steps\": [\n", "1,\n", "1]}\n", 120_000), 99_999},
		"one.json":     {lines("\n\n{\"steps\": [", "1,", "1]}\n", 120_000), 3},
	} {
		_, problems := Parse(name, SourceProject, c.text)
		at := slices.IndexFunc(problems, func(p Problem) bool { return strings.Contains(p.Message, "at most 100000") })
		if at < 0 || problems[at].Line != c.line {
			t.Errorf("%s: want line %d, got %d problems, number %d: %v", name, c.line, len(problems), at, problems[max(at, 0)])
		}
	}
	var text strings.Builder
	text.WriteString("id: test.a\nname: A\nversion: 1.0.0\nsteps:\n  - {id: a, title: A, prompt: p}\n")
	for i := range 150 {
		fmt.Fprintf(&text, "k%03d: 1\n", i)
	}
	_, problems := Parse("a.yaml", SourceProject, []byte(text.String()))
	if last := problems[len(problems)-1]; len(problems) != 102 || last.Pointer != "/k100" || last.Line != 106 ||
		!strings.Contains(last.Message, "50 more keys") {
		t.Errorf("%d problems, the last is %+v", len(problems), last)
	}
}
