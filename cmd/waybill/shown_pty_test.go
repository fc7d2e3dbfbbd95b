//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestResultsFitTheTerminal: what the commands about results print has no styles as text, and no row of it is wider than the
// terminal.
func TestResultsFitTheTerminal(t *testing.T) {
	dir := newDir(t, logsFlow)
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "x.json"), []byte(`{"kind":"test.of_an_artifact","x":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	startAtTerminal(t, dir, 100, "start", "w.yaml").expectExit(0)
	startAtTerminal(t, dir, 100, "checkpoint", "--run", "@last", "--notes", "so far", "--artifact", "x.json").expectExit(0)
	startAtTerminal(t, dir, 100, "run", "w.yaml", "--trust", "--set", `services=["a","b"]`, "--notes", "n").expectExit(0)
	for _, args := range [][]string{{"runs", "show"}, {"runs", "show", "--step", "build"}, {"artifacts", "list"}, {"runs", "list"}} {
		for _, columns := range []uint16{80, 120} {
			s := terminalOf(t, dir, "waybill", args...)
			s.cmd.Env = slices.DeleteFunc(s.cmd.Env, func(v string) bool { return strings.HasPrefix(v, "NO_COLOR=") })
			s.start(columns)
			s.expectExit(0)
			s.shownNarrow(int(columns))
			if strings.Contains(s.text(), "␛") {
				t.Errorf("%v: styles are printed as text:\n%s", args, s.text())
			}
		}
	}
}
