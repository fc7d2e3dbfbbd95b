package prompt

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// TestGoldenConstructs pins the prompts of every construct, including the steps of loop
// bodies, over one context.
func TestGoldenConstructs(t *testing.T) {
	const context = `{"currentIteration": 2, "currentIndex": 1, "currentItem": {"path": "a.go"}, "pages": 12, "reader": "Ann", "row": 3, "area": "billing", "subject": "the plan"}`
	dir := filepath.Join(examples, "constructs")
	names, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no constructs: %v", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, c, found := compile.FileWith(filepath.Base(name), source.SourceProject, data,
			routines(t, dir))
		if source.HasErrors(found) {
			t.Fatalf("%s: %v", name, found)
		}
		var out strings.Builder
		fmt.Fprintf(&out, "===== preamble\n%s\n", Preamble(c))
		show(t, &out, c, "", context)
		file := filepath.Join(dir, "prompts", filepath.Base(name)+".want")
		if *update {
			if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || out.String() != string(want) {
			t.Errorf("%s differs (%v); got:\n%s", file, err, out.String())
		}
	}
}

// show renders a sequence, with the body of each loop in its place.
func show(t *testing.T, out *strings.Builder, c compile.Compiled, loopID, context string) {
	t.Helper()
	for _, s := range c.Sequence(loopID) {
		if s.Type == compile.LoopStep {
			fmt.Fprintf(out, "===== loop %s\n", s.StepID)
			show(t, out, c, s.StepID, context)
			continue
		}
		text, warnings := rendered(c, s, value(t, context))
		fmt.Fprintf(out, "===== %s\n%s\n", s.StepID, text)
		for _, w := range warnings {
			fmt.Fprintf(out, "!!!!! %s\n", w)
		}
	}
}

// routines returns a library of the routines next to the constructs.
func routines(t *testing.T, dir string) compile.Library {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(dir, "routines", "*.yaml"))
	known := compile.Routines{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		src, found := source.Parse(name, source.SourceBundled, data)
		if source.HasErrors(found) {
			t.Fatal(found)
		}
		known[src.ID] = src
	}
	return compile.Library{Routines: []compile.Routines{known}}
}

// TestFragmentConditions: applicable fragments follow the prompt in the author's order, with
// placeholders replaced.
func TestFragmentConditions(t *testing.T) {
	const step = `, "prompt": "Base.", "guidance": ["g"], "promptFragments": [{"id": "b", "text": "For {{who}}."}, {"id": "a", "text": "Long.", "when": {"var": "n", "gt": 1}}, {"id": "c", "text": "Short.", "when": {"not": {"var": "n", "gt": 1}}}]`
	for vars, want := range map[string]string{
		`{"who": "Ann"}`:         "Base.\n\nFor Ann.\n\nShort.\n\n## Guidance\n\n- g",
		`{"who": "Ann", "n": 2}`: "Base.\n\nFor Ann.\n\nLong.\n\n## Guidance\n\n- g",
	} {
		if got, warnings := render(t, "", step, vars); got != want || warnings != nil {
			t.Errorf("over %s: got %q, %q", vars, got, warnings)
		}
	}
	if got, _ := render(t, "", `, "promptFragments": [{"id": "b", "text": "Alone."}]`, `{}`); got != "Alone." {
		t.Errorf("got %q", got)
	}
}

