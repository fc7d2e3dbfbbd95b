//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTrustListNamesSources: of an attached folder while it is attached, and of none afterwards.
func TestTrustListNamesSources(t *testing.T) {
	p := programWithWorkflows(t)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(p.dir, "config"))
	flows := filepath.Join(p.dir, "two flows")
	if err := os.MkdirAll(flows, 0o700); err != nil {
		t.Fatal(err)
	}
	p.writeFile("two flows/c.yaml", strings.ReplaceAll(commandWorkflow, "test.cmd", "wr.theirs"))
	p.atTerminal(0, "y", "workflows", "attach", flows, "--name", "team")
	p.atTerminal(0, "y", "trust", "wr.theirs")
	listed := func(want string) {
		t.Helper()
		var list struct {
			Trusted []struct{ WorkflowID, Source string }
		}
		p.json(&list, "trust", "--list")
		if len(list.Trusted) != 1 || list.Trusted[0].WorkflowID != "wr.theirs" || list.Trusted[0].Source != want {
			t.Errorf("got %+v, want the source %q", list.Trusted, want)
		}
	}
	listed("plugin:team")
	if text := p.runPiped(0, "trust", "--list"); !strings.Contains(text, "plugin:team") {
		t.Errorf("the source is not shown:\n%s", text)
	}
	p.atTerminal(0, "y", "workflows", "detach", "team")
	listed("")
	if text := p.runPiped(0, "trust", "--list"); !strings.Contains(text, "not found") {
		t.Errorf("a version without a file is shown as\n%s", text)
	}
}

// TestAutomationsNameTheSource: that of the workflow that would be started now.
func TestAutomationsNameTheSource(t *testing.T) {
	p := programWithWorkflows(t)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(p.dir, "config"))
	p.configure("proposals", "on")
	p.automation()
	if got := p.scheduled().Source; got != "" {
		t.Errorf("no workflow is found, and its source is %q", got)
	}
	if err := os.MkdirAll(filepath.Join(p.dir, "flows"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.writeFile("flows/c.yaml", strings.ReplaceAll(commandWorkflow, "test.cmd", "team.mine"))
	p.atTerminal(0, "y", "workflows", "attach", "flows", "--name", "team")
	if got := p.scheduled().Source; got != "plugin:team" {
		t.Errorf("got the source %q", got)
	}
}
