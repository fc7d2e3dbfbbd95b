package unfilled

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// found returns the warnings of a workflow with these members and steps, as "pointer path".
func found(t *testing.T, more, steps string, with compile.Library) []string {
	t.Helper()
	src, c, problems := compile.FileWith("x.json", source.SourceProject, []byte(`{"id": "test.one", "name": "One", "description": "A test",
		"version": "1.0.0"`+more+`, "steps": [`+steps+`]}`), with)
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	var out []string
	for _, p := range Check(src, c) {
		_, name, _ := strings.Cut(p.Message, "{{")
		name, _, _ = strings.Cut(name, "}}")
		out = append(out, p.Pointer+" "+name)
		if p.Severity != problem.Warning || p.Fix == "" || p.Line == 0 {
			t.Errorf("%+v", p)
		}
	}
	return out
}

// TestCheck: a placeholder of a command needs a source; one of a text is also filled by what the
// workflow tells its reader to set.
func TestCheck(t *testing.T) {
	const inputs = `, "inputs": [{"contextKey": "version", "reason": "needs_user_artifact", "description": "d"}]`
	command := func(members, more string) string {
		return `{"id": "a", "title": "T", "action": {"kind": "command", ` + members + `}` + more + `}`
	}
	prompt := func(text string) string { return `{"id": "q", "title": "T", "prompt": "` + text + `"}` }
	loop := func(body string) string {
		return `{"id": "l", "type": "loop", "title": "Loop {{item}} {{x}}", "loop": {"type": "forEach", "items": "all", "itemVar": "item", "maxIterations": 3}, "body": [` + body + `]}`
	}
	for _, c := range []struct{ more, steps, want string }{
		{inputs, command(`"argv": ["x", "{{version}}", "{{version.major}}", "{{version.length}}"]`, ""), ""},
		{"", command(`"argv": ["x", "{{version}}"]`, ""), "/steps/0/action/argv/1 version"},
		{"", command(`"argv": ["x"], "cwd": "{{c}}", "env": {"E": "{{e}}"}`, ""), "/steps/0/action/cwd c, /steps/0/action/env/E e"},
		{"", command(`"argv": ["x", "{{version}}"], "literal": true`, ""), ""},
		{"", command(`"argv": ["x", "{{wr.x}}"]`, ""), ""},
		{"", command(`"argv": ["x"]`, `, "outputs": {"commit": "stdout"}`) + "," + prompt("{{commit}}"), ""},
		{"", command(`"argv": ["x", "{{commit}}"]`, `, "inputs": [{"contextKey": "commit", "reason": "needs_user_artifact", "description": "d"}]`), ""},
		{"", prompt("Set `area` to the area.") + "," + command(`"argv": ["x", "{{area}}"]`, ""), "/steps/1/action/argv/1 area"},
		{"", prompt("Set `area` to the area: {{area}} {{area.name}}"), ""}, {"", prompt("The area is {{area}}"), "/steps/0/prompt area"},
		{"", prompt("Set nextArea. {{nextArea}}"), ""}, {"", prompt("{{nextArea}}"), "/steps/0/prompt nextArea"},
		{"", prompt("set area=1: {{area}}"), ""}, {"", prompt("{{item}}"), "/steps/0/prompt item"},
		{"", `{"id": "p", "title": "Do {{it}}", "prompt": "p", "guidance": ["g {{g}}"], "promptFragments": [{"id": "f", "text": "{{f}}"}]}`,
			"/steps/0/guidance/0 g, /steps/0/promptFragments/0/text f, /steps/0/title it"},
		{"", `{"id": "p", "title": "T", "promptBlocks": {"goal": "{{g}}", "outputRequired": {"plan": "d"}}},` + prompt("{{plan}}"), "/steps/0/promptBlocks/goal g"},
		{"", loop(command(`"argv": ["x", "{{item}}", "{{currentIndex}}", "{{currentIteration}}", "{{all}}"]`, "")),
			"/steps/0/body/0/action/argv/4 all, /steps/0/title x"},
		{"", loop(prompt("{{all.length}} {{item.name}}")), "/steps/0/title x"},
	} {
		got := found(t, c.more, c.steps, compile.Library{})
		slices.Sort(got)
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %q, want %q", c.steps, text, c.want)
		}
	}
}

// TestCheckOfCalls: a command of a routine is reported at the call.
func TestCheckOfCalls(t *testing.T) {
	routine, problems := source.Parse("r.json", source.SourceProject, []byte(`{"id": "demo.routine-r", "name": "R", "description": "d", "version": "1.0.0",
		"steps": [{"id": "s", "title": "{{unknown}}", "action": {"kind": "command", "argv": ["x", "{{version}}", "{{gone}}"]}}]}`))
	if !routine.Valid {
		t.Fatal(problems)
	}
	got := found(t, `, "inputs": [{"contextKey": "version", "reason": "needs_user_artifact", "description": "d"}]`,
		`{"id": "call", "title": "T", "templateCall": {"templateId": "wr.templates.routine.r"}}`,
		compile.Library{Routines: []compile.Routines{{"demo.routine-r": routine, "routine-r": routine}}})
	if strings.Join(got, ", ") != "/steps/0/templateCall gone" {
		t.Errorf("%q", got)
	}
}

// TestCheckIsBounded: a file of nothing but placeholders has a bounded list.
func TestCheckIsBounded(t *testing.T) {
	var steps []string
	for i := range 300 {
		steps = append(steps, `{"id": "s`+strings.Repeat("x", i%50)+string(rune('a'+i/50))+`", "title": "{{aa}}", "prompt": "{{bb}}"}`)
	}
	if got := found(t, "", strings.Join(steps, ","), compile.Library{}); len(got) != foundMax {
		t.Errorf("%d warnings", len(got))
	}
}
