// Package host has the functions of host steps, which only the HTTP host performs
// (docs/design.md#host-steps), and defines the record of one, the artifact "wr.host_result".
//
// Each function is pure: of the configuration and the context. A delay is a function of the log, as a
// wait is; the performer watches the clock. Start reading at Perform.
package host

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/hoststep"
)

// Kind is the artifact kind of the result of a host step.
const Kind = "wr.host_result"

// Outcome is how a host step ended, a closed set.
type Outcome string

// The outcomes.
const (
	Completed Outcome = "completed"
	Failed    Outcome = "failed"
	Waiting   Outcome = "waiting" // a gate got an answer, and needs more
)

// Error is why a host step failed.
type Error struct {
	Code    string `json:"code"`    // at most limits.HostErrorCodeBytesMax bytes
	Message string `json:"message"` // at most limits.SummaryBytesMax bytes
}

// Result is the artifact "wr.host_result", which a performer records with the attempt at the step. It
// has no times: two runs with the same inputs have the same results.
type Result struct {
	// Error is set exactly if the outcome is Failed.
	Error *Error `json:"error,omitzero"`
	// Events are what clients see of the step besides, in this order (docs/design.md#recorded-run-events).
	Events  []RunEvent `json:"events,omitzero"`
	Kind    string     `json:"kind"`
	Outcome Outcome    `json:"outcome"`
	// Outputs is an object, null for a step without any.
	Outputs canon.Value `json:"outputs,omitzero"`
	// Responses are the answers that a gate got, in their order, none for any other step. A gate that is Waiting has
	// at least one.
	Responses       []event.Response `json:"responses,omitzero"`
	StepInstanceKey string           `json:"stepInstanceKey"`
	TypeID          string           `json:"typeId"`
}

// RunEvent is a run event without its place.
type RunEvent struct {
	Payload canon.Value `json:"payload"`
	Type    string      `json:"type"`
}

// valid reports an event that may be recorded.
func (e RunEvent) valid() bool {
	t := openwop.EventType(e.Type)
	return t.Recordable() && openwop.CheckPayload(t, e.Payload) == nil && len(e.Payload.JCS()) <= limits.RunEventBytesMax
}

// OK reports a step that completed.
func (r Result) OK() bool { return r.Outcome == Completed }

// Value returns the artifact as it is recorded.
func (r Result) Value() (canon.Value, error) { return canon.ValueOf(r) }

// Decode reads the artifact strictly: unknown members, another kind or type, and members that do not
// belong to the outcome are errors.
func Decode(v canon.Value) (Result, error) {
	var r Result
	if err := canon.Decode(v, &r); err != nil {
		return r, err
	}
	switch {
	case r.Kind != Kind:
		return r, fmt.Errorf("want kind %s", Kind)
	case !hoststep.Known(r.TypeID), r.StepInstanceKey == "":
		return r, errors.New("want a known typeId, and a stepInstanceKey")
	case r.Outcome != Completed && r.Outcome != Failed && r.Outcome != Waiting:
		return r, fmt.Errorf("want the outcome %s, %s or %s", Completed, Failed, Waiting)
	case r.Outcome == Waiting && len(r.Responses) == 0, len(r.Responses) > 0 && !(hoststep.Step{TypeID: r.TypeID}).Gate():
		return r, errors.New("want responses of a gate, and of one that waits at least one")
	case len(r.Responses) > limits.GateResponsesMax || slices.ContainsFunc(r.Responses, func(a event.Response) bool { return a.Check() != nil }):
		return r, errors.New("want responses within their limits")
	case (r.Outcome == Failed) != (r.Error != nil):
		return r, fmt.Errorf("want an error with the outcome %s, and with no other", Failed)
	case r.Error != nil && !r.Error.valid():
		return r, errors.New("want an error with a code and a message within their limits")
	case len(r.Events) > limits.RunEventsOfResultMax || slices.ContainsFunc(r.Events, func(e RunEvent) bool { return !e.valid() }):
		return r, errors.New("want run events that may be recorded, within their limits")
	case !r.Outputs.IsNull() && (r.Outputs.Kind() != canon.Object || r.Outcome != Completed):
		return r, fmt.Errorf("want outputs that are an object, with the outcome %s", Completed)
	}
	return r, nil
}

// valid reports an error with a code and a message within their limits.
func (e Error) valid() bool {
	return e.Code != "" && len(e.Code) <= limits.HostErrorCodeBytesMax && e.Message != "" &&
		len(e.Message) <= limits.SummaryBytesMax
}

// FailedText is the sentence about a step that failed, in blockers and gaps. It is stored, and must not change.
func FailedText(stepID string, e Error) string {
	return fmt.Sprintf("Step %q failed (%s): %s", stepID, e.Code, e.Message)
}

// FailedCode is the code in the sentence about a step that failed, "" for any other text.
func FailedCode(stepID, text string) string {
	rest, ok := strings.CutPrefix(text, fmt.Sprintf("Step %q failed (", stepID))
	code, _, closed := strings.Cut(rest, "): ")
	if !ok || !closed {
		return ""
	}
	return code
}

