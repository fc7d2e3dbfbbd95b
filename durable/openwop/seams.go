package openwop

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// RefusedError is a refusal with a code of the protocol that no fault has.
type RefusedError struct {
	Status  int
	Code    ErrorCode
	Message string
}

// Error implements error.
func (e *RefusedError) Error() string { return string(e.Code) + ": " + e.Message }

// Emission is a run event that a test of the protocol sends (docs/design.md#test-seams).
type Emission struct {
	// RunID is the id of a run, or any name: then the event is one of a run that the host makes for the name.
	RunID         string      `json:"runId"`
	Type          EventType   `json:"type,omitzero"` // absent where the route has one
	Payload       canon.Value `json:"payload"`
	CorrelationID string      `json:"correlationId,omitzero"` // the causationId of the event
	NodeID        string      `json:"nodeId,omitzero"`
}

// MockProgram is what a mock provider answers to the next call of a node, one answer for each try.
type MockProgram struct {
	NodeID  string        `json:"nodeId"`
	Program []canon.Value `json:"program"` // objects of content, stopReason and refusal
}

// Check returns a RefusedError for a program that is none.
func (p MockProgram) Check() error {
	if p.NodeID == "" || len(p.NodeID) > NodeIDBytesMax || len(p.Program) > mockAnswersMax {
		return invalidArgument("a program has a nodeId and at most 16 answers")
	}
	for _, a := range p.Program {
		if a.Kind() != canon.Object {
			return invalidArgument("an answer is an object of content, stopReason and refusal")
		}
	}
	return nil
}

// mockAnswersMax bounds the answers of a program.
const mockAnswersMax = 16

// Emitted is the answer to an Emission.
type Emitted struct {
	Event RunEvent `json:"event"`
}

var emissionShape = shape.Object{What: "an event to send", Fields: fields{
	{"runId", shape.Text{Min: 1, Max: NodeIDBytesMax}, required}, {"type", shape.Text{Min: 1, Max: NodeIDBytesMax}, optional},
	{"payload", anyObject, required}, {"correlationId", shape.Text{Min: 1, Max: NodeIDBytesMax}, optional},
	{"nodeId", shape.Text{Min: 1, Max: NodeIDBytesMax}, optional}}}

// DecodeUsage reads an event provider.usage. DecodeReliability reads one about the envelopes that models answer with. A
// payload with what looks like a credential, or a reference to one, is refused before anything else of it is looked at.
func DecodeUsage(v canon.Value) (Emission, error) {
	return decodeEmission(v, ErrUsageLeak, func(e *Emission) bool {
		e.Type = ProviderUsage
		return true
	})
}

// DecodeReliability is described at DecodeUsage.
func DecodeReliability(v canon.Value) (Emission, error) {
	return decodeEmission(v, ErrReliabilityLeak, func(e *Emission) bool {
		for _, t := range EnvelopeReliability() {
			if e.Type == t {
				return true
			}
		}
		return false
	})
}

// decodeEmission reads an emission. typed sets or checks its type.
func decodeEmission(v canon.Value, leak ErrorCode, typed func(*Emission) bool) (e Emission, err error) {
	if payload, _ := v.Get("payload"); holdsCredential(payload) {
		return e, &RefusedError{400, leak, "the payload has what looks like a credential, or a reference to one"}
	}
	if err := first("an event to send", check(emissionShape, v)); err != nil {
		return e, invalidArgument("the event cannot be sent: its members are runId, type, payload, correlationId and nodeId")
	}
	if err := canon.Decode(v, &e); err != nil {
		return e, invalidArgument("the event cannot be sent")
	}
	if !typed(&e) {
		return e, invalidArgument("this route sends no event of this type")
	}
	if err := CheckPayload(e.Type, e.Payload); err != nil {
		return e, invalidArgument(fmt.Sprintf("the payload is not one of %s", e.Type))
	}
	return e, nil
}

func invalidArgument(message string) error {
	return &RefusedError{400, ErrInvalidArgument, message}
}

// credentialWords begin the references to credentials of hosts, and the marks of tests about them.
var credentialWords = []string{"secret:", "secret-canary-", "credentialref"}

// holdsCredential reports a member named as a reference to a credential, and a text that contains one or that redaction
// would change.
func holdsCredential(v canon.Value) bool {
	switch v.Kind() {
	case canon.String:
		text := strings.ToLower(v.Text())
		for _, word := range credentialWords {
			if strings.Contains(text, word) {
				return true
			}
		}
		return redact.Text(v.Text(), redact.Counts{}) != v.Text()
	case canon.Array, canon.Object:
		for i := range v.Len() {
			if v.Kind() == canon.Object && holdsCredential(canon.OfString(v.Key(i))) || holdsCredential(v.Item(i)) {
				return true
			}
		}
	}
	return false
}

// CheckMockProvider returns why a request for a mock provider is refused, nil for a request without one. test is whether the
// host has test seams, only is the id of its one provider.
func CheckMockProvider(in CreateRun, test bool, only string) error {
	mock, asked := in.Configurable.Get("mockProvider")
	name, _ := mock.Get("id")
	switch {
	case !asked:
		return nil
	case !test:
		return &RefusedError{403, ErrMockForbidden, "this host has no mock providers"}
	case name.Text() != only:
		return &RefusedError{400, ErrMockUnsupported, "the only mock provider is " + only}
	}
	return nil
}
