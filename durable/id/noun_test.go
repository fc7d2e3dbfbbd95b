package id

import (
	"strings"
	"testing"
)

// TestNoun: an id or the beginning of one is recognized by its kind; other texts are of none.
func TestNoun(t *testing.T) {
	for text, want := range map[string]string{
		"run_" + strings.Repeat("a", 26): "a run", "sess_a": "a session", "prop_q7": "a proposal", "node_x": "a node",
		"evt_a": "an event", "capobs_a": "an observation of a capability",
		"run_": "", "run": "", "": "", "run_A": "", "run_1": "", "runs_a": "", "run_a b": "",
		"run_" + strings.Repeat("a", 27): "",
	} {
		if got := Noun(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestTyped: capital letters of what may be an id, and blanks around any text, do not matter. Other texts keep their case.
func TestTyped(t *testing.T) {
	for text, want := range map[string]string{
		"RUN_QGBU": "run_qgbu", "QGBU": "qgbu", " run_a\n": "run_a", "@LAST": "@last", "Plan": "plan",
		"Step One": "Step One", "RUN_1": "RUN_1", "Release.yaml": "Release.yaml", "": "",
	} {
		if got := Typed(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
