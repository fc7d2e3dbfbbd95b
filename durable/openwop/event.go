package openwop

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
)

// ProtocolVersion is the version of the protocol that a host reports.
const ProtocolVersion = "1.1"

// EventType names what a run event reports: a type of the protocol, or one with the prefix VendorPrefix.
type EventType string

// VendorPrefix begins the types of facts for which the protocol has no type.
const VendorPrefix = "waybill."

// The types that Waybill sends, besides those of vendors.
const (
	RunStarted             EventType = "run.started"
	RunCompleted           EventType = "run.completed"
	RunFailed              EventType = "run.failed"
	RunCancelled           EventType = "run.cancelled"
	RunPaused              EventType = "run.paused"
	RunResumed             EventType = "run.resumed"
	CapBreached            EventType = "cap.breached"
	NodeStarted            EventType = "node.started"
	NodeCompleted          EventType = "node.completed"
	NodeFailed             EventType = "node.failed"
	NodeSuspended          EventType = "node.suspended"
	NodeResumed            EventType = "node.resumed"
	NodeRetried            EventType = "node.retried"
	NodeCancelled          EventType = "node.cancelled"
	VariableChanged        EventType = "variable.changed"
	ArtifactCreated        EventType = "artifact.created"
	ApprovalRequested      EventType = "approval.requested"
	ApprovalReceived       EventType = "approval.received"
	ApprovalGranted        EventType = "approval.granted"
	ClarificationRequested EventType = "clarification.requested"
	ClarificationResolved  EventType = "clarification.resolved"
	InterruptRequested     EventType = "interrupt.requested"
	InterruptResolved      EventType = "interrupt.resolved"
	LoopbackLimit          EventType = "workflow.loopback-limit"
	ReplayDiverged         EventType = "replay.diverged"
	ProposalCreated        EventType = "proposal.created"
	ProposalActivated      EventType = "proposal.activated"
)

// The types of run events that are recorded as such (docs/design.md#recorded-run-events): no other event of a run says
// what they do.
const (
	PromptResolved EventType = "agent.promptResolved"
	PromptComposed EventType = "prompt.composed"
	ProviderUsage  EventType = "provider.usage"

	EnvelopeRetryAttempted  EventType = "envelope.retry.attempted"
	EnvelopeRetryExhausted  EventType = "envelope.retry.exhausted"
	EnvelopeRefusal         EventType = "envelope.refusal"
	EnvelopeTruncated       EventType = "envelope.truncated"
	EnvelopeFormatEngaged   EventType = "envelope.nlToFormat.engaged"
	EnvelopeRecoveryApplied EventType = "envelope.recovery.applied"

	// CompletionReturned has the parts of a text that a provider returned: in the mode messages each is a MessageChunk.
	CompletionReturned EventType = VendorPrefix + "completion"
)

// EnvelopeReliability returns the types about the envelopes that models answer with.
func EnvelopeReliability() []EventType {
	return []EventType{EnvelopeRetryAttempted, EnvelopeRetryExhausted, EnvelopeRefusal, EnvelopeTruncated, EnvelopeFormatEngaged,
		EnvelopeRecoveryApplied}
}

// Recordable reports a type of which events are recorded as such.
func (t EventType) Recordable() bool {
	return slices.Contains(EnvelopeReliability(), t) ||
		slices.Contains([]EventType{PromptResolved, PromptComposed, ProviderUsage, CompletionReturned}, t)
}

// Types of stream messages that are no run events: they have no sequence and are in no log.
const (
	RunAnnotated  EventType = "run.annotated"
	StateSnapshot EventType = "state.snapshot"
	MessageChunk  EventType = "ai.message.chunk"
)

// Terminal reports a type after which no event of the run follows.
func (t EventType) Terminal() bool { return t == RunCompleted || t == RunFailed || t == RunCancelled }

// RunEvent is one entry of the event log of a run, as clients read it. Sequences begin at 0 and have no holes.
type RunEvent struct {
	CausationID string      `json:"causationId,omitzero"`
	EventID     string      `json:"eventId"`
	NodeID      string      `json:"nodeId,omitzero"` // at most NodeIDBytesMax bytes
	Payload     canon.Value `json:"payload"`         // an object
	RunID       string      `json:"runId"`
	Sequence    int64       `json:"sequence"`
	Timestamp   string      `json:"timestamp"` // RFC 3339, milliseconds, UTC
	Type        EventType   `json:"type"`
}

// NodeIDBytesMax bounds the id of a node, and the other ids of an event.
const NodeIDBytesMax = 128

// Check returns an error for an event that must not be sent: of a type without a contract, with a payload
// that breaks it, or with an id of the wrong length. It is a bug of the sender.
func (e RunEvent) Check() error {
	for _, id := range []string{e.EventID, e.RunID, cmp.Or(e.NodeID, "-"), cmp.Or(e.CausationID, "-")} {
		if id == "" || len(id) > NodeIDBytesMax {
			return fmt.Errorf("run event %d: an id of %d bytes", e.Sequence, len(id))
		}
	}
	if e.Sequence < 0 || e.Timestamp == "" {
		return fmt.Errorf("run event %d at %q", e.Sequence, e.Timestamp)
	}
	if err := CheckPayload(e.Type, e.Payload); err != nil {
		return fmt.Errorf("run event %d: %w", e.Sequence, err)
	}
	return nil
}

// DecodeRunEvent reads an event of any host. Members and types that this version does not know are
// accepted, and payloads are not checked.
func DecodeRunEvent(data []byte) (RunEvent, error) {
	var e RunEvent
	v, err := canon.Parse(data)
	if err == nil {
		err = canon.DecodeKnown(v, &e)
	}
	if err == nil && (e.EventID == "" || e.RunID == "" || e.Type == "" || e.Sequence < 0) {
		err = errors.New("it has no eventId, runId, type or sequence")
	}
	if err != nil {
		return RunEvent{}, fmt.Errorf("run event: %w", err)
	}
	return e, nil
}
