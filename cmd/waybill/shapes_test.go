package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/cmd/waybill/schema"
	"github.com/waybill/waybill/durable/canon"
)

// TestDocumentShapes compares the members of every document that --json prints, each path with
// its type, with shapes.golden. Programs depend on them: members may be added, but not removed
// or changed.
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
	write("flows/flow.json", `{"id":"team.flow","name":"Flow","description":"d","version":"1.0.0","steps":[{"id":"a","title":"A","prompt":"p"}]}`)
	write("flows/demo.json", `{"id":"wr.demo","name":"Demo","description":"d","version":"1.0.0","steps":[{"id":"a","title":"A","prompt":"p"}]}`)
	write("old.json", `{"id":"old","name":"Old","description":"d","version":"1.0.0","steps":[
		{"id":"a","title":"A","prompt":"p","notesRequired":true},
		{"id":"b","title":"B","action":{"kind":"command","argv":["x"],"cwd":"d","env":{"K":"v"}}}],
		"inputs":[{"contextKey":"k","reason":"needs_user_choice","choiceKind":"scope_boundary","choices":["x","y"],"description":"d"}]}`)
	write("broken.json", `{"id":"x"}`)
	write("loop.json", `{"id":"test.loop","name":"L","description":"d","version":"1.0.0","steps":[{"id":"l","type":"loop","title":"L",
		"loop":{"type":"while","maxIterations":3,"conditionSource":{"kind":"artifact_contract","contractRef":"wr.contracts.loop_control"}},
		"body":[{"id":"d","title":"D","prompt":"p","outputContract":{"contractRef":"wr.contracts.loop_control"}}]},{"id":"e","title":"E","prompt":"p"}]}`)
	write("stop.json", `{"kind":"wr.loop_control","decision":"stop"}`)
	write("look.json", `{"kind":"prompt-template","title":"T","rationale":"R","synthesizerModel":"m","artifact":{"templateId":"look","version":"1.0.0","kind":"user","text":"Look."}}`)
	write("nightly.json", `{"kind":"automation","artifact":{"automationId":"nightly","schedule":{"cron":"0 3 * * *","timezone":"UTC"},"workflowId":"wr.change_checklist"}}`)
	write("past.json", `{"id":"test.past","name":"Past","description":"d","version":"1.0.0","steps":[
		{"id":"w","title":"W","action":{"kind":"wait","until":"2001-01-01T00:00:00Z"}},{"id":"e","title":"E","prompt":"p"}]}`)
	write("later.json", `{"id":"test.later","name":"Later","description":"d","version":"1.0.0","steps":[
		{"id":"w","title":"W","action":{"kind":"wait","for":"300d"}}]}`)
	write("unset.json", `{"id":"test.unset","name":"Unset","description":"d","version":"1.0.0","steps":[
		{"id":"w","title":"W","action":{"kind":"wait","until":"{{at}}"}}]}`)
	write("out.json", `{"kind":"result","n":1}`)
	// Each call and the kind of its document.
	calls := []string{
		"start past.json: step", "work --once: work", "start past.json: step", "start unset.json: step", "start later.json: step", "runs show: run", "due: due", "due --run: due",
		"due --print-timer: due", "inbox: inbox",
		"runs list: runs", "start old.json: step", "start old.json --title T: step", "continue --run @last: step",
		"continue --run @last --done: blocked", "runs show: run",
		"trailer: trailer", "trailer --run @last: trailer", "trailer --print-hook: trailer", "commit: git", "who HEAD: who", "who HEAD~1..HEAD: who",
		"continue --run @last --notes password=correct-horse-battery --set k=x --artifact out.json: step",
		"runs diff {first} {artifact run}: run_diff", "runs list: runs", "runs list --limit 1: runs", "runs list --branch main: runs", "runs list --branch gone: runs", "runs show: run", "runs timeline: timeline",
		"runs report -o run.html: report_file", "runs report --index pages: report_index", "runs report --format json -o -: report",
		"runs events: events", "runs events --format openwop: run_events", "runs show --format openwop: run_snapshot",
		"export @last --format openwop -o debug.json: debug_bundle", "verify: verification",
		"workflows list: workflows", "workflows builtins: builtins", "workflows inspect old.json: workflow", "workflows inspect loop.json: workflow",
		"workflows validate old.json: validation",
		"workflows validate broken.json: validation", "workflows test wr.demo --coverage: workflow_test", "workflows compile old.json: compiled",
		"person trust old.json: -", "trust old.json: trust", "trust --list: trusted", "config get: config", "version: version",
		"completion bash: completion",
		"runs show nothing: error", "start broken.json: error", "start wr.change_checklist --set x=1 --key k: step",
		"start wr.change_checklist --set x=2 --key k: step",
		"runs graph: graph", "checkpoint --run @last --notes n: step", "runs graph: graph",
		"workflows attach flows: sources", "workflows sources: sources", "workflows list: workflows",
		"fork @last: step", "runs show: run", "replay: replay", "resume: candidates", "export @last --hand-over -o over.json: export", "runs take-back @last: taken_back", "runs pause @last --reason r: paused", "runs show: run", "continue --run @last: step", "inbox: inbox", "runs resume @last: resumed", "runs cancel @last: cancelled",
		"runs cancel @last: cancelled",
		"workflows new team.new: workflow_file", "start loop.json: step", "continue --run @last --notes n: blocked",
		"continue --run @last --notes n --artifact stop.json: step", "runs show: run",
		"workflows test loop.json --from-run @last: workflow_test_file", "workflows test loop.json: workflow_test",
		"annotate @last --rating 4 --note n: annotation",
		"annotate @last --node e --correction c --confidence 0.5 --supersedes {annotation}: annotation",
		"annotate @last --label l: annotation", "annotate @last --flag: annotation",
		"annotations retract @last {annotation} --reason r: retracted", "annotations list @last: annotations",
		"annotations list @last --history --limit 2: annotations", "annotations summary: annotation_summary",
		"annotations summary @last: annotation_summary",
		"fork @last: step", "annotations list @last: annotations", "runs cancel @last: cancelled", "runs list: runs",
		"proposals create look.json --from-run @last: proposal", "proposals create look.json: proposal",
		"proposals list: proposals", "inbox: inbox", "proposals revise {proposal} look.json: proposal",
		"proposals reject {proposal} --reason r: proposal", "proposals archive {proposal}: proposal",
		"proposals revise {proposal} look.json: proposal", "proposals approve {proposal}: error",
		"config set lockWaitMs 3000: config", "config confirm: config",
		"person config set proposalsActivation direct-rbac: -", `person config set roles {"lead":["proposals:apply"]}: -`,
		`person config set principals {"ada":{"roles":["lead"],"uid":{uid}}}: -`,
		"proposals apply {proposal} --as ada: proposal", "proposals get {proposal}: proposal",
		"proposals get {proposal} --history: proposal_history", "proposals create look.json --workspace w: proposal",
		"proposals installed: installed", "proposals events: proposal_events",
		"proposals rollback {proposal} --workspace w: error", "capabilities: capabilities", "stored: stored",
		"proposals create nightly.json: proposal", "proposals apply {proposal} --as ada: proposal",
		"automations due --all: automations", "proposals rollback {proposal} --as ada --reason r: proposal",
		"verify --digests: verification", "verify @last: verification", "audit list: audit",
		"audit show {act}: audit_entry",
		"audit verify: audit_verification", "schema: schemas",
		"console --no-open --for 1ms: console", "guard test claude: guard_test", "guard test gemini: guard_test", "guard install claude --print: client_settings",
		"guard uninstall claude --print: client_settings", "mcp install codex --print: client_settings",
		"mcp uninstall codex --print: client_settings",
		"serve keys add ci --scope runs:read: serve_key", "serve keys add board --scope runs:read: serve_key",
		"serve keys remove board: serve_keys", "serve keys list: serve_keys", "keys list: keys", "keys rotate --yes: keys", "keys list: keys", "doctor: doctor",
		"runs events {artifact run}: events", "export {artifact run} -o a.json: export",
		"export {artifact run} -o r.json --redact: export",
		"bundle show a.json: bundle", "bundle show r.json: bundle", "bundle verify a.json: verification",
		"bundle diff a.json r.json: bundle_diff", "bundle diff a.json {artifact run}: bundle_diff",
		"import a.json: import", "import a.json --as-new: import", "import a.json --store other: import",
		"push {artifact run} --to pushed: push", "pull {artifact run} --from pushed: pull", "push {artifact run} --to pushed --as-new: push",
		"runs list --store other: runs",
		"sessions list: sessions", "sessions keep @last --reason r: kept", "sessions keep @last --reason r: kept",
		"sessions delete @last --yes: error",
		"artifacts list: artifacts", "artifacts list @last --limit 1: artifacts", "artifacts show {artifact}: artifact",
		"artifacts get {artifact} -o got.json: artifact_file", "runs logs: logs", "runs search n: search", "runs search zz: search",
		"runs show {artifact run} --step a: run",
		"sessions keep @last --off: kept", "artifacts erase {artifact} --reason r --yes: erased",
		"artifacts erase {artifact} --reason r --yes: erased",
		"bundle show a.json: bundle", "export {artifact run} -o e.json: export", "bundle show e.json: bundle", "du: du",
		"gc: gc",
		"sessions delete {artifact run} --yes --reason r: deleted", "sessions list: sessions", "sessions list --trash: sessions",
		"sessions restore {artifact run}: restored",
		"sessions delete {artifact run} --yes: deleted", "stored: stored", "du: du", "gc --empty-trash: gc",
		"sessions delete --empty-trash --yes: trash_emptied",
		"person config set retentionDays 1: -", "gc: gc", "gc --apply: gc", "audit list: audit",
		"repair: repair", "tear: tear", "verify: verification", "doctor: doctor", "sessions list: sessions", "du: du",
		"gc --apply: gc", "repair: repair",
		"export {torn} --salvage -o s.json: export", "bundle show s.json: bundle",
		"import s.json --store other: import", "repair --apply --yes: repair", "audit list: audit",
		"verify: verification", "doctor: doctor", "stored: stored",
	}
	names := map[string]string{"{artifact}": artifactOf(t, "out.json"), "{uid}": strconv.Itoa(os.Getuid())}
	shapes, seen := map[string]map[string]bool{}, map[string]int{}
	for _, row := range calls {
		call, want, _ := strings.Cut(row, ": ")
		if want == "stored" {
			validStore(t, filepath.Join(dir, "home/local"))
			continue
		}
		if words := strings.Fields(call); words[0] == "person" {
			words = strings.Fields(strings.ReplaceAll(call, "{uid}", names["{uid}"]))
			atTerminal(t, dir, words[1:]...)
			continue
		}
		if want == "git" {
			commitNaming(t, dir, env)
			continue
		}
		if want == "tear" {
			names["{torn}"] = tearLast(t, filepath.Join(dir, "home"))
			continue
		}
		for name, is := range names {
			call = strings.ReplaceAll(call, name, is)
		}
		var out, errOut bytes.Buffer
		if want == "trust" || strings.HasPrefix(call, "workflows attach") || strings.HasPrefix(call, "serve keys") {
			out.WriteString(runWithYes(t, append(strings.Fields(call), "--json"), env))
		} else {
			run(append(strings.Fields(call), "--json"), strings.NewReader(""), &out, &errOut, env)
		}
		var doc map[string]any
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil || errOut.Len() > 0 {
			t.Fatalf("%s: %v\n%s%s", call, err, out.String(), errOut.String())
		}
		if err := validDocument(out.Bytes()); err != nil {
			t.Errorf("%s: %v", call, err)
		}
		if data, ok := doc["data"].(map[string]any); ok && call == "start old.json" {
			names["{first}"] = fmt.Sprint(data["session"].(map[string]any)["runId"])
		}
		if c, ok := listOf(strings.Fields(call)); ok && want != "error" {
			seen[c.path] = max(seen[c.path], c.check(t, out.Bytes(), env))
		}
		if data, ok := doc["data"].(map[string]any); ok && strings.Contains(call, "--artifact out.json") {
			names["{artifact run}"] = fmt.Sprint(data["session"].(map[string]any)["runId"])
		}
		if data, ok := doc["data"].(map[string]any); ok && strings.HasPrefix(call, "proposals create ") {
			names["{proposal}"] = fmt.Sprint(data["id"])
		}
		if data, ok := doc["data"].(map[string]any); ok && strings.HasPrefix(call, "annotate ") {
			names["{annotation}"] = fmt.Sprint(data["annotationId"])
		}
		if data, ok := doc["data"].(map[string]any); ok && call == "audit list" {
			names["{act}"] = fmt.Sprint(data["entries"].([]any)[0].(map[string]any)["eventId"])
		}
		kind := fmt.Sprint(doc["kind"])
		if kind != want {
			t.Fatalf("%s gave a document of kind %s, want %s: %s", call, kind, want, out.String())
		}
		words := strings.Fields("waybill " + call + " - -")[:4]
		for answers[strings.Join(words, " ")] == "" && len(words) > 2 {
			words = words[:len(words)-1]
		}
		path := strings.Join(words, " ")
		if want != "error" && !strings.Contains(answers[path], "`"+want+"`") {
			t.Errorf("docs/cli says that %s gives %s, and it gave %s", path, answers[path], want)
		}
		if shapes[kind] == nil {
			shapes[kind] = map[string]bool{}
		}
		shape("", doc, shapes[kind])
	}
	checkSeen(t, seen)
	for _, file := range []string{"a.json", "r.json", "e.json", "s.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := valid("bundle", text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	var b strings.Builder
	kinds := []string{}
	for kind := range shapes {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	var described []string
	for _, name := range schemasOf(true) {
		if kind := strings.TrimPrefix(name, schema.DocumentPrefix); kind != "payload" && // TestPayloadAsADocument
			kind != "notify" { // no answer: TestNotifications
			described = append(described, kind)
		}
	}
	if !slices.Equal(kinds, described) {
		t.Errorf("the calls here give %q; the documents are %q", kinds, described)
	}
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

// commitNaming makes two commits, the second one with the trailer of the open run, one of a run that the store does not have,
// and a malformed one.
func commitNaming(t *testing.T, dir string, env []string) {
	t.Helper()
	var line, errOut bytes.Buffer
	if status := run([]string{"trailer"}, strings.NewReader(""), &line, &errOut, env); status != 0 || line.Len() == 0 {
		t.Fatalf("no trailer: %d, %s", status, &errOut)
	}
	const other = "Waybill-Run: run_aaaaaaaaaaaaaaaaaaaaaaaaaa sha256:0000000000000000000000000000000000000000000000000000000000000000\n"
	for _, args := range [][]string{{"init", "-q"}, {"commit", "-q", "--allow-empty", "-m", "First"},
		{"commit", "-q", "--allow-empty", "-m", "Second\n\n" + line.String() + other + "Waybill-Run: x"}} {
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

// artifactOf returns the digest of a file submitted as an artifact.
func artifactOf(t *testing.T, name string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	v, err := canon.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return canon.Sum(v.JCS()).String()
}

// tearLast damages the newest segment of a store and returns its session.
func tearLast(t *testing.T, store string) string {
	last, at := "", time.Time{}
	_ = filepath.WalkDir(store, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.Contains(path, "sessions") || filepath.Base(filepath.Dir(path)) != "events" {
			return err
		}
		if info, err := d.Info(); err == nil && !info.ModTime().Before(at) {
			last, at = path, info.ModTime()
		}
		return nil
	})
	b, err := os.ReadFile(last)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(last, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return filepath.Base(filepath.Dir(filepath.Dir(last)))
}

// home is the directory of this package; tests change the working directory.
var home, _ = os.Getwd()

// open ones hold what a workflow or caller supplies.
var open = []string{".data.artifact", ".data.proposals[].artifact", ".data.installed[].artifact", ".data.installed.",
	".data.events[]", ".data.next.params", ".data.workflow.steps[]"}

func shape(path string, v any, into map[string]bool) {
	for _, o := range open {
		// The whole path element must match, not a prefix of it.
		if rest, in := strings.CutPrefix(path, o); in && rest != "" &&
			(strings.HasSuffix(o, ".") || rest[0] == '.' || rest[0] == '[') {
			return
		}
	}
	switch at := v.(type) {
	case map[string]any:
		into[path+" object"] = true
		for name, member := range at {
			if path == ".data.about" { // by id
				name = "*"
			}
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
