package compile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/workflow/source"
)

// routines returns options with routines in a short form: "id | more keys | steps".
func routines(t *testing.T, short ...string) Library {
	t.Helper()
	known := map[string]source.Source{}
	for _, s := range short {
		part := strings.SplitN(s, " | ", 3)
		text := `{"id": "` + part[0] + `", "name": "R", "description": "d", "version": "1.0.0"` + part[1] +
			`, "steps": [` + part[2] + `]}`
		src, found := source.Parse("r.json", source.SourceBundled, []byte(text))
		if source.HasErrors(found) && !strings.Contains(part[1], "broken") {
			t.Fatalf("%s: %v", text, found)
		}
		known[part[0]] = src
	}
	return optionsOf(known)
}

// call returns a step that calls a routine, with more keys.
func call(id, routine, more string) string {
	return `{"id": "` + id + `", "title": "T"` + more + `, "templateCall": {"templateId": "wr.templates.routine.` +
		routine + `"}}`
}

func TestRoutine(t *testing.T) {
	c, found := compileConstruct(t, constructs+"/routine.yaml")
	if len(found) > 0 {
		t.Error(found)
	}
	if got := shape(c, c.Steps); got != "gather design_sketch design_rounds(design_refine) design_keep build" {
		t.Fatalf("got %s", got)
	}
	sketch, _ := c.Step("design_sketch")
	refine, _ := c.Step("design_refine")
	keep, _ := c.Step("design_keep")
	for got, want := range map[string]string{
		sketch.Title:  "Sketch 3",
		sketch.Prompt: `Draw 3 sketches of {{problem}} as {"json": {shape}}.`,
		jcs(t, sketch.Provenance) +
			jcs(t, refine.Provenance): strings.Repeat(
			`{"originId":"wr.templates.routine.sketch","source":"template_injected"}`, 2),
		jcs(t, sketch.RunCondition):                             `{"and":[{"not_equals":true,"var":"simple"},{"not_equals":true,"var":"sketched"}]}`,
		jcs(t, keep.RunCondition) + jcs(t, refine.RunCondition): `{"not_equals":true,"var":"simple"}null`,
		jcs(t, sketch.RequireConfirmation):                      `{"kind":"always"}`,
		jcs(t, keep.RequireConfirmation):                        `{"kind":"human_approval"}`,
		jcs(t, refine.RequireConfirmation):                      `{"condition":{"equals":true,"var":"careful"},"kind":"condition"}`,
		sketch.AgentRole + "|" +
			refine.AgentRole: "You are a designer who draws before writing.|You are a critic of design.md.",
		jcs(t, sketch.Guidance) + jcs(t, refine.Guidance):       strings.Repeat(`["Keep 3 sketches apart."]`, 2),
		jcs(t, sketch.Functions):                                `[{"definition":"Draw into design.md.","name":"draw","scope":"workflow"}]`,
		sketch.Inputs[0].ContextKey + keep.Inputs[0].ContextKey: "problemproblem",
		refine.PromptBlocks.Goal + "|" + keep.Prompt:            "Refine design.md.|Write design.md.",
		jcs(t, keep.AssessmentRefs) + c.Assessments[0].ID:       `["boldness"]boldness`,
		fmt.Sprint(c.Inputs, c.MetaGuidance, c.AgentRole == ""): "[] [] true",
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestRoutineInRoutine(t *testing.T) {
	c, _ := compileConstruct(t, constructs+"/routine-in-routine.yaml")
	if got := shape(c, c.Steps); got != "think_first think_again_doubt" {
		t.Fatalf("got %s", got)
	}
	if got := c.Steps[1].Prompt; got != "Doubt what you thought of the plan." ||
		c.Steps[1].Provenance.OriginID != "wr.templates.routine.doubt" {
		t.Errorf("got %s", got)
	}
	if len(c.Features) != 1 || len(c.Steps[0].Injected) != 1 || len(c.MetaGuidance) != 1 {
		t.Errorf("features of a routine: %s, guidance %q", jcs(t, c.Features), c.MetaGuidance)
	}
}

// TestRoutinePrecedence: Waybill's own routines take precedence over others of the name.
func TestRoutinePrecedence(t *testing.T) {
	own, other := "wr.routine-r |  | "+step("own", ""), "routine-r |  | "+step("other", "")
	for want, o := range map[string]Library{"c_own": routines(t, own, other), "c_other": routines(t, other)} {
		_, c, found := FileWith("x.json", source.SourceProject, sourceText("", call("c", "r", "")), o)
		if len(c.Steps) != 1 || c.Steps[0].StepID != want {
			t.Errorf("want %s, got %v %v", want, c.Steps, found)
		}
	}
}

func TestInvalidRoutineCalls(t *testing.T) {
	assessed := func(level string) string {
		return `, "assessments": [{"id": "g", "purpose": "p", "dimensions": [{"id": "d", "purpose": "p", "levels": ["low", "` + level + `"]}]}]`
	}
	slot := `, "extensionPoints": [{"slotId": "ss", "purpose": "p", "default": "%s"}]`
	loop := `{"id": "l", "type": "loop", "title": "L", "maxIterations": 2, "while": {"kind": "condition_ref", "conditionId": "c"}, "body": [` + step("set-v", `, "guidance": ["set v"]`) + `]}`
	condition := `, "conditions": [{"id": "c", "kind": "context_variable", "condition": {"var": "v", "equals": %d}}]`
	for _, row := range []struct {
		routines    []string
		more, steps string
		words       []string
	}{
		{[]string{"routine-a |  | " + call("x", "b", ""), "routine-b |  | " + call("y", "a", "")}, "",
			call("c", "a", ""), []string{"/steps/0/templateCall/templateId", "routine routine-b",
				"calls itself: test.one → routine-a → routine-b → routine-a"}},
		{[]string{"routine-a |  | " + call("x", "a", "")}, "", call("c", "a", ""),
			[]string{"test.one → routine-a → routine-a"}},
		{[]string{`routine-a | , "broken": 1 | ` + step("x", "")}, "", call("c", "a", ""),
			[]string{"does not validate"}},
		{[]string{"routine-a |  | " + step("x", "")}, "", call("c", "a", "") + "," + step("c_x", ""),
			[]string{"/steps/1/id", `"c_x"`, "already used by routine routine-a"}},
		{[]string{"routine-a |  | " + step("b_c", ""), "routine-b |  | " + step("c", "")}, "", call("a", "a", "") +
			"," + call("a_b", "b", ""), []string{"/steps/1/templateCall/templateId", `"a_b_c"`}},
		{[]string{"routine-a |  | " + step("x", `, "outputContract": {"contractRef": "wr.contracts.nothing"}`)}, "",
			call("c", "a", ""),
			[]string{"/steps/0/templateCall/templateId",
				"routine routine-a, /steps/0/outputContract/contractRef: contract \"wr.contracts.nothing\" does not " +
					"exist"}},
		{[]string{"routine-a | " + assessed("high") + " | " + step("x", `, "assessmentRefs": ["g"]`)}, assessed("good"),
			step("m", `, "assessmentRefs": ["g"]`) + "," + call("c", "a", ""),
			[]string{`assessment "g" is defined in two ways`}},
		{[]string{"routine-a | " + fmt.Sprintf(condition, 1) + " | " + loop}, fmt.Sprintf(condition, 2), loop + "," +
			call("c", "a", ""), []string{`condition "c" is defined in two ways`}},
		{[]string{"routine-a | " + fmt.Sprintf(slot, "x") + " | " + step("x", "")}, fmt.Sprintf(slot, "y"),
			call("c", "a", ""), []string{`slot "ss" is filled with "x" here and with "y" elsewhere`}},
		{[]string{`routine-a | , "capabilities": {"required": ["delegation"]} | ` + step("x", "")},
			`, "capabilities": {"disabled": ["delegation"]}`, call("c", "a", ""),
			[]string{`capability "delegation" is required here, but the workflow disables it`}},
		{nil, `, "capabilities": {"disabled": ["delegation"]}`, `{"id": "p", "title": "P", "type": "template_call",
			"templateCall": {"templateId": "wr.templates.capability_probe", "args": {"capability": "delegation"}}}`,
			[]string{`capability "delegation" is probed here, but the workflow disables it`}},
	} {
		wantProblem(t, routines(t, row.routines...), row.more, row.steps, row.words...)
	}
}

// TestRoutineDepth: eight nested calls are allowed, nine are not.
func TestRoutineDepth(t *testing.T) {
	chain := func(n int) Library {
		var all []string
		for i := 1; i < n; i++ {
			all = append(all, fmt.Sprintf("routine-r%d |  | %s", i, call("c", fmt.Sprint("r", i+1), "")))
		}
		return routines(t, append(all, fmt.Sprintf("routine-r%d |  | %s", n, step("end", "")))...)
	}
	_, c, found := FileWith("x.json", source.SourceProject, sourceText("", call("c", "r1", "")), chain(8))
	if len(c.Steps) != 1 || c.Steps[0].StepID != strings.Repeat("c_", 8)+"end" {
		t.Errorf("eight: %v", found)
	}
	wantProblem(t, chain(9), "", call("c", "r1", ""), "more than 8 deep")
}

// TestExpansionIsBounded: a hostile file that expands without limit gives one error quickly.
func TestExpansionIsBounded(t *testing.T) {
	calls := func(to string) string {
		var all []string
		for i := range 1000 {
			all = append(all, call(fmt.Sprint("c", i), to, ""))
		}
		return strings.Join(all, ",")
	}
	many := routines(t, "routine-a |  | "+calls("b"), "routine-b |  | "+calls("c"), "routine-c |  | "+calls("nothing"))
	wantProblem(t, many, "", call("c", "a", ""), fmt.Sprintf("more than %d template calls", limits.WorkflowStepsMax))
	full := routines(t, "routine-a |  | "+calls("b"), "routine-b |  | "+step("x", "")+","+step("y", "")+","+
		step("z", ""))
	wantProblem(t, full, "", call("c", "a", ""), fmt.Sprintf("more than %d steps", limits.WorkflowStepsMax))
	wide := strings.Repeat("{x}", 2000)
	grow := func(to string) string {
		return `{"id": "c", "title": "T", "templateCall": {"templateId": "wr.templates.routine.` + to +
			`", "args": {"x": "` + wide + `"}}}`
	}
	wantProblem(t, routines(t, "routine-a |  | "+grow("b"), "routine-b |  | "+grow("c"), "routine-c |  | "+
		step("x", `, "guidance": ["{x}"]`)), "", grow("a"),
		fmt.Sprintf("more than %d bytes", limits.CompiledBytesMax))
	heavy := `, "functionDefinitions": [{"name": "f", "definition": "` + strings.Repeat("d", 1<<20) + `"}]`
	var named []string
	for i := range 100 {
		named = append(named, step(fmt.Sprint("s", i), `, "functionReferences": ["f()"]`))
	}
	wantProblem(t, Library{}, heavy, strings.Join(named, ","),
		fmt.Sprintf("more than %d bytes", limits.CompiledBytesMax))
}

func TestArguments(t *testing.T) {
	o := routines(t, `routine-r | , "metaGuidance": ["g {b}"] | {"id": "x", "title": "{a}", "prompt": "{a} {b} {c} {{a}} {{{a}}} {a } {", "action": {"kind": "command", "argv": ["echo", "{a}"]}}`)
	args := `{"id": "c", "title": "T", "templateCall": {"templateId": "wr.templates.routine.r", "args": {"a": "{b} {{t}}", "b": [1, "x"], "z": 1}}}`
	_, c, found := FileWith("x.json", source.SourceProject, sourceText("", args), o)
	if len(found) != 1 || !strings.Contains(problems(found)[0],
		"warning /steps/0/templateCall/args/z: routine routine-r has no {z}") {
		t.Errorf("found %v", found)
	}
	s := c.Steps[0]
	const want = `{b} {{t}} [1,"x"] {c} {{a}} {{{a}}} {a } {`
	if s.Title != "{b} {{t}}" || s.Prompt != want || s.Action.Argv[1] != "{a}" || s.Guidance[0] != `g [1,"x"]` {
		t.Errorf("got %s\nwant %s", jcs(t, s), want)
	}
	if got := jcs(t, c.CompiledWarnings); got != `[{"code":"template_argument_unused","stepId":"c"}]` {
		t.Errorf("warnings %s", got)
	}
}

// TestCapabilitiesOfRoutines: the capabilities that a routine requires, the workflow requires.
func TestCapabilitiesOfRoutines(t *testing.T) {
	o := routines(t, `routine-a | , "capabilities": {"required": ["delegation"], "preferred": ["web_browsing"]} | `+
		step("x", ""),
		`routine-b | , "capabilities": {"preferred": ["delegation"], "disabled": ["web_browsing"]} | `+step("y", ""))
	for more, want := range map[string]string{
		``: `{"disabled":[],"preferred":["web_browsing"],"required":["delegation"]}`,
		`, "capabilities": {"disabled": ["web_browsing"]}`: `{"disabled":["web_browsing"],"preferred":[],"required":["delegation"]}`,
		`, "capabilities": {"required": ["web_browsing"]}`: `{"disabled":[],"preferred":[],"required":["delegation","web_browsing"]}`,
	} {
		_, c, found := FileWith("x.json", source.SourceProject,
			sourceText(more, call("c", "b", "")+","+call("d", "a", "")), o)
		if got := jcs(t, c.Capabilities); got != want || c.Steps[0].Probe != "delegation" {
			t.Errorf("%s: got %s, %v", more, got, found)
		}
	}
}

func TestSubstitute(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "plain": "plain", "{x}": "X", "{x}{x}": "XX", "{y}": "{y}", "{{x}}": "{{x}}",
		"{{ x }} {x}": "{{ x }} X", "{x": "{x", "x}": "x}",
		"{ x}": "{ x}", `{"x": {x}}`: `{"x": X}`, "{{x}": "{X", "{{{x}}}": "{{{x}}}", "{}{x}": "{}X", "{{": "{{",
		"{{x{x}": "{{xX", "{1}{x-1.a}": "{1}{x-1.a}",
	} {
		got := substitute(in, func(name string) (string, bool) { return "X", name == "x" })
		if got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestStricter(t *testing.T) {
	read := func(s string) (c Confirmation) {
		kind, when, _ := strings.Cut(s, " ")
		c.Kind = ConfirmationKind(kind)
		if when != "" {
			c.Condition = value(t, `{"equals":1,"var":"`+when+`"}`)
		}
		return c
	}
	const approval = "human_approval"
	for _, row := range [][3]string{
		{"never", "never", "never"}, {"never", "always", "always"}, {"never", "condition x", "condition x"},
		{"never", approval, approval},
		{"always", "condition x", "always"}, {"condition x", "condition y", "condition x or y"},
		{"always", approval, approval},
		{approval + " x", "always", approval}, {approval + " x", "condition y", approval + " x or y"},
		{approval + " x", approval, approval},
	} {
		for _, order := range [][2]string{{row[0], row[1]}, {row[1], row[0]}} {
			got := stricter(read(order[0]), read(order[1]))
			want := strings.Contains(row[2], " or ")
			if string(got.Kind) != strings.Fields(row[2])[0] || !want && jcs(t, got) != jcs(t, read(row[2])) || want &&
				got.Condition.Key(0) != "or" {
				t.Errorf("%q: got %s", order, jcs(t, got))
			}
		}
	}
}

// TestOwnRoutines: a routine is found under a legacy id, in the namespace wr, and in any other namespace,
// with - or _; two of other namespaces are ambiguous.
func TestOwnRoutines(t *testing.T) {
	routine := func(id string) source.Source {
		src, found := source.Parse("r.json", source.SourceBundled, []byte(`{"id": "`+id+`", "name": "`+id+`", "description": "d",
			"version": "0.1.0", "steps": [{"id": "see", "title": "`+id+`", "prompt": "p"}]}`))
		if !src.Valid {
			t.Fatal(found)
		}
		return src
	}
	group := func(ids ...string) Routines {
		out := Routines{}
		for _, id := range ids {
			out[id] = routine(id)
		}
		return out
	}
	for _, row := range []struct {
		groups []Routines
		name   string
		want   string // the title of the step, or the problem
	}{
		{[]Routines{group("routine-look")}, "look", "routine-look"},
		{[]Routines{group("wr.routine-look", "routine-look")}, "look", "wr.routine-look"},
		{[]Routines{group("project.routine-look")}, "look", "project.routine-look"},
		{[]Routines{group("project.routine_look_again")}, "look-again", "project.routine_look_again"},
		{[]Routines{group("team.routine-look-again")}, "look_again", "team.routine-look-again"},
		{[]Routines{group("project.routine-look", "routine-look")}, "look", "routine-look"},
		{[]Routines{group("project.routine-look"), group("wr.routine-look")}, "look", "project.routine-look"},
		{[]Routines{group("project.routine-look", "team.routine_look")}, "look",
			`several routines are meant by "look": project.routine-look, team.routine_look`},
		{[]Routines{group("project.look", "wr.other")}, "look", `routine "look" does not exist`},
		{[]Routines{group("project.routine-look")}, "lok", `routine "lok" does not exist`},
	} {
		text := `{"id": "project.a", "name": "A", "description": "d", "version": "0.1.0", "steps": [{"id": "c", "title": "C",
			"templateCall": {"templateId": "wr.templates.routine.` + row.name + `"}}]}`
		_, c, found := FileWith("a.json", source.SourceProject, []byte(text), Library{Routines: row.groups})
		got := ""
		if len(found) > 0 {
			got = found[0].Message
		} else {
			got = c.Steps[0].Title
		}
		if got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
		if row.name == "lok" && !strings.Contains(found[0].Fix, "wr.templates.routine.look") {
			t.Errorf("the routine is not suggested: %q", found[0].Fix)
		}
	}
}
