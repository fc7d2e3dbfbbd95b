//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestAPersonAcceptsAnExchange: push and pull that extend a session show who did what in the source store, and ask. A no
// writes nothing.
func TestAPersonAcceptsAnExchange(t *testing.T) {
	t.Parallel()
	dir := newDir(t, incident)
	in := func(store string, args ...string) (data map[string]any) {
		t.Helper()
		p := program{t, dir, filepath.Join(dir, store)}
		p.json(&data, args...)
		return data
	}
	run := in("a", "start", "w.yaml")["session"].(map[string]any)["runId"].(string)
	in("a", "push", run, "--to", "b")
	done := func(store string) any {
		return in(store, "runs", "show", run)["progress"].(map[string]any)["completed"]
	}
	for n, c := range []struct{ verb, flag, source, target, here, other string }{
		{"pull", "--from", "b", "a", "a", "b"}, {"push", "--to", "a", "b", "a", "b"}} {
		in(c.source, "continue", "--run", run, "--notes", "done", "--as", "sam\x1b[31m")
		ask := func(answer string) *terminalSession {
			s := startAtTerminal(t, dir, 80, c.verb, run, c.flag, c.other, "--store", filepath.Join(dir, c.here))
			s.expect("advanced by sam")
			s.expect("Extend the session? [y/N]")
			s.typeText(answer + "\r")
			return s
		}
		ask("n").expectExit(3)
		if got := done(c.target); got != float64(n) {
			t.Errorf("%s: %v steps after a no", c.verb, got)
		}
		s := ask("y")
		s.expectExit(0)
		s.expect("Extended sess_")
		if got := done(c.target); got != float64(n+1) {
			t.Errorf("%s: %v steps after a yes", c.verb, got)
		}
	}
}

// TestCtrlCAtAPull: Ctrl-C ends a pull before the session appears, and the command can be repeated.
func TestCtrlCAtAPull(t *testing.T) {
	t.Parallel()
	dir, _ := oldStore(t, 1)
	from, into := filepath.Join(dir, "home", "local"), newDir(t, personFlow)
	inDir(t, into, "start", "w.yaml")
	free := lockFile(t, filepath.Join(into, "home", "local", ".use.lock"))
	defer free()
	s := startAtTerminal(t, into, 80, "pull", "@last", "--from", from, "--lock-wait", "10m")
	s.drew(fmt.Sprintf("Pulling (%d events checked)", eventsOf(t, dir)))
	s.typeText("\x03")
	s.expectExit(1)
	if text := s.text(); !strings.Contains(text, "interrupted; nothing was written") ||
		!strings.Contains(strings.Join(strings.Fields(text), ""), "Continuewith'waybillpull@last--from"+from+"'.") {
		t.Errorf("the screen is\n%s", text)
	}
	free()
	inDir(t, into, "verify")
	if n := len(sessionDirs(t, into)); n != 1 {
		t.Errorf("%d sessions", n)
	}
	inDir(t, into, "pull", "@last", "--from", from)
	inDir(t, into, "verify")
	if n := len(sessionDirs(t, into)); n != 2 {
		t.Errorf("%d sessions", n)
	}
}
