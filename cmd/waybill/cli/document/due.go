package document

import (
	"github.com/waybill/waybill/durable/engine/unattended"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/redact/faults"
)

// Due is the document "due": the runs whose wait is over, and with --run what happened to each.
type Due struct {
	Items []DueItem `json:"items"`
	// Ahead is the number of runs that still wait, NextAtMs the moment at which the first of them is due.
	Ahead    int   `json:"ahead"`
	NextAtMs int64 `json:"nextAtMs,omitzero"`
	// Unreadable are the sessions that could not be read, and may wait.
	Unreadable []views.Unreadable `json:"unreadable"`
	// Timer is the text of --print-timer.
	Timer string `json:"timer,omitzero"`
}

// DueItem is one run whose wait is over. The members after those of the run are set by --run.
type DueItem struct {
	unattended.DueRun
	Outcome unattended.DueOutcome `json:"outcome,omitzero"`
	// Performed is the number of steps that were acknowledged.
	Performed int `json:"performed,omitzero"`
	// Error is the reason why the run did not get to its end.
	Error *DueFault `json:"error,omitzero"`
}

// DueFault is the reason why a run did not get to its end.
type DueFault struct {
	Code       fault.Code `json:"code"`
	Message    string     `json:"message"`
	Suggestion string     `json:"suggestion,omitzero"`
}

// DueFaultOf returns the reason for a fault, without the secrets that its texts may have.
func DueFaultOf(f *fault.Fault) *DueFault {
	f = faults.Redact(f)
	return &DueFault{Code: f.Code, Message: f.Message, Suggestion: f.Suggestion.String()}
}
