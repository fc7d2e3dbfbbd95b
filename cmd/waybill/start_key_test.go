package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// touching is a workflow with one command, which writes its name to the file "ran", and a step for
// a person.
func touching(id, says string) string {
	return `{"id":"` + id + `","name":"N","description":"` + says + `","version":"1.0.0","steps":[
		{"id":"touch","title":"T","notesOptional":true,"action":{"kind":"command","argv":["sh","-c","echo ` + says + ` >>ran"]}},
		{"id":"after","title":"A","prompt":"p","notesOptional":true}]}`
}

// withTwoFlows returns a program in a directory with mine.json, mine2.json of the same workflow, and
// theirs.json of another one.
func withTwoFlows(t *testing.T) program {
	t.Helper()
	p := program{t, t.TempDir(), filepath.Join(t.TempDir(), "store")}
	p.writeFile("mine.json", touching("team.mine", "mine"))
	p.writeFile("mine2.json", touching("team.mine", "mine2"))
	p.writeFile("theirs.json", touching("team.theirs", "theirs"))
	return p
}

// ran returns what the commands wrote.
func (p program) ran() string {
	b, _ := os.ReadFile(filepath.Join(p.dir, "ran"))
	return strings.Join(strings.Fields(string(b)), " ")
}

// logged returns the names and sizes of all files of the sessions.
func (p program) logged() (out []string) {
	p.t.Helper()
	if err := filepath.WalkDir(filepath.Join(p.store, "sessions"), func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".jsonl") {
			out = append(out, name)
		}
		return err
	}); err != nil {
		p.t.Fatal(err)
	}
	return out
}

// refused runs a command that must end with an exit status and a code, and return the suggestion.
func (p program) refused(status int, code string, args ...string) string {
	p.t.Helper()
	var doc struct {
		Error struct{ Code, Message, Suggestion string }
	}
	text := p.runPiped(status, append(args, "--json")...)
	at := strings.Index(text, "{")
	if at < 0 || json.NewDecoder(strings.NewReader(text[at:])).Decode(&doc) != nil || doc.Error.Code != code {
		p.t.Fatalf("%v: want %s, got %s", args, code, text)
	}
	return doc.Error.Suggestion
}

// TestStartKeyTakenByAnotherWorkflow: neither start nor run answers with, or performs, the run of
// another workflow.
func TestStartKeyTakenByAnotherWorkflow(t *testing.T) {
	t.Parallel()
	p := withTwoFlows(t)
	p.runPiped(0, "start", "theirs.json", "--key", "nightly")
	before := p.logged()
	p.refused(2, "START_KEY_TAKEN", "start", "mine.json", "--key", "nightly")
	p.refused(2, "START_KEY_TAKEN", "run", "mine.json", "--key", "nightly", "--trust", "--notes", "n")
	// Before trust is asked for: an untrusted workflow is not what is wrong.
	p.refused(2, "START_KEY_TAKEN", "run", "mine.json", "--key", "nightly")
	if now := p.logged(); p.ran() != "" || len(now) != len(before) {
		t.Errorf("ran %q, files %v after %v", p.ran(), now, before)
	}
}

// TestStartKeysOfAutomationsAreReserved: neither start nor run takes a key of automations, and run
// refuses it before it asks for trust.
func TestStartKeysOfAutomationsAreReserved(t *testing.T) {
	t.Parallel()
	p := withTwoFlows(t)
	const key = "automation/nightly/2026-01-01T03:00:00Z/workflow:team.mine"
	p.refused(2, "USAGE_ERROR", "start", "mine.json", "--key", key)
	p.refused(2, "USAGE_ERROR", "run", "mine.json", "--key", key)
	p.refused(2, "USAGE_ERROR", "run", "mine.json", "--key", key, "--trust", "--notes", "n")
	if found, _ := filepath.Glob(filepath.Join(p.store, "sessions", "*")); p.ran() != "" || len(found) > 0 {
		t.Errorf("ran %q, sessions %v", p.ran(), found)
	}
}

// TestStartKeyTakenByImport: a bundle whose session has the id of a key does not take its place, even
// with the workflow that is asked for.
func TestStartKeyTakenByImport(t *testing.T) {
	t.Parallel()
	p := withTwoFlows(t)
	p.runPiped(0, "start", "mine.json") // the store has an id
	attacker := p
	attacker.store = filepath.Join(t.TempDir(), "store")
	if err := os.CopyFS(attacker.store, os.DirFS(p.store)); err != nil {
		t.Fatal(err)
	}
	restrictModes(t, attacker.store)
	for _, flow := range []string{"mine.json", "theirs.json"} {
		attacker.runPiped(0, "start", flow, "--key", flow)
		attacker.runPiped(0, "export", "@last", "-o", flow+".bundle.json")
		p.runPiped(0, "import", flow+".bundle.json")
		before := p.logged()
		p.refused(2, "START_KEY_TAKEN", "start", "mine.json", "--key", flow)
		p.refused(2, "START_KEY_TAKEN", "run", "mine.json", "--key", flow, "--trust", "--notes", "n")
		if now := p.logged(); p.ran() != "" || len(now) != len(before) {
			t.Errorf("%s: ran %q, files %v after %v", flow, p.ran(), now, before)
		}
	}
}

