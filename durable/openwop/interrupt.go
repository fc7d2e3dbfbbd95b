package openwop

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// InterruptKind is the closed set of reasons why a node is suspended.
type InterruptKind string

// The interrupt kinds. Waybill requests the first four; those of conversations and low confidence are read.
const (
	ApprovalInterrupt      InterruptKind = "approval"
	ClarificationInterrupt InterruptKind = "clarification"
	ExternalEventInterrupt InterruptKind = "external-event"
	CustomInterrupt        InterruptKind = "custom"
	ConversationStart      InterruptKind = "conversation.start"
	ConversationExchange   InterruptKind = "conversation.exchange"
	ConversationClose      InterruptKind = "conversation.close"
	LowConfidence          InterruptKind = "low-confidence"
)

// InterruptKinds lists the closed set.
func InterruptKinds() []InterruptKind {
	return []InterruptKind{ApprovalInterrupt, ClarificationInterrupt, ExternalEventInterrupt, CustomInterrupt,
		ConversationStart, ConversationExchange, ConversationClose, LowConfidence}
}

// Waits returns the state of a run that is suspended for an interrupt of this kind.
func (k InterruptKind) Waits() Status {
	switch k {
	case ApprovalInterrupt, LowConfidence:
		return WaitingApproval
	case ExternalEventInterrupt:
		return WaitingExternal
	case ClarificationInterrupt, CustomInterrupt, ConversationStart, ConversationExchange, ConversationClose:
		return WaitingInput
	}
	return WaitingInput
}

// Interrupt is the request of a suspended node, the payload of interrupt.requested.
type Interrupt struct {
	Kind InterruptKind `json:"kind"`
	// Key identifies the interrupt within its run: of one key there is one resolution.
	Key          string      `json:"key"`
	ResumeSchema canon.Value `json:"resumeSchema,omitzero"` // of the resolution, an object
	TimeoutMs    int64       `json:"timeoutMs,omitzero"`
	Data         canon.Value `json:"data"` // of the kind
}

// MessagePart is the payload of ai.message.chunk, a part of a text while it is produced.
type MessagePart struct {
	NodeID string      `json:"nodeId"`
	RunID  string      `json:"runId"`
	Chunk  string      `json:"chunk"`
	IsLast bool        `json:"isLast"`
	Meta   canon.Value `json:"meta,omitzero"` // an object
}

// interruptShape is the contract of Interrupt: the data is that of the kind.
func interruptShape() shape.ByTag {
	out := shape.ByTag{Key: "kind", Text: "an interrupt", Cases: map[string]shape.Shape{}}
	for _, of := range interruptData {
		out.Cases[string(of.kind)] = shape.Object{What: "an interrupt", Fields: fields{
			{"kind", shape.Words{string(of.kind)}, required},
			{"key", shape.Text{Min: 1, Max: 256}, required}, {"resumeSchema", anyObject, optional},
			{"timeoutMs", count, optional}, {"data", shape.Object{What: of.what, Fields: of.data}, required}}}
	}
	return out
}

// interruptData is the data of an interrupt of each kind.
var interruptData = []struct {
	kind InterruptKind
	what string
	data fields
}{
	{ApprovalInterrupt, "the data of an approval", fields{{"artifactId", someText, required},
		{"artifactType", someText, required}, {"title", someText, required}, {"description", anyText, optional},
		{"artifactData", shape.Anything{}, optional},
		{"actions",
			shape.List{Of: shape.Words{"accept", "reject", "refine", "edit-accept", "ask"}, Min: 1, Unique: true}, required},
		{"requiredApprovals", atLeastOne, optional}, {"approversList", texts, optional},
		{"rejectionPolicy", shape.Words{"single-veto", "majority"}, optional},
		{"overrideBypassesQuorum", boolean, optional},
		{"approverGroupRefs", texts, optional}, {"approverRoleRefs", texts, optional},
		{"audience", shape.Object{What: "an audience", Fields: fields{{"subjects", texts, optional},
			{"groups", texts, optional}, {"roles", texts, optional}}}, optional}}},
	{ClarificationInterrupt, interruptWhat, fields{{"questions", questions, required}, {"contextType", anyText, optional}}},
	{ExternalEventInterrupt, interruptWhat, fields{{"eventType", anyText, required}, {"correlation", anyObject, required}}},
	{CustomInterrupt, interruptWhat, fields{{"customKind", someText, required}, {"payload", shape.Anything{}, optional}}},
	{ConversationStart, interruptWhat, fields{conversationID, {"title", anyText, optional}, {"initialPrompt", anyText, optional}}},
	{ConversationExchange, interruptWhat, fields{conversationID, {"prompt", someText, required},
		{"outcomeSchema", anyObject, optional}, {"turnIndex", count, optional}}},
	{ConversationClose, interruptWhat, fields{conversationID, {"reason", anyText, optional}}},
	{LowConfidence, interruptWhat, fields{{"agentId", agentID, required}, {"threshold", portion, required},
		{"observed", portion, required}, {"decision", shape.Anything{}, optional}}},
}

const interruptWhat = "the data of an interrupt"

// questions are what a clarification asks.
var questions = shape.List{Min: 1, Of: shape.Object{What: "a question", Fields: []shape.Field{{"id", someText, required},
	{"question", someText, required}, {"schema", anyObject, optional}}}}
