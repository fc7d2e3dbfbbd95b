package host

import (
	"errors"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/workflow/hoststep"
)

// Answer is what a caller answers a gate (docs/design.md#openwop-interrupts).
type Answer struct {
	event.Response
	// Value is what the step hands on: the answers to questions, the event, or the feedback and data of an approval.
	Value canon.Value
}

// ErrUnanswered reports a gate without an answer.
var ErrUnanswered = errors.New("the gate has no answer")

// Codes of the errors of gates.
const (
	CodeRejected = "approval_rejected"
	CodeTimeout  = "interrupt_timeout"
)

// ExpiresAt returns the moment at which a gate fails without an answer, in milliseconds since 1970 UTC; false for one
// that waits without end, and for the other types. pendingMs is the time at which it became pending.
func ExpiresAt(h hoststep.Step, pendingMs int64) (int64, bool) {
	if most := h.TimeoutMs(); most > 0 {
		return pendingMs + most, true
	}
	return 0, false
}

// Tally is how far the answers to an approval gate go.
type Tally struct {
	Granted, Rejected int64
	// Last is the answer of each name.
	Last map[string]event.Response
}

// TallyOf counts the answers to an approval gate: one of each name, the first.
func TallyOf(responses []event.Response) Tally {
	t := Tally{Last: map[string]event.Response{}}
	for _, r := range responses {
		if _, again := t.Last[r.By]; again {
			continue
		}
		switch t.Last[r.By] = r; r.Action {
		case event.RespondAccept:
			t.Granted++
		case event.RespondReject:
			t.Rejected++
		}
	}
	return t
}

// Refused reports that the rejections decide the gate.
func (t Tally) Refused(a hoststep.Approval) bool {
	if a.Majority {
		return 2*t.Rejected > a.Required
	}
	return t.Rejected > 0
}

// approve performs core.approvalGate.
func approve(s Step, r *Result) {
	a := s.ApprovalOf()
	if action := s.Answer.Action; action == event.RespondRefine || action == event.RespondEditAccept {
		r.Outputs = s.outputs()
		return
	}
	switch t := TallyOf(r.Responses); {
	case t.Refused(a):
		r.Outcome = Failed
		r.Error = &Error{Code: CodeRejected, Message: "The gate was rejected."}
	case t.Granted >= a.Required:
		r.Outputs = s.outputs()
	default:
		r.Outcome = Waiting
	}
}

// outputs are the action, and what came with it.
func (s Step) outputs() canon.Value {
	out := canon.OfMembers(canon.Member{Name: "action", Value: canon.OfString(s.Answer.Action)})
	for i := range s.Answer.Value.Len() {
		out = out.With(s.Answer.Value.Key(i), s.Answer.Value.Item(i))
	}
	return out
}

// clarify performs core.clarificationGate.
func clarify(s Step, r *Result) { r.Outputs = s.Answer.Value }

// receive performs core.interrupt.
func receive(s Step, r *Result) { r.Outputs = s.Answer.Value }

// timeOut ends a gate without an answer in time.
func (s Step) timeOut(r *Result) {
	r.Responses = append(r.Responses, event.Response{Action: event.RespondTimeout})
	r.Outcome = Failed
	r.Error = &Error{Code: CodeTimeout, Message: fmt.Sprintf("The gate had no answer within %d ms.", s.TimeoutMs())}
}

// Last is the newest answer to a gate, nil without any.
func (r Result) Last() *event.Response {
	if len(r.Responses) == 0 {
		return nil
	}
	return &r.Responses[len(r.Responses)-1]
}

// ContextOf returns what the result of a gate adds to the context, null for nothing.
func ContextOf(h hoststep.Step, r Result) canon.Value {
	switch key := h.ContextKey(); {
	case !r.OK() || r.Outputs.IsNull():
		return canon.Value{}
	case h.TypeID == hoststep.ClarificationGate:
		return r.Outputs
	case key != "":
		return canon.OfMembers(canon.Member{Name: key, Value: r.Outputs})
	}
	return canon.Value{}
}

// Progress says what a gate that waits has and needs.
func (r Result) Progress(h hoststep.Step) string {
	t, a := TallyOf(r.Responses), h.ApprovalOf()
	return fmt.Sprintf("%d of %d approvals, rejected by %d", t.Granted, a.Required, t.Rejected)
}

// Allows reports whether a name may answer a gate.
func Allows(h hoststep.Step, name string) bool {
	a := h.ApprovalOf()
	return len(a.Approvers) == 0 || slices.Contains(a.Approvers, name)
}
