package projections

import (
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
)

// Status is the closed set of what a run can be (locks 2.1; R23).
type Status string

// The run statuses.
const (
	InProgress       Status = "in_progress"
	Blocked          Status = "blocked"
	CompleteStatus   Status = "complete"
	CompleteWithGaps Status = "complete_with_gaps"
	Cancelling       Status = "cancelling"
	Cancelled        Status = "cancelled"
	Failed           Status = "failed"
)

// TipState is what the tip's snapshot says, which no event does.
type TipState struct {
	Complete bool
	// Blocked: another program stored that the run waits here for what was refused (R14).
	Blocked bool
	// NeedsApproval: the pending step is a human_approval step (R16, R20).
	NeedsApproval bool
}

// StatusAt is the run's status were n its preferred tip: an answer about a node
// speaks of that node (R15).
func (r *Run) StatusAt(n id.Node, tip TipState) Status {
	switch {
	case r.Closed != nil && r.Closed.Outcome == event.OutcomeFailed:
		return Failed
	case r.Closed != nil:
		return Cancelled
	case tip.Complete && len(r.CriticalOnPath(n)) > 0:
		return CompleteWithGaps
	case tip.Complete:
		return CompleteStatus
	case r.CancelRequested != nil:
		return Cancelling
	case r.blockedAt(n, tip):
		return Blocked
	}
	return InProgress
}

// approval reports the gap of a step's approval. An input may be asked for under the
// same reason, at another place; a foreign gap may be at none.
func (g Gap) approval() bool {
	return g.Reason == reason.NeedsApproval && (g.Pointer == nil || g.Pointer.Kind == reason.AtWorkflowStep)
}

// blockedAt: an open critical gap at the tip blocks unless the run never stops;
// a missing approval blocks in every mode (R16). A foreign tip of kind
// blocked_attempt reads as blocked (R14).
func (r *Run) blockedAt(nodeID id.Node, tip TipState) bool {
	n := r.Nodes[nodeID]
	if n == nil {
		return false
	}
	if n.Kind == event.BlockedAttemptNode || tip.Blocked {
		return true
	}
	for _, g := range n.critical() {
		if n.Preferences.Autonomy != event.FullAutoNeverStop || g.approval() &&
			(g.Pointer != nil || tip.NeedsApproval) {
			return true
		}
	}
	return false
}
