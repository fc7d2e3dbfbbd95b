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
var interruptShape = func() shape.ByTag {
	of := func(fields ...shape.Field) shape.Object { return shape.ObjectOf("the data of an interrupt", fields...) }
	conversation := shape.Need("conversationId", shape.Text{Min: 1, Max: 256})
	data := map[InterruptKind]shape.Object{
		ApprovalInterrupt:      approvalData,
		ClarificationInterrupt: of(shape.Need("questions", questions), shape.May("contextType", anyText)),
		ExternalEventInterrupt: of(shape.Need("eventType", anyText), shape.Need("correlation", anyObject)),
		CustomInterrupt:        of(shape.Need("customKind", someText), shape.May("payload", shape.Anything{})),
		ConversationStart:      of(conversation, shape.May("title", anyText), shape.May("initialPrompt", anyText)),
		ConversationExchange: of(conversation, shape.Need("prompt", someText),
			shape.May("outcomeSchema", anyObject),
			shape.May("turnIndex", count)),
		ConversationClose: of(conversation, shape.May("reason", anyText)),
		LowConfidence: of(shape.Need("agentId", agentID), shape.Need("threshold", portion),
			shape.Need("observed", portion),
			shape.May("decision", shape.Anything{})),
	}
	out := shape.ByTag{Key: "kind", Text: "an interrupt", Cases: map[string]shape.Shape{}}
	for kind, d := range data {
		out.Cases[string(kind)] = shape.Object{What: "an interrupt", Fields: fields{
			shape.Need("kind", shape.OneOf(string(kind))),
			shape.Need("key", shape.Text{Min: 1, Max: 256}), shape.May("resumeSchema", anyObject),
			shape.May("timeoutMs", count), shape.Need("data", d)}}
	}
	return out
}()

// approvalData is the data of an approval.
var approvalData = shape.Object{What: "the data of an approval", Fields: fields{shape.Need("artifactId", someText),
	shape.Need("artifactType", someText), shape.Need("title", someText), shape.May("description", anyText),
	shape.May("artifactData", shape.Anything{}),
	shape.Need("actions",
		shape.List{Of: shape.OneOf("accept", "reject", "refine", "edit-accept", "ask"), Min: 1, Unique: true}),
	shape.May("requiredApprovals", atLeastOne), shape.May("approversList", texts),
	shape.May("rejectionPolicy", shape.OneOf("single-veto", "majority")),
	shape.May("overrideBypassesQuorum", boolean),
	shape.May("approverGroupRefs", texts), shape.May("approverRoleRefs", texts),
	shape.May("audience", shape.ObjectOf("an audience", shape.May("subjects", texts), shape.May("groups", texts),
		shape.May("roles", texts)))}}

// questions are what a clarification asks.
var questions = shape.List{Min: 1, Of: shape.ObjectOf("a question", shape.Need("id", someText),
	shape.Need("question", someText), shape.May("schema", anyObject))}
