//go:build linux

package main

import (
	"strings"
	"testing"
)

// TestIdentityDoesNotApprove: the default identity is in the records of a person's attempts, and not in
// those of an approval; a name that was given is in both.
func TestIdentityDoesNotApprove(t *testing.T) {
	t.Parallel()
	flow := "id: test.ship\nname: Ship\ndescription: d\nversion: 1.0.0\nsteps:\n" +
		"  - {id: a, title: A, prompt: p}\n" +
		"  - {id: ship, title: Ship, prompt: p, requireConfirmation: {kind: human_approval}}\n"
	for _, given := range []string{"", "ada"} {
		dir := newDir(t, flow)
		var as []string
		want := `"actor":{"kind":"human","ref":"Sam"}`
		if given != "" {
			as, want = []string{"--as", given}, `"actor":{"kind":"human","ref":"ada"}`
		}
		s := startAtTerminal(t, dir, 100, append([]string{"run", "w.yaml"}, as...)...)
		for range 2 {
			s.expect("Enter for none")
			s.typeText("done\n")
		}
		s.expect("Approve? [y/N]")
		s.typeText("y\n")
		s.expect("✓ Ship is complete")
		s.expectExit(0)
		events := output(t, dir, "runs", "events", "@last")
		if !strings.Contains(events, want) {
			t.Errorf("no %s", want)
		}
		for line := range strings.Lines(events) {
			if strings.Contains(line, "wr.human_approval") && strings.Contains(line, `"ref"`) != (given != "") {
				t.Errorf("--as %q: %s", given, line)
			}
		}
		if text := output(t, dir, "audit", "list"); strings.Contains(text, "Sam") {
			t.Error(text)
		}
	}
}
