package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDocumentShapes pins the members of every document that --json prints: each
// path with its type. Programs are written against these; adding a member is fine
// and shows here, losing or changing one is not.
func TestDocumentShapes(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	env := []string{"HOME=" + dir, "USERPROFILE=" + dir, "WAYBILL_HOME=" + filepath.Join(dir, "home")}
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".git/HEAD", "ref: refs/heads/main\n")
	write("old.json", `{"id":"old","name":"Old","description":"d","version":"1.0.0","steps":[
		{"id":"a","title":"A","prompt":"p","notesRequired":true},
		{"id":"b","title":"B","action":{"kind":"command","argv":["x"],"cwd":"d","env":{"K":"v"}}}],
		"inputs":[{"contextKey":"k","reason":"needs_user_choice","choiceKind":"scope_boundary","choices":["x","y"],"description":"d"}]}`)
	write("broken.json", `{"id":"x"}`)
	write("loop.json", `{"id":"test.loop","name":"L","description":"d","version":"1.0.0","steps":[{"id":"l","type":"loop","title":"L",
		"loop":{"type":"while","maxIterations":3,"conditionSource":{"kind":"artifact_contract","contractRef":"wr.contracts.loop_control"}},
		"body":[{"id":"d","title":"D","prompt":"p","outputContract":{"contractRef":"wr.contracts.loop_control"}}]},{"id":"e","title":"E","prompt":"p"}]}`)
	write("stop.json", `{"kind":"wr.loop_control","decision":"stop"}`)
	write("out.json", `{"kind":"result","n":1}`)
	// Each call, and the kind of document that it must give.
	calls := []string{
		"runs list: runs", "start old.json: step", "start old.json --title T: step", "continue --run @last: step",
		"continue --run @last --done: blocked", "runs show: run",
		"continue --run @last --notes n --set k=x --artifact out.json: step",
		"runs list: runs", "runs list --limit 1: runs", "runs show: run", "runs timeline: timeline", "runs events: events", "verify: verification",
		"workflows list: workflows", "workflows inspect old.json: workflow", "workflows inspect loop.json: workflow", "workflows validate old.json: validation",
		"workflows validate broken.json: validation", "workflows compile old.json: compiled",
		"trust old.json --yes: trust", "trust --list: trusted", "config get: config", "version: version", "completion bash: completion",
		"runs show nothing: error", "start broken.json: error", "start wr.change_checklist --set x=1 --key k: step",
		"start wr.change_checklist --set x=2 --key k: step",
		"runs graph: graph", "checkpoint --run @last --notes n: step", "runs graph: graph",
		"fork @last: step", "runs show: run", "replay: replay", "resume: candidates", "runs cancel @last: cancelled", "runs cancel @last: cancelled",
		"workflows new team.new: workflow_file", "start loop.json: step", "continue --run @last --notes n: blocked",
		"continue --run @last --notes n --artifact stop.json: step", "runs show: run",
	}
	shapes := map[string]map[string]bool{}
	for _, row := range calls {
		call, want, _ := strings.Cut(row, ": ")
		var out, errOut bytes.Buffer
		run(append(strings.Fields(call), "--json"), strings.NewReader(""), &out, &errOut, env)
		var doc map[string]any
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil || errOut.Len() > 0 {
			t.Fatalf("%s: %v\n%s%s", call, err, out.String(), errOut.String())
		}
		kind := fmt.Sprint(doc["kind"])
		if kind != want {
			t.Fatalf("%s gave a document of kind %s, want %s: %s", call, kind, want, out.String())
		}
		words := strings.Fields(call + " -")
		path := "waybill " + words[0] + " " + words[1]
		if answers[path] == "" {
			path = "waybill " + words[0]
		}
		if want != "error" && !strings.Contains(answers[path], "`"+want+"`") {
			t.Errorf("docs/cli.md says that %s gives %s, and it gave %s", path, answers[path], want)
		}
		if shapes[kind] == nil {
			shapes[kind] = map[string]bool{}
		}
		shape("", doc, shapes[kind])
	}
	var b strings.Builder
	kinds := []string{}
	for kind := range shapes {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		fmt.Fprintf(&b, "%s\n", kind)
		var lines []string
		for line := range shapes[kind] {
			lines = append(lines, line)
		}
		slices.Sort(lines)
		for _, line := range lines {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	current(t, filepath.Join(home, "testdata/shapes.golden"), b.String())
}

// home is this package's folder, wherever a test goes.
var home, _ = os.Getwd()

// open ones hold whatever a workflow or caller puts there.
var open = []string{".data.events[]", ".data.next.params", ".data.workflow.steps[]"}

func shape(path string, v any, into map[string]bool) {
	for _, o := range open {
		if strings.HasPrefix(path, o) && path != o {
			return
		}
	}
	switch at := v.(type) {
	case map[string]any:
		into[path+" object"] = true
		for name, member := range at {
			shape(path+"."+name, member, into)
		}
	case []any:
		into[path+" array"] = true
		for _, item := range at {
			shape(path+"[]", item, into)
		}
	case string:
		into[path+" string"] = true
	case float64:
		into[path+" number"] = true
	case bool:
		into[path+" boolean"] = true
	default:
		into[path+" null"] = true
	}
}
