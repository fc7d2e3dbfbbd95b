package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/invisible"
)

// guarded is a repository with a home directory and a store of its own.
type guarded struct {
	*testing.T
	home, dir string
}

// newGuarded returns a repository with workflow files by name.
func newGuarded(t *testing.T, files map[string]string) *guarded {
	t.Helper()
	g := &guarded{t, t.TempDir(), t.TempDir()}
	g.write(filepath.Join(g.dir, ".git", "HEAD"), "ref: refs/heads/main\n")
	for name, text := range files {
		g.write(filepath.Join(g.dir, name), text)
	}
	t.Chdir(g.dir)
	return g
}

func (g *guarded) write(name, text string) {
	g.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		g.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		g.Fatal(err)
	}
}

func (g *guarded) env() []string {
	return []string{"HOME=" + g.home, "USERPROFILE=" + g.home, "WAYBILL_HOME=" + filepath.Join(g.home, "stores"),
		"XDG_CONFIG_HOME=" + filepath.Join(g.home, "config"), "NO_COLOR=1"}
}

// call runs a command with an exit status and returns stdout.
func (g *guarded) call(want int, input string, args ...string) string {
	g.Helper()
	var out, errOut bytes.Buffer
	if status := run(args, strings.NewReader(input), &out, &errOut, g.env()); status != want {
		g.Errorf("%v: exit status %d, want %d\n%s%s", args, status, want, out.String(), errOut.String())
	}
	return out.String()
}

// hook runs a hook for a session of a client and returns its answer.
func (g *guarded) hook(event, session string) string {
	g.Helper()
	in, _ := json.Marshal(map[string]any{"session_id": session, "cwd": g.dir, "hook_event_name": event})
	return g.call(0, string(in), "guard", "hook", event)
}

// decision is the decision of an answer, "" for an empty one.
func (g *guarded) decision(answer string) string {
	g.Helper()
	if answer == "" {
		return ""
	}
	var out struct{ Decision string }
	if err := json.Unmarshal([]byte(answer), &out); err != nil {
		g.Errorf("%v in %q", err, answer)
	}
	return out.Decision
}

const guardFlow = `{"id":"test.two","name":"Two","description":"d","version":"1.0.0","steps":[
	{"id":"a","title":"First","prompt":"Do the first."},{"id":"b","title":"Second","prompt":"Do the second."}]}`

// TestHookRefusesTwiceThenLetsGo: the end of a turn is refused at most twice for a node and a session of a client, that
// is on record, and another step is refused again.
func TestHookRefusesTwiceThenLetsGo(t *testing.T) {
	g := newGuarded(t, map[string]string{"two.json": guardFlow})
	if got := g.hook("Stop", "s"); got != "" {
		t.Errorf("without a store: %s", got)
	}
	if _, err := os.Stat(filepath.Join(g.home, "stores")); err == nil {
		t.Error("a hook made a store")
	}
	g.call(0, "", "start", "two.json", "--title", "Mine")
	if got := g.hook("SessionStart", "s"); !strings.Contains(got, `Mine`) || !strings.Contains(got, `Do the first.`) {
		t.Errorf("context: %s", got)
	}
	g.call(0, "", "guard", "test", "claude") // records nothing
	stops := func(session string, want ...string) {
		t.Helper()
		for i, w := range want {
			if got := g.decision(g.hook("Stop", session)); got != w {
				t.Errorf("stop %d of %s: %q, want %q", i+1, session, got, w)
			}
		}
	}
	stops("s", "block", "block", "", "")
	if got := g.verdicts("@last"); got != "claude refused 1, claude refused 2, claude let_go 2" {
		t.Errorf("record: %s", got)
	}
	stops("other session", "block")
	g.call(0, "", "continue", "--run", "@last", "--done")
	stops("s", "block")
	if got := g.hook("Stop", "s"); !strings.Contains(got, "Second") {
		t.Errorf("the second step: %s", got)
	}
	g.call(0, "", "continue", "--run", "@last", "--done")
	stops("s", "")
	if got := g.hook("SessionStart", "s"); got != "" {
		t.Errorf("a complete run: %s", got)
	}
}

