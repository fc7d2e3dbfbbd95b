package httpserver

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/openwop"
)

// The requests and answers that belong to one route each. What callers send is closed, what is sent to them is open
// (docs/design.md#schema-closure).

// reasonBody is the request to cancel a run, and to reject or archive a proposal.
type reasonBody struct {
	Reason string `json:"reason,omitzero"`
}

// noMembers is a request whose body, if it has one, is an empty object.
type noMembers struct{}

type bulkCancel struct {
	RunIDs []string `json:"runIds"`
	Reason string   `json:"reason,omitzero"`
}

type bulkCancelled struct {
	Results []cancelResult `json:"results"`
}

type cancelResult struct {
	RunID  string         `json:"runId"` // as it was sent
	OK     bool           `json:"ok"`
	Status openwop.Status `json:"status,omitzero"`
	Error  *cancelError   `json:"error,omitzero"`
}

type cancelError struct {
	Code    openwop.ErrorCode `json:"code"`
	Message string            `json:"message"`
}

type eventList struct {
	Events []openwop.RunEvent `json:"events"`
}

// polled is the answer to a poll. Its members are in the order in which they are written: the events come first, page
// by page, and the rest describes the run after the last of them.
type polled struct {
	Events       []openwop.RunEvent `json:"events"`
	IsComplete   bool               `json:"isComplete"`
	IsTerminal   bool               `json:"isTerminal"`
	LastEventSeq int64              `json:"lastEventSeq"` // -1 without an event
	RunID        string             `json:"runId"`
	RunStatus    openwop.Status     `json:"runStatus"`
}

// message is what a stream sends that is no run event.
type message struct {
	Type      openwop.EventType `json:"type"`
	RunID     string            `json:"runId"`
	Payload   canon.Value       `json:"payload"`
	Timestamp string            `json:"timestamp"`
}

type annotationList struct {
	Annotations []feedback.Annotation `json:"annotations"`
}

type proposalList struct {
	Proposals []proposal.Proposal `json:"proposals"`
}

// revision is the request to revise a proposal. It is only described: Host.Revise gets the value, which shows what is
// absent.
type revision struct {
	Title     string      `json:"title,omitzero"`
	Rationale string      `json:"rationale,omitzero"`
	Artifact  canon.Value `json:"artifact,omitzero"`
}

type pendingAnswer struct {
	Pending PendingGate `json:"pending"`
}
