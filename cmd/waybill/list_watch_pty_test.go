//go:build linux

package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestListIsWatched: a watched list is drawn again when a run is recorded, fits the window, and ends with Ctrl-C and exit
// status 0. Elsewhere than at a terminal it is refused.
func TestListIsWatched(t *testing.T) {
	t.Parallel()
	dir := newDir(t, personFlow)
	s := startAtTerminal(t, dir, 60, "runs", "list", "--watch", "--sort", "title")
	s.expect("No runs yet.")
	s.expect("Ctrl-C stops.")
	for _, title := range []string{"Watched", "Another"} {
		call := exec.Command(s.cmd.Path, "start", "w.yaml", "--title", title)
		call.Dir, call.Env = dir, s.cmd.Env
		if out, err := call.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		s.expect("RUN ")
		s.expect("● in progress")
		s.expect(title)
	}
	s.expect("Watched") // behind it, in the order of the titles
	s.shownNarrow(60)
	s.typeText("\x03")
	s.expectExit(0)
	s.mu.Lock()
	all := s.all.String()
	s.mu.Unlock()
	if n := strings.Count(all, "\x1b[H\x1b[2J"); !strings.HasSuffix(all, "\r\n") || n != 3 {
		t.Errorf("drawn %d times: %q", n, all)
	}

	for _, args := range [][]string{{}, {"--json"}} {
		call := exec.Command(s.cmd.Path, append([]string{"runs", "list", "--watch"}, args...)...)
		call.Dir, call.Env = dir, s.cmd.Env
		if out, err := call.CombinedOutput(); call.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "needs a terminal") {
			t.Errorf("%v: %v %s", args, err, out)
		}
	}
	dumb := terminalOf(t, dir, "waybill", "runs", "list", "--watch")
	dumb.cmd.Env = append(dumb.cmd.Env, "TERM=dumb")
	dumb.start(60)
	dumb.expectExit(2)
}
