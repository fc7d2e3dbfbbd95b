package hoststep

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// A gate is a host step that is answered from outside (docs/design.md#openwop-interrupts): the run is suspended at it
// until an answer, or until its time is over.

// Actions of an approval gate, the words of the protocol.
const (
	Accept     = "accept"
	Reject     = "reject"
	Refine     = "refine"
	EditAccept = "edit-accept"
	Ask        = "ask"
)

// Policies of an approval gate about rejections.
const (
	SingleVeto = "single-veto" // the first one ends the run
	Majority   = "majority"    // more than half of the approvals that are required
)

// ExternalEvent is the kind of interrupt that a step of type core.interrupt without a kind is.
const ExternalEvent = "external-event"

// conversationKinds are the kinds of interrupts that are read, and not performed.
var conversationKinds = []string{"conversation.start", "conversation.exchange", "conversation.close"}

// ConversationCapability is the capability of the protocol that steps of those kinds need.
const ConversationCapability = "conversationPrimitive"

// configured are the types that need a configuration.
var configured = map[string]bool{ClarificationGate: true, Interrupt: true}

// Gate reports a step that is answered from outside.
func (s Step) Gate() bool {
	return s.TypeID == ApprovalGate || s.TypeID == ClarificationGate || s.TypeID == Interrupt
}

// Conversation reports an interrupt that is a part of a conversation, which needs ConversationCapability.
func (s Step) Conversation() bool {
	kind, _ := s.Config.Get("kind")
	return s.TypeID == Interrupt && slices.Contains(conversationKinds, kind.Text())
}

// TimeoutMs is how long a gate waits for an answer, in milliseconds; 0: without end.
func (s Step) TimeoutMs() int64 {
	v, _ := s.Config.Get("timeoutMs")
	if !s.Gate() || v.Kind() != canon.Number {
		return 0
	}
	return int64(v.Float())
}

// ContextKey is the key of the context under which the answer is recorded, "" for none. The answers to a clarification
// have the ids of their questions.
func (s Step) ContextKey() string { return s.text("contextKey") }

// text is a member of the configuration.
func (s Step) text(name string) string {
	v, _ := s.Config.Get(name)
	return v.Text()
}

// texts is a member of the configuration that is a list.
func (s Step) texts(name string) (out []string) {
	v, _ := s.Config.Get(name)
	for i := range v.Len() {
		out = append(out, v.Item(i).Text())
	}
	return out
}

// Approval is the configuration of an approval gate.
type Approval struct {
	Actions   []string // at least accept and reject, unless the file says others
	Approvers []string // who may answer; none: every name
	Required  int64    // how many have to accept
	Majority  bool     // else the first rejection decides
}

// ApprovalOf reads the configuration of an approval gate.
func (s Step) ApprovalOf() Approval {
	a := Approval{Actions: s.texts("actions"), Approvers: s.texts("approvers"), Required: 1,
		Majority: s.text("rejectionPolicy") == Majority}
	if len(a.Actions) == 0 {
		a.Actions = []string{Accept, Reject}
	}
	if v, _ := s.Config.Get("requiredApprovals"); v.Kind() == canon.Number {
		a.Required = int64(v.Float())
	}
	return a
}

// Policy is the word for what rejections do.
func (a Approval) Policy() string {
	if a.Majority {
		return Majority
	}
	return SingleVeto
}

// Question is what a clarification gate asks: the answer becomes the value of the context key ID.
type Question struct {
	ID, Question string
	Choices      []string
}

// Questions are those of a clarification gate.
func (s Step) Questions() (out []Question) {
	all, _ := s.Config.Get("questions")
	for i := range all.Len() {
		of := func(name string) canon.Value {
			v, _ := all.Item(i).Get(name)
			return v
		}
		q := Question{ID: of("id").Text(), Question: of("question").Text()}
		for j := range of("choices").Len() {
			q.Choices = append(q.Choices, of("choices").Item(j).Text())
		}
		out = append(out, q)
	}
	return out
}

// Event is what a step of type core.interrupt waits for.
type Event struct {
	Type        string
	Correlation canon.Value // an object: every member of it is in the answer
}

