//go:build linux

package main

import (
	"strings"
	"testing"
)

// TestCountdown: a person at a terminal sees how much time is left, on one line that fits the
// terminal, and leaves with Ctrl-C; the run is as before. A short wait is waited for.
func TestCountdown(t *testing.T) {
	t.Parallel()
	dir := newDir(t, waiting(`"for":"1h"`, 0))
	for _, columns := range []uint16{24, 80} {
		s := startAtTerminal(t, dir, columns, "run", "w.yaml")
		s.expect("Waits until")
		s.expect("59m5")
		s.expect("left")
		if i := strings.LastIndex(s.text(), "\n"); len(s.text())-i > int(columns) {
			t.Errorf("the countdown is wider than %d columns: %q", columns, s.text()[i:])
		}
		s.typeText("\x03")
		s.expectExit(3)
		if text := strings.Join(strings.Fields(s.text()), " "); !strings.Contains(text, "waits until") || !strings.Contains(text, "due --run") {
			t.Errorf("%s", text)
		}
	}
	s := startAtTerminal(t, newDir(t, waiting(`"for":"2s"`, 0)), 80, "run", "w.yaml")
	s.expect("left")
	s.expectExit(0)
	s = startAtTerminal(t, dir, 80, "run", "w.yaml", "--json")
	s.expectExit(3)
}
