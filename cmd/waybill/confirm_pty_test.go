//go:build linux

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRefusedConfirmationChangesNothing answers the question of each command that asks with
// no, nothing, and the end of the input. All report that nothing was changed, with the exit
// status of a call that waits for a person.
func TestRefusedConfirmationChangesNothing(t *testing.T) {
	t.Parallel()
	dir := newDir(t, "id: test.one\nname: One\ndescription: d\nversion: 1.0.0\n"+
		"steps: [{id: a, title: A, prompt: Do it.}]\n")
	s := startAtTerminal(t, dir, 80, "start", "w.yaml")
	s.expectExit(0)
	if err := os.WriteFile(filepath.Join(dir, "home/local/config.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		question string
		args     []string
	}{
		{"Replace it? [y/N]", []string{"keys", "rotate"}},
		{"Apply this plan? [y/N]", []string{"repair", "--apply"}},
		{"to the trash? [y/N]", []string{"sessions", "delete", "@last"}},
	} {
		for _, answer := range []string{"n\n", "\n", "\x04", "y\x04\x04"} {
			s := startAtTerminal(t, dir, 80, append(c.args, "--log-level", "off")...)
			s.expect(c.question)
			s.typeText(answer)
			s.expect("not confirmed [RUN_WAITING]")
			s.expect("Nothing was changed.")
			s.expectExit(3)
		}
	}
	for _, name := range []string{"config.json", "sessions/sess_*/manifest.jsonl"} {
		if found, _ := filepath.Glob(filepath.Join(dir, "home/local", name)); len(found) != 1 {
			t.Errorf("%s: found %v, want one file", name, found)
		}
	}
}
