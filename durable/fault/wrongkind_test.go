package fault

import "testing"

// TestWrongKind: an id of another kind is explained with the command that shows it; an id of the wanted kind, and a text
// that is no id, are not.
func TestWrongKind(t *testing.T) {
	f := WrongKind(ProposalNotFound, "run_abc", "a run", "a proposal")
	if f == nil || f.Code != ProposalNotFound || f.Message != "run_abc is the id of a run, and not of a proposal" ||
		f.Suggestion.String() != "Show it with 'waybill runs show run_abc'." {
		t.Error(f)
	}
	if f := WrongKind(RunNotFound, "evt_abc", "an event", "a run"); f == nil ||
		f.Suggestion.String() != Lookup(RunNotFound).Suggestion.String() {
		t.Error(f)
	}
	for _, noun := range []string{"", "a proposal"} {
		if f := WrongKind(ProposalNotFound, "x", noun, "a proposal"); f != nil {
			t.Errorf("%q: %v", noun, f)
		}
	}
}