// restrictModes gives every file and directory the modes of a store, which copying does not keep.
func restrictModes(t *testing.T, dir string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o600)
		if d.IsDir() {
			mode = 0o700
		}
		return os.Chmod(name, mode)
	}); err != nil {
		t.Fatal(err)
	}
}

// TestTrustIsForTheNamedVersion: --trust allows the commands of the file on the command line, and of
// no version that a key or a run is pinned to instead.
func TestTrustIsForTheNamedVersion(t *testing.T) {
	t.Parallel()
	p := withTwoFlows(t)
	p.runPiped(0, "start", "mine.json", "--key", "k")
	p.refused(3, "WORKFLOW_UNTRUSTED", "run", "mine2.json", "--key", "k", "--trust", "--notes", "n")
	p.refused(3, "WORKFLOW_UNTRUSTED", "run", "mine2.json", "--run", "@last", "--trust", "--notes", "n")
	if s := p.refused(2, "USAGE_ERROR", "run", "--run", "@last", "--trust"); !strings.Contains(s, "waybill trust") {
		t.Errorf("suggestion %q", s)
	}
	p.refused(2, "USAGE_ERROR", "run", "mine.json", "--run", "@last")
	if p.ran() != "" {
		t.Fatalf("ran %q", p.ran())
	}
	p.runPiped(0, "run", "mine.json", "--run", "@last", "--trust", "--notes", "n")
	if p.ran() != "mine" {
		t.Errorf("ran %q", p.ran())
	}
	// A complete run performs nothing, and another version answers with it.
	if out := p.runPiped(0, "run", "mine2.json", "--key", "k"); p.ran() != "mine" || !strings.Contains(out, "complete") {
		t.Errorf("ran %q, printed %s", p.ran(), out)
	}
	// The version that a key names is performed once it is trusted by its file.
	p.runPiped(0, "start", "mine2.json", "--key", "k2")
	p.runPiped(0, "run", "mine2.json", "--key", "k2", "--trust", "--notes", "n")
	if p.ran() != "mine mine2" {
		t.Errorf("ran %q", p.ran())
	}
}

// TestMadeUpCommandResults: a result that nothing ran is refused, with the command that performs the
// step, and the step is still pending.
func TestMadeUpCommandResults(t *testing.T) {
	t.Parallel()
	p := withTwoFlows(t)
	p.runPiped(0, "start", "mine.json")
	runID := p.onlyRun()
	var performed struct{ Steps []map[string]any }
	// A real result, as a performer in another store recorded it.
	other := p
	other.store = filepath.Join(t.TempDir(), "store")
	other.runPiped(0, "run", "mine.json", "--trust", "--notes", "n")
	result := other.commandResult()
	if err := os.Remove(filepath.Join(p.dir, "ran")); err != nil {
		t.Fatal(err)
	}
	p.writeFile("result.json", result)
	for _, args := range [][]string{
		{"continue", "--run", "@last", "--artifact", "result.json", "--notes", "I ran it."},
		{"checkpoint", "--run", "@last", "--artifact", "result.json", "--notes", "I ran it."},
	} {
		if s := p.refused(2, "VALIDATION_ERROR", args...); !strings.Contains(s, "waybill run --run "+runID) {
			t.Errorf("%v: suggestion %q", args, s)
		}
	}
	c := p.agent()
	found := c.tool("resume_session", map[string]any{"runId": runID})
	one := c.tool("continue_workflow", map[string]any{"stateToken": found.Data.Candidates[0].StateToken})
	var artifact map[string]any
	if err := json.Unmarshal([]byte(result), &artifact); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string]map[string]any{
		"continue_workflow":   {"ackToken": one.Data.AckToken},
		"checkpoint_workflow": {"checkpointToken": one.Data.CheckpointToken},
	} {
		args["stateToken"] = one.Data.StateToken
		args["output"] = map[string]any{"notesMarkdown": "I ran it.", "artifacts": []any{artifact}}
		r := c.tool(name, args)
		if r.Error.Code != "VALIDATION_ERROR" || !strings.Contains(r.Error.Suggestion, "waybill run --run "+runID) {
			t.Errorf("%s: %s", name, r.raw)
		}
	}
	c.ends()
	p.json(&performed, "runs", "show", runID)
	if performed.Steps[0]["state"] != "pending" || performed.Steps[0]["attempts"] != 0.0 || p.ran() != "" {
		t.Errorf("%+v, ran %q", performed.Steps, p.ran())
	}
	p.runPiped(0, "run", "mine.json", "--run", runID, "--trust", "--notes", "n")
	p.json(&performed, "runs", "show", runID)
	if _, is := performed.Steps[0]["resultNote"]; is || performed.Steps[0]["state"] != "done" || p.ran() != "mine" {
		t.Errorf("%+v, ran %q", performed.Steps, p.ran())
	}
}

// commandResult returns the only recorded result of a command.
func (p program) commandResult() string {
	p.t.Helper()
	all, err := filepath.Glob(filepath.Join(p.store, "artifacts", "*"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, name := range all {
		if b, err := os.ReadFile(name); err == nil && strings.Contains(string(b), "wr.command_result") {
			return string(b)
		}
	}
	p.t.Fatalf("no result in %v", all)
	return ""
}
