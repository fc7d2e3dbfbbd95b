package proposal

import (
	"strings"

	"github.com/waybill/waybill/durable/fault"
)

// Move is the closed set of actions that change a proposal's state. Approving is not among
// them: an approval permits a move and leaves the state unchanged.
type Move string

// The moves, in the words of the commands.
const (
	MoveRevise   Move = "revise"
	MoveApply    Move = "apply"
	MoveReject   Move = "reject"
	MoveArchive  Move = "archive"
	MoveRollBack Move = "rollback"
)

// Moves lists the moves.
func Moves() []Move { return []Move{MoveRevise, MoveApply, MoveReject, MoveArchive, MoveRollBack} }

// moveWords are the words of a move in messages: its past participle, and its command.
var moveWords = map[Move]struct{ done, usage string }{
	MoveRevise:   {"revised", "revise ID FILE"},
	MoveApply:    {"applied", "apply ID"},
	MoveReject:   {"rejected", "reject ID"},
	MoveArchive:  {"archived", "archive ID"},
	MoveRollBack: {"rolled back", "rollback ID"},
}

// Transition is one permitted change of state.
type Transition struct {
	From State
	Move Move
	To   State
}

// Transitions lists every permitted change of state; all others are refused
// (docs/design.md#proposals).
var Transitions = []Transition{
	{StateDraft, MoveRevise, StateRevised},
	{StateDraft, MoveApply, StateApplied},
	{StateDraft, MoveReject, StateRejected},
	{StateDraft, MoveArchive, StateArchived},

	{StateRevised, MoveRevise, StateRevised},
	{StateRevised, MoveApply, StateApplied},
	{StateRevised, MoveReject, StateRejected},
	{StateRevised, MoveArchive, StateArchived},

	// A rollback is the only move from applied: it restores the artifact installed before.
	{StateApplied, MoveRollBack, StateArchived},

	{StateRejected, MoveRevise, StateRevised},
	{StateRejected, MoveArchive, StateArchived},

	{StateArchived, MoveRevise, StateRevised},
}

// Next returns the state after a move, or PROPOSAL_STATE with the possible moves.
func Next(from State, move Move) (State, error) {
	for _, t := range Transitions {
		if t.From == from && t.Move == move {
			return t.To, nil
		}
	}
	return from, outOfState(from, moveWords[move].done).With("move", string(move))
}

// CheckApprove refuses, with PROPOSAL_STATE, an approval in a state from which the proposal
// cannot be applied.
func CheckApprove(s State) error {
	if s.Open() {
		return nil
	}
	return outOfState(s, "approved").With("move", "approve")
}

// outOfState is the fault for a move that the state does not permit, with the commands of
// those that it permits.
func outOfState(from State, done string) *fault.Fault {
	f := fault.New(fault.ProposalState, "the proposal is %s and cannot be %s from that state", from, done)
	possible, commands := []string{}, []any{}
	for _, t := range Transitions {
		if t.From == from {
			possible = append(possible, string(t.Move))
			commands = append(commands, append(fault.Command{"proposals"}, strings.Fields(moveWords[t.Move].usage)...))
		}
	}
	if len(commands) > 0 {
		f.Suggest("From this state use %s"+strings.Repeat(" or %s", len(commands)-1)+".", commands...)
	}
	return f.With("state", string(from)).With("possible", possible)
}
