//go:build linux

package main

import "testing"

// TestConfirmationShowsTheFilledCommand: a person is asked for a value that nothing sets, and
// confirms the command as it runs. An output that is missing can be typed; the command does not run
// again then.
func TestConfirmationShowsTheFilledCommand(t *testing.T) {
	t.Parallel()
	dir := newDir(t, "id: test.one\nname: One\ndescription: d\nversion: 1.0.0\n"+
		"steps: [{id: a, title: A, requireConfirmation: true, outputs: {commit: stdout, tag: \"json:/tag\"},\n"+
		"  action: {kind: command, argv: [sh, -c, 'echo ran >>ran; cat ran; echo \"<$1>\" >&2', sh, --, \"{{where}}\"]}},\n"+
		" {id: b, title: \"B {{tag}}\", action: {kind: command, argv: [echo, \"tag={{tag}}\"]}}]\n")
	s := startAtTerminal(t, dir, 100, "run", "w.yaml")
	s.expect("Allow it? [y/a/N]")
	s.typeText("y\n")
	s.expect("(where)")
	s.typeText("a 'b'\n")
	s.expect(`'a '\''b'\'''`) // the argument, as a shell would read it
	s.expect("Run this command? [y/N]")
	s.typeText("y\n")
	s.expect("tag is not set")
	s.expect("(tag)")
	s.typeText("v2\n")
	s.expect("tag=v2")
	s.expect("One is complete")
	s.expectExit(0)
	if got := (program{t: t, dir: dir}).ran(); got != "ran" {
		t.Errorf("the command ran: %q", got)
	}
}