// TestContractRequirements: a contract replaces criteria
// (docs/design.md#output-requirements), and its example is never omitted.
func TestContractRequirements(t *testing.T) {
	const contract = `, "outputContract": {"contractRef": "wr.contracts.loop_control"`
	many := `, "validationCriteria": [`
	for i := range 9 {
		many += fmt.Sprintf(`{"type": "contains", "value": "word%d", "message": "m"},`, i)
	}
	many = strings.TrimSuffix(many, ",") + "]"
	const assessed = `, "assessments": [{"id": "gate", "purpose": "Good?", "dimensions": [{"id": "d", "purpose": "p", "levels": ["low", "high"]}]}]`
	const asked = `, "assessmentRefs": ["gate"], "assessmentConsequences": [{"when": {"anyEqualsLevel": "low"}, "effect": {"kind": "require_followup", "guidance": "Fix {{what}}."}}, {"when": {"anyEqualsLevel": "high", "forAssessment": "gate"}, "effect": {"kind": "require_followup", "guidance": "Check."}}]`
	for _, row := range []struct {
		more, step string
		want, not  []string
	}{
		{"", contract + `}` + many,
			[]string{"OUTPUT REQUIREMENTS:\n- An artifact is required:\n" +
				"  - Artifact contract: wr.contracts.loop_control\n", `"kind":"wr.loop_control"`},
			[]string{"word0", "more"}},
		{"", contract + `, "required": false}, "notesRequired": true`,
			[]string{"OUTPUT REQUIREMENTS:\n- Notes are required\n" +
				"- An artifact is not required; one that is sent must be:\n", "Example: {"}, nil},
		{assessed, asked + many,
			[]string{"word4'", "…and 4 more\n- An assessment is required:\n  - Assessment: gate. Good?",
				`"assessmentId":"gate"`,
				"- If a dimension has the level \"low\", the step stays pending: Fix it.\n" +
					"- If a dimension of gate has the level \"high\", the step stays pending: Check."},
			[]string{"word5"}},
		{assessed, asked + contract + "}" + many, []string{"Artifact contract: wr.contracts.loop_control",
			"Assessment: gate"}, []string{"word0"}},
	} {
		text, _ := render(t, row.more, `, "prompt": "p"`+row.step, `{"what": "it"}`)
		for _, want := range row.want {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
		for _, not := range row.not {
			if strings.Contains(text, not) {
				t.Errorf("%q is in\n%s", not, text)
			}
		}
	}
}

// TestFunctionsBudget: definitions are truncated in bytes with the marker, and incomplete
// ones are counted (docs/design.md#limits).
func TestFunctionsBudget(t *testing.T) {
	definitions := func(n, size int) string {
		var all, refs []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"name": "f%02d", "definition": %q}`, i, strings.Repeat("ü", size/2)))
			refs = append(refs, fmt.Sprintf(`"f%02d()"`, i))
		}
		return `, "prompt": "p", "functionDefinitions": [` + strings.Join(all, ",") + `], "functionReferences": [` +
			strings.Join(refs, ",") + `]`
	}
	// The first definition fits, but for the marker after it: it counts as incomplete.
	edge := limits.FunctionsBytesMax - len("\n\nOmitted %d function definitions.") - len("9999") - len(
		"## Functions\n\n- f00(): ") - len(limits.TruncationMarker)/2
	for _, row := range []struct{ n, size, omitted int }{{2, edge, 2}, {2, edge - len(limits.TruncationMarker), 1},
		{0, 0, 0}, {3, 1000, 0}, {8, 2000, 0}, {9, 2000, 1}, {30, 2000, 22}, {1, 20000, 1}} {
		text, _ := render(t, "", definitions(row.n, row.size), `{}`)
		part := strings.TrimPrefix(text, "p")
		if strings.TrimPrefix(part, "\n\n") != "" && len(part)-2 > limits.FunctionsBytesMax {
			t.Errorf("%d of %d bytes: %d bytes are shown", row.n, row.size, len(part)-2)
		}
		want := ""
		if row.omitted > 0 {
			want = fmt.Sprintf("%s\n\nOmitted %d function definitions.", limits.TruncationMarker, row.omitted)
		}
		if !strings.HasSuffix(text, want) || want == "" && strings.Contains(text, "TRUNCATED") {
			t.Errorf("%d of %d bytes: it ends with %q", row.n, row.size, text[max(0, len(text)-80):])
		}
		if strings.Contains(text, "\uFFFD") {
			t.Errorf("%d of %d bytes: a letter is cut", row.n, row.size)
		}
	}
}

// TestLoopVariablesInPrompts: placeholders read loop variables like context.
func TestLoopVariablesInPrompts(t *testing.T) {
	c := compiled(t, "x.json",
		[]byte(`{"id": "test.one", "name": "One", "description": "A test", "version": "1.0.0", "steps": [
		{"id": "l", "type": "loop", "title": "L", "loop": {"type": "forEach", "items": "list", "maxIterations": 2}, "body": [{"id": "b", "title": "B", "prompt": "{{currentIteration}}/{{currentIndex}}: {{currentItem.name}}"}]}]}`))
	s, _ := c.Step("b")
	if got, _ := rendered(c, s, value(t,
		`{"currentIteration": 2, "currentIndex": 1, "currentItem": {"name": "x"}}`)); got != "2/1: x" {
		t.Errorf("got %q", got)
	}
}

// TestLoopDecisionsAreAnnounced: the step that ends an iteration lists the deciding artifact,
// whether or not its author requested it.
func TestLoopDecisionsAreAnnounced(t *testing.T) {
	loop := func(control, last string) string {
		return `{"id": "test.one", "name": "One", "description": "A test", "version": "1.0.0", "steps": [{"id": "l", "type": "loop", "title": "L",
			"loop": {"type": "while", "maxIterations": 2, ` + control +
			`}, "body": [{"id": "a", "title": "A", "prompt": "set v"}, {"id": "b", "title": "B", "prompt": "p"` + last +
			`}]}]}`
	}
	const byArtifact = `"conditionSource": {"kind": "artifact_contract", "contractRef": "wr.contracts.loop_control"`
	const asked = `, "outputContract": {"contractRef": "wr.contracts.loop_control"}`
	const decides, named = "- This step ends an iteration of loop \"l\"", "- In loop \"l\" the loopId"
	for _, row := range []struct {
		source, want string
	}{
		{loop(byArtifact+"}", ""), decides},
		{loop(byArtifact+`, "loopId": "x"}`, ""), decides +
			": unless one was sent in it already, it needs an artifact of wr.contracts.loop_control, whose loopId, " +
			"where it has one, is \"x\":\n"},
		{loop(byArtifact+"}", asked), ""},
		{loop(byArtifact+`, "loopId": "x"}`, asked), named + ", where the artifact has one, is \"x\""},
		{loop(`"condition": {"var": "v", "equals": 1}`, ""), ""},
	} {
		c := compiled(t, "x.json", []byte(row.source))
		for id, want := range map[string]string{"a": "", "b": row.want} {
			s, _ := c.Step(id)
			text, _ := rendered(c, s, value(t, `{}`))
			if !strings.Contains(text, want) || want != decides && !strings.HasPrefix(want, decides) &&
				strings.Contains(text, decides) || !strings.HasPrefix(want, named) && strings.Contains(text, named) {
				t.Errorf("%s: %q, got\n%s", id, want, text)
			}
			if strings.HasPrefix(want, decides) && !strings.Contains(text, `"kind":"wr.loop_control"`) {
				t.Errorf("no example in\n%s", text)
			}
		}
	}
}