// EventOf reads the configuration of a step of type core.interrupt.
func (s Step) EventOf() Event {
	correlation, _ := s.Config.Get("correlation")
	return Event{s.text("eventType"), correlation}
}

// The shapes of the configurations.
var (
	timeoutMs  = shape.Field{"timeoutMs", shape.Amount{Min: 1, Max: limits.GateTimeoutMsMax, Whole: true}, optional}
	contextKey = shape.Text{Min: 1, Max: limits.ContextKeyMax, Pattern: pattern.New(`^[A-Za-z_][A-Za-z0-9_.-]*$`), Like: "a context key"}
	someText   = shape.Text{Min: 1, Max: limits.HostMessageCharactersMax}
	name       = shape.Text{Min: 1, Max: limits.GateNameCharactersMax}

	approvalConfig = shape.Object{What: "the config of " + ApprovalGate, Fields: []shape.Field{
		{"actions", shape.List{Of: shape.Words{Accept, Reject, Refine, EditAccept, Ask}, Min: 1, Unique: true}, optional},
		{"approvers", shape.List{Of: name, Min: 1, Max: limits.ApproversMax, Unique: true}, optional},
		{"requiredApprovals", shape.Amount{Min: 1, Max: limits.ApprovalsMax, Whole: true}, optional},
		{"rejectionPolicy", shape.Words{SingleVeto, Majority}, optional}, {"contextKey", contextKey, optional}, timeoutMs}}
	clarificationConfig = shape.Object{What: "the config of " + ClarificationGate, Fields: []shape.Field{
		{"questions", shape.List{Min: 1, Max: limits.InputsShownMax, Key: "id", Of: shape.Object{What: "a question", Fields: []shape.Field{
			{"id", contextKey, required}, {"question", someText, required},
			{"choices", shape.List{Of: name, Min: 1, Max: limits.GateChoicesMax, Unique: true}, optional}}}}, required}, timeoutMs}}
	interruptConfig = shape.ByTag{Key: "kind", Text: "the config of " + Interrupt, Cases: interruptCases()}
)

// interruptCases are the configurations of core.interrupt by kind. Those of conversations are open, since they are not
// performed.
func interruptCases() map[string]shape.Shape {
	event := shape.Object{What: "the config of " + Interrupt, Fields: []shape.Field{{"kind", shape.Words{ExternalEvent}, optional},
		{"eventType", someText, required}, {"correlation", shape.AnyObject, required}, {"contextKey", contextKey, optional}, timeoutMs}}
	out := map[string]shape.Shape{"": event, ExternalEvent: event}
	for _, kind := range conversationKinds {
		out[kind] = shape.AnyObject
	}
	return out
}

// gated are the members of a step that ask another question than a gate does.
var gated = []string{"inputs", "requireConfirmation"}

// checkGate reports what beside a gate would make a second one of it, and actions that no quorum can add up.
func checkGate(step problem.SourceValue, report problem.Report) {
	action := step.Member("action")
	s := Step{TypeID: action.Member("typeId").Value.Text(), Config: action.Member("config").Value}
	if !s.Gate() {
		return
	}
	for _, name := range gated {
		if step.Has(name) && !step.Member(name).IsEmpty() {
			report.Error(step.Member(name), "Move it to a step before or behind.",
				"a step of type %s asks already: it has no %s", s.TypeID, name)
		}
	}
	a := s.ApprovalOf()
	if s.TypeID == ApprovalGate && a.Required > 1 &&
		(slices.Contains(a.Actions, Refine) || slices.Contains(a.Actions, EditAccept)) {
		report.Error(action.Member("config").Member("actions"), "Keep accept, reject and ask.",
			"a gate that needs %d approvals has no refine and no edit-accept, which are answers of one", a.Required)
	}
	if s.TypeID == ApprovalGate && int64(len(a.Approvers)) > 0 && int64(len(a.Approvers)) < a.Required {
		report.Error(action.Member("config").Member("approvers"), "Name as many as have to accept.",
			"the gate needs %d approvals and names %d approvers", a.Required, len(a.Approvers))
	}
}
