package runs

import (
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
)

// Status is the closed set of run statuses (docs/design.md#run-status,
// docs/design.md#ends-and-branches).
type Status string

// The run statuses. CompleteStatus and CompleteWithGaps depend on the tip: after a rewind the run
// is in progress again. Cancelled and Failed are final.
const (
	InProgress       Status = "in_progress"
	Blocked          Status = "blocked"
	CompleteStatus   Status = "complete"
	CompleteWithGaps Status = "complete_with_gaps"
	Paused           Status = "paused"
	Cancelling       Status = "cancelling"
	Cancelled        Status = "cancelled"
	Failed           Status = "failed"
)

// TipState holds the facts about a tip that are in its snapshot and not in events.
type TipState struct {
	// Complete: the run is complete at this tip.
	Complete bool
	// Blocked: another program stored in the snapshot that the run waits for a refused attempt
	// (docs/design.md#foreign-stores).
	Blocked bool
	// NeedsApproval: the pending step is a human_approval step (docs/design.md#blocked-attempts,
	// docs/design.md#requirements-on-the-caller).
	NeedsApproval bool
}

// StatusAt returns the status that the run would have with n as its preferred tip: an answer about
// a node reports the status at that node (docs/design.md#answers). An end of the run takes
// precedence, then completion, then a requested cancellation, then a pause, then open gaps.
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
	case r.Paused():
		return Paused
	case r.blockedAt(n, tip):
		return Blocked
	}
	return InProgress
}

// isApproval reports whether the gap is the missing approval of a step. A missing input may have
// the same reason with another pointer; a foreign gap may have no pointer.
func (g Gap) isApproval() bool {
	return g.Reason == reason.NeedsApproval && (g.Pointer == nil || g.Pointer.Kind == reason.AtWorkflowStep)
}

// blockedAt reports whether the node is blocked: by an open critical gap, unless autonomy is
// full_auto_never_stop; by a missing approval in every mode (docs/design.md#blocked-attempts).
// Foreign nodes of kind blocked_attempt are blocked too (docs/design.md#foreign-stores).
func (r *Run) blockedAt(nodeID id.Node, tip TipState) bool {
	n := r.Nodes[nodeID]
	if n == nil {
		return false
	}
	blocks := func(g Gap) bool {
		return n.Preferences.Autonomy != event.FullAutoNeverStop ||
			g.isApproval() && (g.Pointer != nil || tip.NeedsApproval)
	}
	return n.Kind == event.BlockedAttemptNode || tip.Blocked || slices.ContainsFunc(n.critical(), blocks)
}
