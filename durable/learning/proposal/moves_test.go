package proposal_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/proposal"
)

// TestEveryMoveFromEveryState lists every permitted move; all others must be refused.
func TestEveryMoveFromEveryState(t *testing.T) {
	const no = proposal.State("")
	draft, revised, applied, rejected, archived := proposal.StateDraft, proposal.StateRevised, proposal.StateApplied,
		proposal.StateRejected, proposal.StateArchived
	want := map[proposal.State]map[proposal.Move]proposal.State{
		draft:    {"revise": revised, "apply": applied, "reject": rejected, "archive": archived, "rollback": no},
		revised:  {"revise": revised, "apply": applied, "reject": rejected, "archive": archived, "rollback": no},
		applied:  {"revise": no, "apply": no, "reject": no, "archive": no, "rollback": archived},
		rejected: {"revise": revised, "apply": no, "reject": no, "archive": archived, "rollback": no},
		archived: {"revise": revised, "apply": no, "reject": no, "archive": no, "rollback": no},
	}
	for _, from := range proposal.States() {
		for _, move := range proposal.Moves() {
			expected, listed := want[from][move]
			if !listed {
				t.Fatalf("%s from %s is not in the table of this test", move, from)
			}
			to, err := proposal.Next(from, move)
			if expected != no {
				if err != nil || to != expected {
					t.Errorf("%s from %s: %s, %v", move, from, to, err)
				}
				continue
			}
			f := fault.Of(err)
			if f == nil || f.Code != fault.ProposalState || to != from || f.Details["state"] != string(from) ||
				f.Details["move"] != string(move) {
				t.Fatalf("%s from %s: %s, %v, %v", move, from, to, err, f)
			}
			for other, leads := range want[from] {
				possible := slices.Contains(f.Details["possible"].([]string), string(other))
				named := strings.Contains(f.Suggestion.String(), "'waybill proposals "+string(other)+" ID")
				if possible != (leads != no) || named != possible {
					t.Errorf("%s from %s: possible %v, and %q", move, from, f.Details["possible"], f.Suggestion)
				}
			}
		}
	}
	if len(want) != len(proposal.States()) {
		t.Errorf("states %v", proposal.States())
	}
}

func TestCheckApprove(t *testing.T) {
	for _, s := range proposal.States() {
		open := s == proposal.StateDraft || s == proposal.StateRevised
		if err := proposal.CheckApprove(s); (err == nil) != open || !open && !fault.Is(err, fault.ProposalState) ||
			s.Open() != open {
			t.Errorf("%s: %v", s, err)
		}
	}
	if f := fault.Of(proposal.CheckApprove(proposal.StateRejected)); !strings.Contains(f.Message,
		"cannot be approved from that state") ||
		!strings.Contains(f.Suggestion.String(), "revise ID FILE' or 'waybill proposals archive ID'") {
		t.Error(f.Message, f.Suggestion.String())
	}
	if f := fault.Of(proposal.CheckApprove("lost")); f.Suggestion.String() == "" {
		t.Error("nothing is suggested for an unknown state")
	}
}
