// Package redrive reads off a log what callers sent, so that it can be decided once
// more, and compares what comes of it with what is on record, byte by byte (R23).
//
// It decides nothing itself: the plan functions of package advance do, as they did
// the first time. What a log does not keep is said to be missing, never guessed.
package redrive

import (
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
)

// Operation is the closed set of what appends a segment to a session.
type Operation string

// The operations.
const (
	Start      Operation = "start"
	Fork       Operation = "fork"
	Ack        Operation = "ack"
	Checkpoint Operation = "checkpoint"
	Approve    Operation = "approve"
	Cancel     Operation = "cancel"
	Close      Operation = "close"
	Unknown    Operation = "unknown" // nothing of ours writes such a segment
)

// OperationOf tells what wrote a segment, by what its events are.
func OperationOf(events []event.Event) Operation {
	if len(events) == 0 {
		return Unknown
	}
	switch p := events[0].Data.(type) {
	case event.SessionCreated:
		if s, ok := first[event.RunStarted](events); ok && s.ForkedFrom != nil {
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
	case event.GapRecorded, event.NodeOutputAppended:
		if o, ok := first[event.NodeOutputAppended](events); ok && o.Payload.ArtifactKind == advance.ApprovalKind {
			return Approve
		}
	}
	return Unknown
}

// first is the first payload of a kind.
func first[P event.Payload](events []event.Event) (P, bool) {
	for _, e := range events {
		if p, ok := e.Data.(P); ok {
			return p, true
		}
	}
	var none P
	return none, false
}