// TestHookLetsGoWhereNothingIsForTheAgent: steps that wait for a person, for a moment or for a command hold no agent.
func TestHookLetsGoWhereNothingIsForTheAgent(t *testing.T) {
	flow := func(step string) string {
		return `{"id":"test.one","name":"One","description":"d","version":"1.0.0","steps":[` + step + `]}`
	}
	for name, row := range map[string]struct{ step, says string }{
		"approval":     {`{"id":"a","title":"A","prompt":"p","requireConfirmation":{"kind":"human_approval"}}`, "waits for a person"},
		"confirmation": {`{"id":"a","title":"A","prompt":"p","requireConfirmation":true}`, "waits for a person"},
		"wait":         {`{"id":"a","title":"A","action":{"kind":"wait","for":"300d"}}`, "waits until a moment"},
		"host":         {`{"id":"a","title":"A","action":{"kind":"host","typeId":"core.noop"}}`, "performed by 'waybill serve'"},
		"host gate":    {`{"id":"a","title":"A","action":{"kind":"host","typeId":"core.noop"},"requireConfirmation":{"kind":"human_approval"}}`, "waits for a person"},
		"host input":   {`{"id":"a","title":"A","action":{"kind":"host","typeId":"core.noop"},"inputs":[{"contextKey":"k","reason":"needs_user_artifact","description":"d"}]}`, "performed by 'waybill serve'"},
		"command":      {`{"id":"a","title":"A","action":{"kind":"command","argv":["x"]}}`, "is a command"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuarded(t, map[string]string{"one.json": flow(row.step)})
			g.call(0, "", "start", "one.json")
			if got := g.hook("Stop", "s"); got != "" {
				t.Errorf("stop: %s", got)
			}
			if got := g.hook("SessionStart", "s"); !strings.Contains(got, row.says) {
				t.Errorf("context: %s", got)
			}
			// A run with a step for the agent is found behind it.
			g.write(filepath.Join(g.dir, "two.json"), guardFlow)
			g.call(0, "", "start", "two.json")
			g.call(0, "", "start", "one.json")
			if got := g.hook("Stop", "s"); !strings.Contains(got, "First") {
				t.Errorf("stop with another run: %s", got)
			}
		})
	}
}

// TestHookWaitsForTrustInChecks: the turn of an agent that cannot hand in a step, since no person trusted its checks in
// this folder, is not held.
func TestHookWaitsForTrustInChecks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no pty")
	}
	const flow = `{"id":"test.one","name":"One","description":"d","version":"1.0.0","steps":[{"id":"a","title":"A","prompt":"p",
		"checks":[{"id":"c","argv":["true"]}]}]}`
	g := newGuarded(t, map[string]string{".waybill/workflows/one.json": flow})
	g.call(0, "", "start", "test.one")
	if got := g.hook("Stop", "s"); got != "" {
		t.Errorf("stop without trust: %s", got)
	}
	if got := g.hook("SessionStart", "s"); !strings.Contains(got, "until a person trusts its checks") || !strings.Contains(got, "waybill trust sha256:") ||
		strings.Contains(got, "Hand it in") {
		t.Errorf("context without trust: %s", got)
	}
	if out := g.atTerminal("y", "trust", "test.one"); !strings.Contains(out, "may run") {
		t.Fatal(out)
	}
	if got := g.hook("Stop", "s"); g.decision(got) != "block" {
		t.Errorf("stop with trust: %s", got)
	}
	if got := g.hook("SessionStart", "s"); !strings.Contains(got, "Hand it in") {
		t.Errorf("context with trust: %s", got)
	}
	g.call(0, "", "trust", "--revoke", "test.one")
	if got := g.hook("Stop", "s2"); got != "" {
		t.Errorf("stop after the trust was revoked: %s", got)
	}
}

