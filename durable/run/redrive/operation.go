// Package redrive re-executes recorded operations: it reconstructs from a log the inputs that
// callers sent, and compares the plan that they produce now with the recorded segment, byte
// by byte (docs/design.md#ends-and-branches).
//
// It decides nothing itself: the plan functions of package advance do, as they did the first
// time. Inputs that the log does not contain are reported as missing and never guessed. Start
// with OperationOf and Compare.
package redrive

import (
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
)

// Operation is the closed set of operations that append a segment to a session.
type Operation string

// The operations.
const (
	Start      Operation = "start"      // the first segment of a session
	Fork       Operation = "fork"       // the first segment of a forked session
	Ack        Operation = "ack"        // an attempt at a step, successful or refused
	Checkpoint Operation = "checkpoint" // outputs stored without advancing
	Approve    Operation = "approve"    // a person's decision about a step
	Cancel     Operation = "cancel"     // a request to end a run
	Close      Operation = "close"      // the end of a run
	Pause      Operation = "pause"      // a request to hold a run
	Resume     Operation = "resume"     // the end of a pause
	Turn       Operation = "turn"       // the record of a hook about the end of an agent's turn
	RunEvent   Operation = "run_event"  // a run event that a test of the protocol sent
	Depart     Operation = "depart"     // the record of where a replay departs from its source
	HandOver   Operation = "hand_over"  // a hand-over of the session to another store
	Reclaim    Operation = "take_back"  // the end of a hand-over
	Unknown    Operation = "unknown"    // Waybill writes no such segment
)

// OperationOf classifies a segment by its events: mostly by the first one, since every
// operation begins with a kind of its own.
func OperationOf(events []event.Event) Operation {
	if len(events) == 0 {
		return Unknown
	}
	switch p := events[0].Data.(type) {
	case event.SessionCreated:
		// A replay begins as its source did.
		if s, ok := first[event.RunStarted](events); ok && s.ForkedFrom != nil && !s.ForkedFrom.IsReplay() {
			return Fork
		}
		return Start
	case event.AdvanceRecorded:
		return Ack
	case event.NodeCreated:
		if p.NodeKind == event.CheckpointNode {
			return Checkpoint
		}
	case event.RunCancelRequested:
		return Cancel
	case event.RunClosed:
		return Close
	case event.RunPaused:
		return Pause
	case event.RunResumed:
		return Resume
	case event.GuardNoted:
		return Turn
	case event.RunEventRecorded:
		return RunEvent
	case event.DivergenceRecorded:
		if p.Replay != nil {
			return Depart
		}
	case event.SessionHandedOver:
		return HandOver
	case event.SessionReclaimed:
		return Reclaim
	// A decision may begin with the gaps that it resolves.
	case event.GapRecorded, event.NodeOutputAppended:
		o, ok := first[event.NodeOutputAppended](events)
		if ok && (o.Decision != nil || o.Payload.ArtifactKind == advance.ApprovalKind) {
			return Approve
		}
	}
	return Unknown
}

// first returns the first payload of type P; false if there is none.
func first[P event.Payload](events []event.Event) (P, bool) {
	for _, e := range events {
		if p, ok := e.Data.(P); ok {
			return p, true
		}
	}
	var none P
	return none, false
}
