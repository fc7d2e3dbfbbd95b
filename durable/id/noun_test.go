package id

import (
	"slices"
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

// TestMistaken: an id of another kind is explained with the command that shows it.
func TestMistaken(t *testing.T) {
	what, show := Mistaken("run_abc", "a proposal")
	if what != "run_abc is the id of a run, and not of a proposal" || !slices.Equal(show, []string{"runs", "show", "run_abc"}) {
		t.Error(what, show)
	}
	for _, text := range []string{"prop_abc", "zz", "", "run_"} {
		if what, show := Mistaken(text, "a proposal"); what != "" || show != nil {
			t.Errorf("%q: %q, %q", text, what, show)
		}
	}
}
