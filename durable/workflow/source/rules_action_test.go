package source

import (
	"strconv"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/problem"
)

// command is a step whose action has these members after its kind.
func command(members string) string {
	return `, {"id": "a", "title": "T", "action": {"kind": "command", ` + members + `}}`
}

// TestPlaceholdersOfCommands: where a value would become a program, code or a path, a
// placeholder is an error, unless the action is literal.
func TestPlaceholdersOfCommands(t *testing.T) {
	rows := []row{
		{"", command(`"argv": ["{{p}}", "x"]`), "/steps/1/action/argv/0", "{{p}} cannot be filled here: the element names the program", "Write"},
		{"", command(`"argv": ["env", "bash", "-lc", "echo {{a}} {{b}}"]`), "/steps/1/action/argv/3", "code that bash reads", `"$1"`},
		{"", command(`"argv": ["python3", "-c", "print({{ n }})"]`), "/steps/1/action/argv/2", "{{n}} cannot be filled", `"{{key}}"`},
		{"", command(`"argv": ["node", "--eval={{n}}"]`), "/steps/1/action/argv/1", "code that node reads", `"$1"`},
		{"", command(`"argv": ["ssh", "host", "restart", "{{n}}"]`), "/steps/1/action/argv/3", "a shell of the other host", "input"},
		{"", command(`"argv": ["make"], "env": {"LD_PRELOAD": "{{n}}"}`), "/steps/1/action/env/LD_PRELOAD", "{{n}} cannot be filled here: programs read LD_PRELOAD", "Write"},
		{"", command(`"argv": ["make"], "cwd": "/srv/{{n}}"`), "/steps/1/action/cwd", "relative path", "relative"},
		{"", command(`"argv": ["make"], "cwd": "x/../../{{n}}"`), "/steps/1/action/cwd", "lead out", "below"},
		{"", command(`"argv": ["make"], "env": {"WAYBILL_X": "{{n}}"}`), "/steps/1/action/env/WAYBILL_X", "set by Waybill", "another"},
	}
	checkRows(t, problem.Error, rows)
	for _, r := range rows[:len(rows)-1] {
		literal := strings.Replace(r.steps, `"kind"`, `"literal": true, "kind"`, 1)
		if src, found := parse(file("", literal)); !src.Valid || len(found) != 0 {
			t.Errorf("%s: %v", literal, found)
		}
	}
	for _, steps := range []string{
		command(`"argv": ["deploy", "{{s}}", "--v={{v}}"], "cwd": "services/{{s}}", "env": {"VERSION": "{{v}}"}`),
		command(`"argv": ["sh", "-c", "deploy \"$1\"", "--", "{{s}}"]`),
		command(`"argv": ["make"], "env": {"PATH": "/opt/bin"}, "cwd": "/srv/x"`), // the author's own
	} {
		if src, found := parse(file("", steps)); !src.Valid || len(found) != 0 {
			t.Errorf("%s: %v", steps, found)
		}
	}
}

// TestOutputs: outputs are those of a command, with keys and places of one grammar.
func TestOutputs(t *testing.T) {
	const key = `"outputs": {"commit": "stdout"}`
	outputs := func(text string) string {
		return strings.TrimSuffix(command(`"argv": ["x"]`), "}") + `, "outputs": ` + text + `}`
	}
	checkRows(t, problem.Error, []row{
		{"", `, {"id": "a", "title": "T", "prompt": "p", ` + key + `}`, "/steps/1/outputs", "outputs are what a command sets", "action"},
		{"", `, {"id": "a", "title": "T", "templateCall": {"templateId": "wr.templates.routine.r"}, ` + key + `}`, "/steps/1/outputs", "a command sets", "action"},
		{"", outputs(`{"a b": "stdout"}`), "/steps/1/outputs/a b", "context key", ""},
		{"", outputs(`{"` + strings.Repeat("a", 129) + `": "stdout"}`), "/steps/1/outputs/" + strings.Repeat("a", 129), "context key", ""},
		{"", outputs(`{"a": "stderr"}`), "/steps/1/outputs/a", "stdout", ""},
		{"", outputs(`{"a": "json:x"}`), "/steps/1/outputs/a", "stdout", ""},
		{"", outputs(`{"a": "json:/~2"}`), "/steps/1/outputs/a", "stdout", ""},
	})
	loop := func(step string) string {
		return `, {"id": "each", "type": "loop", "title": "L", "loop": {"type": "forEach", "items": "l", "itemVar": "item", "maxIterations": 3}, "body": [` + strings.TrimPrefix(step, ", ") + `]}`
	}
	checkRows(t, problem.Warning, []row{
		{"", loop(outputs(`{"item": "stdout"}`)), "/steps/1/body/0/outputs/item", `inside the loop "each" the steps read its variable item`, "another key"},
	})
	for _, good := range []string{`{}`, `{"a": "stdout", "b.c-d": "json:", "_e": "json:/x/~0~1/0"}`} {
		if src, found := parse(file("", outputs(good))); !src.Valid || len(found) != 0 {
			t.Errorf("%s: %v", good, found)
		}
	}
}

// TestValidOutput is the grammar by which stored workflows are checked.
func TestValidOutput(t *testing.T) {
	for at, want := range map[string]bool{"a stdout": true, "a json:": true, "a json:/x": true, "a.b json:/~1": true,
		"1 stdout": false, "a stderr": false, "a json:x": false, "a json:/~": false, " stdout": false} {
		key, from, _ := strings.Cut(at, " ")
		if ValidOutput(key, from) != want {
			t.Errorf("%s: %v", strconv.Quote(at), !want)
		}
	}
	if ValidOutput("a", "json:/"+strings.Repeat("x", 512)) {
		t.Error("a pointer without a bound is accepted")
	}
}