// TestGuardTestOutsideOfARepository: it says why no run is found.
func TestGuardTestOutsideOfARepository(t *testing.T) {
	g := newGuarded(t, map[string]string{"two.json": guardFlow})
	const why = "No run of this folder: it is not in a git repository"
	for _, args := range [][]string{{"guard", "test", "claude"}, {"guard", "test", "opencode", "--json"}} {
		if got := g.call(0, "", args...); strings.Contains(got, why) {
			t.Errorf("in a repository: %s", got)
		}
	}
	if err := os.RemoveAll(filepath.Join(g.dir, ".git")); err != nil {
		t.Fatal(err)
	}
	g.call(0, "", "start", "two.json")
	for _, args := range [][]string{{"guard", "test", "claude"}, {"guard", "test", "opencode", "--json"}} {
		if got := strings.Join(strings.Fields(g.call(0, "", args...)), " "); !strings.Contains(got, why) {
			t.Errorf("outside of one: %s", got)
		}
	}
}

// TestHookWhenWaybillCannotAnswer: in every error the answer is empty and the exit status 0.
func TestHookWhenWaybillCannotAnswer(t *testing.T) {
	g := newGuarded(t, map[string]string{"two.json": guardFlow})
	g.call(0, "", "start", "two.json")
	for name, row := range map[string]struct {
		input string
		args  []string
	}{
		"no input": {"", []string{"Stop"}}, "no JSON": {"{", []string{"Stop"}}, "a list": {"[]", []string{"Stop"}},
		"unknown event": {"{}", []string{"PreToolUse"}}, "no event": {"{}", nil}, "two events": {"{}", []string{"Stop", "Stop"}},
		"unknown client":     {"{}", []string{"Stop", "--client", "x"}},
		"event of another":   {"{}", []string{"AfterAgent", "--client", "claude"}},
		"flag without value": {"{}", []string{"Stop", "--client"}},
		"wrong tenant":       {"{}", []string{"Stop", "--tenant", "A B"}},
		"no store there":     {"{}", []string{"Stop", "--store", filepath.Join(g.dir, "two.json")}},
		"no repository":      {`{"cwd":"` + filepath.ToSlash(g.home) + `"}`, []string{"Stop"}},
		"with json":          {"", []string{"Stop", "--json"}},
	} {
		if got := g.call(0, row.input, append([]string{"guard", "hook"}, row.args...)...); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
	// A flag that this version does not know is left out.
	if got := g.call(0, "{}", "guard", "hook", "SessionStart", "--bogus"); !strings.Contains(got, "First") {
		t.Errorf("an unknown flag: %s", got)
	}
	// The run of another repository is not shown.
	other := filepath.Join(g.home, "other")
	g.write(filepath.Join(other, ".git", "HEAD"), "ref: refs/heads/main\n")
	if got := g.call(0, `{"cwd":"`+filepath.ToSlash(other)+`"}`, "guard", "hook", "SessionStart"); got != "" {
		t.Errorf("another repository: %s", got)
	}
	// Without a cache the logs are read.
	cache := filepath.Join(g.home, "stores", "local", "cache")
	if err := os.RemoveAll(cache); err != nil {
		t.Fatal(err)
	}
	g.write(cache, "")
	for _, event := range []string{"SessionStart", "Stop"} {
		if got := g.hook(event, "s"); !strings.Contains(got, "First") {
			t.Errorf("%s without a cache: %s", event, got)
		}
	}
	// A damaged log has no open step.
	manifests, _ := filepath.Glob(filepath.Join(g.home, "stores", "local", "sessions", "*", "manifest.jsonl"))
	for _, name := range manifests {
		g.write(name, "x\n")
	}
	if got := g.hook("SessionStart", "s"); len(manifests) != 1 || got != "" {
		t.Errorf("a damaged log: %s", got)
	}
}

// TestHookListIsDerived: the saved list is used, and is computed again when it is absent, torn or of another store.
func TestHookListIsDerived(t *testing.T) {
	g := newGuarded(t, map[string]string{"two.json": guardFlow})
	g.call(0, "", "start", "two.json")
	want := g.hook("SessionStart", "s")
	list := filepath.Join(g.home, "stores", "local", "cache", "guard-latest-2")
	good, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{"empty": "", "torn": string(good[:len(good)/2]), "garbage": strings.Repeat("x", 200),
		"another seal": "0" + string(good[1:]), "a run is removed": strings.Replace(string(good), "run_", "run-", 1)} {
		g.write(list, bad)
		if got := g.hook("SessionStart", "s"); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if err := os.Remove(list); err != nil {
		t.Fatal(err)
	}
	if got := g.hook("SessionStart", "s"); got != want {
		t.Errorf("absent: %s", got)
	}
	before, _ := os.ReadFile(filepath.Join(g.home, "stores", "local", "store.json"))
	g.call(0, "", "verify")
	if after, _ := os.ReadFile(filepath.Join(g.home, "stores", "local", "store.json")); !bytes.Equal(before, after) {
		t.Error("the store changed")
	}
}

// TestHookAnswersPrintNothingInvisible: texts of a run are escaped in the answer.
func TestHookAnswersPrintNothingInvisible(t *testing.T) {
	hostile := "T\u202e\u200b\u001b[31m"
	text, _ := json.Marshal(hostile)
	g := newGuarded(t, map[string]string{"two.json": strings.Replace(guardFlow, `"First"`, string(text), 1)})
	g.call(0, "", "start", "two.json")
	for _, event := range []string{"SessionStart", "Stop"} {
		answer := g.hook(event, "s")
		for _, r := range strings.TrimSuffix(answer, "\n") {
			if invisible.Is(r) {
				t.Errorf("%s writes %U: %q", event, r, answer)
			}
		}
		if !json.Valid([]byte(answer)) || !strings.Contains(answer, `\u202e`) {
			t.Errorf("%s: %q", event, answer)
		}
	}
}

// TestHookListFollowsChanges: the run that changed last is shown, also where the saved list was not written shortly
// before.
func TestHookListFollowsChanges(t *testing.T) {
	g := newGuarded(t, map[string]string{"two.json": guardFlow})
	g.call(0, "", "start", "two.json", "--title", "Older", "--key", "k")
	var first struct {
		Data struct{ Runs []struct{ RunID string } }
	}
	if err := json.Unmarshal([]byte(g.call(0, "", "runs", "list", "--json")), &first); err != nil || len(first.Data.Runs) != 1 {
		t.Fatal(err, first)
	}
	time.Sleep(2 * time.Millisecond) // the runs are ordered by the millisecond
	g.call(0, "", "start", "two.json", "--title", "Newer")
	manifests, _ := filepath.Glob(filepath.Join(g.home, "stores", "local", "sessions", "*", "manifest.jsonl"))
	for _, name := range manifests {
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if got := g.hook("SessionStart", "s"); !strings.Contains(got, "Newer") {
			t.Errorf("the newer run: %s", got)
		}
	}
	list, err := os.ReadFile(filepath.Join(g.home, "stores", "local", "cache", "guard-latest-2"))
	if err != nil || len(manifests) != 2 || strings.Count(string(list), "run_") != 2 {
		t.Errorf("%d manifests, %v\n%s", len(manifests), err, list)
	}
	g.call(0, "", "continue", "--run", first.Data.Runs[0].RunID, "--done")
	if got := g.hook("SessionStart", "s"); !strings.Contains(got, "Older") || !strings.Contains(got, "Second") {
		t.Errorf("the run that changed last: %s", got)
	}
}

// TestHookLeavesImportedRunsOut: a run that came with a bundle holds no agent until it is continued here.
func TestHookLeavesImportedRunsOut(t *testing.T) {
	g := newGuarded(t, map[string]string{"two.json": guardFlow})
	g.call(0, "", "start", "two.json")
	g.call(0, "", "export", "@last", "-o", "a.json")
	other := filepath.Join(g.home, "other")
	g.call(0, "", "import", "a.json", "--store", other)
	for _, event := range []string{"SessionStart", "Stop"} {
		if got := g.call(0, "{}", "guard", "hook", event, "--store", other); got != "" {
			t.Errorf("%s: %s", event, got)
		}
	}
	g.call(0, "", "continue", "--run", "@last", "--done", "--store", other)
	if got := g.call(0, "{}", "guard", "hook", "Stop", "--store", other); !strings.Contains(got, "Second") || !strings.Contains(got, "--store") {
		t.Errorf("continued here: %s", got)
	}
}