// EnginePrefix begins the keys of the context that belong to the engine. They are no part of the
// outputs of a step.
const EnginePrefix = "waybill."

// Step is a host step to be performed.
type Step struct {
	hoststep.Step
	StepInstanceKey string
	// Context is that of the run, without the variables of loops.
	Context canon.Value
	// Test is nil for a host without test seams.
	Test *Test
	// Responses are the earlier answers to a gate, and Answer is a new one.
	Responses []event.Response
	Answer    *Answer
	// TimedOut reports that the time of a gate is over.
	TimedOut bool
}

// Default error of a step of type core.fail.
const (
	defaultCode    = "host_step_failed"
	defaultMessage = "The workflow has a step that fails."
)

// functions are the types that are performed.
var functions = map[string]func(Step, *Result){
	hoststep.ApprovalGate: approve, hoststep.ClarificationGate: clarify, hoststep.Interrupt: receive,
	hoststep.Noop:  func(Step, *Result) {},
	hoststep.Delay: func(Step, *Result) {},
	hoststep.Identity: func(s Step, r *Result) {
		var members []canon.Member
		for i := range s.Context.Len() {
			if key := s.Context.Key(i); !strings.HasPrefix(key, EnginePrefix) {
				members = append(members, canon.Member{Name: key, Value: s.Context.Item(i)})
			}
		}
		r.Outputs = canon.OfMembers(members...)
	},
	hoststep.Fail: func(s Step, r *Result) {
		code, _ := s.Config.Get("code")
		message, _ := s.Config.Get("message")
		r.Outcome = Failed
		r.Error = &Error{Code: cmp.Or(code.Text(), defaultCode), Message: cmp.Or(message.Text(), defaultMessage)}
	},
}

// ErrUnsupported reports a step of a type that is not performed.
var ErrUnsupported = errors.New("the type of the host step is not performed")

// Perform performs a step and returns its result. A delay is over when it is called; a gate has an answer, or its time
// is over. Errors: ErrUnsupported, ErrUnanswered.
func Perform(s Step) (Result, error) {
	r := Result{Kind: Kind, Outcome: Completed, StepInstanceKey: s.StepInstanceKey, TypeID: s.TypeID}
	do := functions[s.TypeID]
	if do == nil && s.Test != nil {
		do = testFunctions[s.TypeID]
	}
	if do == nil || s.Conversation() {
		return r, fmt.Errorf("%w: %s", ErrUnsupported, s.TypeID)
	}
	if s.Gate() {
		r.Responses = slices.Clone(s.Responses)
		switch {
		case s.TimedOut:
			s.timeOut(&r)
			return r, nil
		case s.Answer == nil:
			return r, ErrUnanswered
		}
		r.Responses = append(r.Responses, s.Answer.Response)
	}
	do(s, &r)
	return r, nil
}

// Unsupported returns the types of host steps of a workflow, bodies of loops included, that are not
// performed, each once and sorted, and hoststep.ConversationCapability for parts of conversations. A host refuses a
// run of a workflow with any. test is whether it has test seams.
func Unsupported(w compile.Compiled, test bool) (out []string) {
	add := func(steps []compile.Step) {
		for _, s := range steps {
			switch {
			case s.Host == nil:
			case s.Host.Conversation():
				out = append(out, hoststep.ConversationCapability)
			case functions[s.Host.TypeID] == nil && !(test && testFunctions[s.Host.TypeID] != nil):
				out = append(out, s.Host.TypeID)
			}
		}
	}
	add(w.Steps)
	for _, l := range w.Loops {
		add(l.Body)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// DueAt returns the moment until which a step of type core.delay is pending, in milliseconds since 1970
// UTC; false for the other types. pendingMs is the time at which it became pending, vars are the
// variables of the loops around it and the context. So a process that is killed during the delay does
// not begin it again.
func DueAt(h hoststep.Step, pendingMs int64, vars canon.Value) (int64, bool) {
	if h.TypeID != hoststep.Delay {
		return 0, false
	}
	return pendingMs + delayMs(h, vars), true
}

// delayMs is the delay that the configuration fixes, else the one that the context says as delayMs or
// delaySeconds, else the default of the configuration, else limits.HostDelayMsDefault. A longer one
// than limits.HostDelayMsMax is cut to it.
func delayMs(h hoststep.Step, vars canon.Value) int64 {
	for _, from := range []struct {
		object canon.Value
		key    string
		unit   float64
	}{{h.Config, "delayMs", 1}, {vars, "delayMs", 1}, {vars, "delaySeconds", 1000}, {h.Config, "defaultMs", 1}} {
		if v, _ := from.object.Get(from.key); v.Kind() == canon.Number && v.Float() >= 0 {
			return int64(min(v.Float()*from.unit, limits.HostDelayMsMax))
		}
	}
	return limits.HostDelayMsDefault
}
