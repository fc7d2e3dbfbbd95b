package proposal

import (
	"strings"

	"github.com/waybill/waybill/durable/fault"
)

// Move is the closed set of what takes a proposal from one state to another. Approving
// is none: it changes what may be done, not where the proposal stands.
type Move string

// The moves.
const (
	MoveRevise   Move = "revise"
	MoveApply    Move = "apply"
	MoveReject   Move = "reject"
	MoveArchive  Move = "archive"
	MoveRollBack Move = "rollback"
)

// Moves lists the closed set.
func Moves() []Move { return []Move{MoveRevise, MoveApply, MoveReject, MoveArchive, MoveRollBack} }

// Transition is one way from a state to another.
type Transition struct {
	From State
	Move Move
	To   State
}

// Transitions is every way there is (R29): what does not stand here cannot be done.
var Transitions = []Transition{
	{StateDraft, MoveRevise, StateRevised},
	{StateDraft, MoveApply, StateApplied},
	{StateDraft, MoveReject, StateRejected},
	{StateDraft, MoveArchive, StateArchived},

	{StateRevised, MoveRevise, StateRevised},
	{StateRevised, MoveApply, StateApplied},
	{StateRevised, MoveReject, StateRejected},
	{StateRevised, MoveArchive, StateArchived},

	// Taking back is the one way out: what was in use before is in use again.
	{StateApplied, MoveRollBack, StateArchived},

	{StateRejected, MoveRevise, StateRevised},
	{StateRejected, MoveArchive, StateArchived},

	{StateArchived, MoveRevise, StateRevised},
}

// Next is the state that a move leads to, or PROPOSAL_STATE with what is possible
// instead.
func Next(from State, move Move) (State, error) {
	for _, t := range Transitions {
		if t.From == from && t.Move == move {
			return t.To, nil
		}
	}
	return from, outOfState(from, participle(move)).With("move", string(move))
}

// CheckApprove refuses, with PROPOSAL_STATE, the approval of what nobody can apply.
func CheckApprove(s State) error {
	if s.Open() {
		return nil
	}
	return outOfState(s, "approved").With("move", "approve")
}

// outOfState says what cannot be done, and names the commands of what can.
func outOfState(from State, done string) *fault.Fault {
	f := fault.New(fault.ProposalState, "the proposal is %s, and from there it cannot be %s", from, done)
	possible, commands := []string{}, []string{}
	for _, t := range Transitions {
		if t.From == from {
			possible = append(possible, string(t.Move))
			commands = append(commands, "'waybill proposals "+t.Move.usage()+"'")
		}
	}
	if len(commands) > 0 {
		f.Suggest("From here it takes %s.", strings.Join(commands, " or "))
	}
	return f.With("state", string(from)).With("possible", possible)
}

func (m Move) usage() string {
	if m == MoveRevise {
		return "revise ID FILE"
	}
	return string(m) + " ID"
}

// participle is a move as something that was done.
func participle(m Move) string {
	switch m {
	case MoveApply:
		return "applied"
	case MoveRollBack:
		return "rolled back"
	case MoveReject:
		return "rejected"
	}
	return string(m) + "d"
}
