//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSourceAtTerminal: 'workflows inspect --source' prints the exact bytes in a pipe, and no control character at a terminal.
func TestSourceAtTerminal(t *testing.T) {
	keep := func(s string) string { return s }
	s := newInjected(t, 80, keep, keep)
	name := filepath.Join(s.dir, "hostile.json")
	text := `{"id":"test.source","name":"S` + "\u009b2J\u202e" + `","description":"d","version":"1.0.0","steps":[{"id":"a","title":"A","prompt":"p"}]}` + "\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, status := s.call("workflows", "inspect", name, "--source"); status != 0 || out != text {
		t.Errorf("%d: %q", status, out)
	}
	out := s.atTerminal("workflows", "inspect", name, "--source")
	if strings.ContainsFunc(out, isRaw) || !strings.Contains(out, `"id":"test.source"`) {
		t.Errorf("%q", out)
	}
}
