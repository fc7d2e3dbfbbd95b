package document

import (
	"github.com/waybill/waybill/durable/engine/unattended"
	"github.com/waybill/waybill/durable/id"
)

// Work is the document "work": what a worker did.
type Work struct {
	Items []WorkItem `json:"items"`
}

// WorkItem is one fact of a worker, a line of --jsonl.
type WorkItem struct {
	Event unattended.WorkEvent `json:"event"`
	// AtMs is when it was seen, in milliseconds since 1970 UTC.
	AtMs      int64      `json:"atMs"`
	SessionID id.Session `json:"sessionId,omitzero"`
	RunID     id.Run     `json:"runId,omitzero"` // absent for a session that cannot be read
	// StepID, Title and DurationMs, which is at least 1, are those of a step that was accepted.
	StepID     string `json:"stepId,omitzero"`
	Title      string `json:"title,omitzero"`
	DurationMs int64  `json:"durationMs,omitzero"`
	// Outcome is how far the worker got with a run, and Performed the number of steps that were accepted.
	Outcome   unattended.WorkOutcome `json:"outcome,omitzero"`
	Performed int                    `json:"performed,omitzero"`
	// Error is the reason why the worker did not get to the end of the run, or left it alone.
	Error *DueFault `json:"error,omitzero"`
}
