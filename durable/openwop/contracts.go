package openwop

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// contracts are the payloads of run events and of stream messages: those that Waybill sends, and those of agents, prompts,
// envelopes and conversations that it only reads. What a host may extend is open. The payload that is no plain object is
// interruptShape.
var contracts = [][]contract{runContracts, nodeContracts, agentContracts, promptContracts, envelopeContracts}

// contract is the payload of one type. Lists of contracts are data of the binary. A function call in the initial value of any
// variable of the package would make code of all that is initialized after it (docs/decisions/0072-data-instead-of-code-in-the-binary.md).
type contract struct {
	of     EventType
	open   bool // the object may have members besides these
	what   string
	fields fields
}

const (
	closed, open       = false, true
	required, optional = shape.Required, shape.Optional
)

type fields = []shape.Field

// contractOf returns the contract of a type; ok is false if it has none.
func contractOf(t EventType) (s shape.Shape, ok bool) {
	if t == InterruptRequested {
		return interruptShape(), true
	}
	for _, table := range contracts {
		for _, c := range table {
			if c.of == t {
				return shape.Object{What: c.what, Fields: c.fields, Open: c.open}, true
			}
		}
	}
	return nil, false
}

// Contracted returns the types with a contract, sorted.
func Contracted() []EventType {
	out := []EventType{InterruptRequested}
	for _, table := range contracts {
		for _, c := range table {
			out = append(out, c.of)
		}
	}
	slices.Sort(out)
	return out
}

// PayloadSchema returns the JSON Schema of the payloads of a type with a contract; ok is false for any
// other.
func PayloadSchema(t EventType) (v canon.Value, ok bool) {
	s, ok := contractOf(t)
	if !ok {
		return v, false
	}
	return s.Schema(func(string, string) string { return "" }), true
}

// CheckPayload returns an error for a payload that must not be sent: it breaks the contract of its type, or
// is no object. The type has a contract, or the prefix of Waybill. Payloads of other hosts are not
// checked: a reader accepts types and members that it does not know.
func CheckPayload(t EventType, payload canon.Value) error {
	s, ok := contractOf(t)
	if !ok {
		if t.Vendor() && len(t) > len(VendorPrefix) && t[:len(VendorPrefix)] == VendorPrefix {
			s = anyObject
		} else {
			return fmt.Errorf("type %q has no contract", t)
		}
	}
	return first(t, check(s, payload))
}

// first returns the first problem of a payload as an error.
func first(t EventType, problems []problem.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	p := problems[0]
	return fmt.Errorf("payload of %s at %q: %s", t, p.Pointer, p.Message)
}

// check returns the problems of a value, in the order of their places.
func check(s shape.Shape, v canon.Value) []problem.Problem {
	var all []problem.Problem
	s.Check(problem.SourceValue{Value: v}, func(p problem.Problem) { all = append(all, p) })
	sorting.Stable(all, func(a, b problem.Problem) int { return cmp.Compare(a.Pointer, b.Pointer) })
	return all
}

// The shapes that the contracts are made of.
var (
	anyText    = shape.Text{}
	anyObject  = shape.OneKind{Kind: canon.Object, Text: "an object"}
	boolean    = shape.OneKind{Kind: canon.Bool, Text: "true or false"}
	someText   = shape.Text{Min: 1}
	texts      = shape.List{Of: anyText}
	count      = shape.Amount{Whole: true}
	atLeastOne = shape.Amount{Min: 1, Whole: true}
	portion    = shape.Amount{Max: 1}
	agentID    = shape.Text{Min: 3, Max: 256}
	digestText = shape.Text{Pattern: pattern.New("^sha256:[0-9a-f]{64}$"), Like: "a digest"}
	textOrNull = shape.ByKind{canon.Null: shape.OneKind{Kind: canon.Null, Text: "null"}, canon.String: anyText}

	interruptKind = shape.Words{string(ApprovalInterrupt), string(ClarificationInterrupt), string(ExternalEventInterrupt),
		string(CustomInterrupt), string(ConversationStart), string(ConversationExchange), string(ConversationClose), string(LowConfidence)}
	nodeID = shape.Field{"nodeId", someText, required}
	// host is the host of an event that caused this one, if it is another host.
	host = shape.Field{"causationHostId", someText, optional}

	errorObject = shape.Object{What: "an error", Open: true, Fields: fields{{"code", someText, required},
		{"message", someText, required},
		{"details", anyObject, optional}, {"retryable", boolean, optional}}}
)

// extensible returns an object that may have members besides these.
func extensible(what string, fields ...shape.Field) shape.Object {
	return shape.Object{What: what, Fields: fields, Open: true}
}

// words returns a closed set as strings.
func words[S ~string](set []S) []string {
	out := make([]string, len(set))
	for i, word := range set {
		out[i] = string(word)
	}
	return out
}
