//go:build linux

package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestAPersonAcceptsWhatComesHome: an import that extends a session shows who did what elsewhere, and asks. A no writes
// nothing.
func TestAPersonAcceptsWhatComesHome(t *testing.T) {
	dir := newDir(t, incident)
	in := func(store string, args ...string) (data map[string]any) {
		t.Helper()
		c := exec.Command("waybill", append(args, "--json", "--store", filepath.Join(dir, store))...)
		c.Dir = dir
		out, err := c.Output()
		var doc struct{ Data map[string]any }
		if err == nil {
			err = json.Unmarshal(out, &doc)
		}
		if err != nil {
			t.Fatalf("%v: %v %s", args, err, out)
		}
		return doc.Data
	}
	run := in("a", "start", "w.yaml")["session"].(map[string]any)["runId"].(string)
	in("a", "export", run, "-o", "away.json")
	in("b", "import", "away.json")
	in("b", "continue", "--run", run, "--notes", "looked", "--as", "sam\x1b[31m")
	in("b", "export", run, "-o", "home.json")
	ask := func(answer string) *terminalSession {
		s := startAtTerminal(t, dir, 80, "import", "home.json", "--store", filepath.Join(dir, "a"))
		s.expect("step look advanced by sam")
		s.expect("Extend the session? [y/N]")
		s.typeText(answer + "\r")
		return s
	}
	ask("n").expectExit(3)
	if done := in("a", "runs", "show", run)["progress"].(map[string]any)["completed"]; done != 0.0 {
		t.Errorf("%v steps after a no", done)
	}
	s := ask("y")
	s.expectExit(0)
	s.expect("Extended sess_")
	if done := in("a", "runs", "show", run)["progress"].(map[string]any)["completed"]; done != 1.0 {
		t.Errorf("%v steps after a yes", done)
	}
}
