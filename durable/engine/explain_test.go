package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
)

// TestWhatAReferenceNames: an id that is not a run's is named for what it is, with the command that shows it, and
// an ambiguous prefix lists its candidates.
func TestWhatAReferenceNames(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	byLetter := map[string][]string{}
	var letter, session, node string
	for letter == "" { // there are 32 letters
		a := w.start(twoSteps)
		run := a.Session.RunID.String()
		first := run[:len("run_")+1]
		session, node = a.Session.SessionID.String(), a.NodeID.String()
		if byLetter[first] = append(byLetter[first], run); len(byLetter[first]) > 1 {
			letter = first
		}
	}
	last := byLetter[letter][1]
	for _, c := range []struct {
		ref, message, suggestion string
		code                     fault.Code
	}{
		{letter, byLetter[letter][0], "more characters", fault.RunAmbiguous},
		{session, "is a session, and not a run; its runs are: " + last, "waybill runs show " + last, fault.RunNotFound},
		{session[:20], "is a session", "waybill runs show " + last, fault.RunNotFound},
		{strings.TrimPrefix(session, "sess_"), "is a session", "waybill runs show " + last, fault.RunNotFound},
		{"sess_", "no run has the id", "", fault.RunNotFound},
		{node, "is the node of step first of run " + last, "waybill runs show " + last + " --step first", fault.RunNotFound},
		{node[:20], "is the node of step first", "--step first", fault.RunNotFound},
		{"node_", "no run has the id", "", fault.RunNotFound},
		{"prop_abc", "prop_abc is the id of a proposal", "waybill proposals get prop_abc", fault.RunNotFound},
		{"prop_a;b", "no run has the id", "", fault.RunNotFound},
		{"prop_", "no run has the id", "", fault.RunNotFound},
	} {
		_, err := w.process().Run(t.Context(), c.ref)
		f := fault.Of(err)
		if f.Code != c.code || !strings.Contains(f.Message, c.message) || !strings.Contains(f.Suggestion.String(), c.suggestion) {
			t.Errorf("%s: %s %q, %q", c.ref, f.Code, f.Message, f.Suggestion)
		}
	}
	_, err := w.process().Run(t.Context(), letter)
	slices.Sort(byLetter[letter])
	if got, _ := fault.Of(err).Details["candidates"].([]string); !slices.Equal(got, byLetter[letter]) {
		t.Errorf("candidates %q, want %q", got, byLetter[letter])
	}
}
