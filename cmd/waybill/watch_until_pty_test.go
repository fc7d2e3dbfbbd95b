//go:build linux

package main

import "testing"

// TestStoppedWatchHasNotReached: Ctrl-C ends a watch with exit status 0, and one with --until with 1.
func TestStoppedWatchHasNotReached(t *testing.T) {
	t.Parallel()
	dir := newDir(t, personFlow)
	startAtTerminal(t, dir, 100, "start", "w.yaml").expectExit(0)
	for status, args := range [][]string{{"runs", "watch"}, {"runs", "watch", "--until", "complete"}} {
		s := startAtTerminal(t, dir, 100, args...)
		s.expect("Ctrl-C stops.")
		s.typeText("\x03")
		s.expectExit(status)
	}
}
