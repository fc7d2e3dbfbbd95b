package event

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

// Elicited is what the program of an agent asked its user for during a call, in answer to the server. The
// program says so: the answers are recorded like what the agent itself sent, and prove nothing about a
// person.
type Elicited struct {
	Confirmation bool     `json:"confirmation,omitzero"` // of a step that a guided run waits with
	Inputs       []string `json:"inputs,omitzero"`       // context keys, in order of bytes
}

// Check returns an error for a record without content, and for keys that are repeated, not in order or too
// long. nil is valid.
func (e *Elicited) Check() error {
	switch {
	case e == nil:
		return nil
	case !e.Confirmation && len(e.Inputs) == 0:
		return errors.New("elicited without content")
	case len(e.Inputs) > limits.InputsShownMax:
		return fmt.Errorf("%d elicited inputs", len(e.Inputs))
	}
	for i, key := range e.Inputs {
		if key == "" || len(key) > limits.ContextKeyMax {
			return fmt.Errorf("an elicited input of %d bytes", len(key))
		}
		if i > 0 && e.Inputs[i-1] >= key {
			return errors.New("elicited inputs that are not in order")
		}
	}
	return nil
}

// Has reports that a context key was asked for.
func (e *Elicited) Has(key string) bool {
	if e == nil {
		return false
	}
	_, has := slices.BinarySearch(e.Inputs, key)
	return has
}

// ValidTraceparent reports the form of a traceparent of W3C Trace Context: version, trace id, parent id and
// flags in lower-case hexadecimal digits. Version ff and ids of zeros are invalid. A newer version may have
// more fields, which are not kept; it is none here.
func ValidTraceparent(text string) bool {
	parts := strings.Split(text, "-")
	if len(parts) != 4 {
		return false
	}
	for i, size := range []int{2, 32, 16, 2} {
		part := parts[i]
		if len(part) != size || strings.Trim(part, "0123456789abcdef") != "" {
			return false
		}
	}
	return strings.Trim(parts[0], "f") != "" && strings.Trim(parts[1], "0") != "" && strings.Trim(parts[2], "0") != ""
}

// Response is how an attempt answers a gate of the host from outside (docs/design.md#openwop-interrupts). It is beside the
// outcome, so that a reader of the log alone knows it.
type Response struct {
	Action string `json:"action"` // of ResponseActions
	// By is the name that the caller gives for the one who answers, "" for a timeout. It proves nothing: the caller is the
	// actor of the event.
	By string `json:"by,omitzero"`
	// Digest is that of the answer, by which a repeated one is known; zero for a timeout.
	Digest canon.Digest `json:"digest,omitzero"`
}

// The actions of a response, the words of the protocol.
const (
	RespondAccept     = "accept"
	RespondReject     = "reject"
	RespondRefine     = "refine"
	RespondEditAccept = "edit-accept"
	RespondAnswer     = "answer"
	RespondEvent      = "event"
	RespondTimeout    = "timeout" // the host itself, when the time is over
)

// ResponseActions lists the closed set.
func ResponseActions() []string {
	return []string{RespondAccept, RespondReject, RespondRefine, RespondEditAccept, RespondAnswer, RespondEvent, RespondTimeout}
}

// Check returns an error for an action out of the closed set, and for an answer without a name. nil is valid.
func (r *Response) Check() error {
	switch {
	case r == nil:
		return nil
	case !slices.Contains(ResponseActions(), r.Action):
		return errors.New("a response with another action")
	case len(r.By) > 4*limits.GateNameCharactersMax:
		return fmt.Errorf("by of %d bytes", len(r.By))
	case (r.Action == RespondTimeout) != (r.By == "") || (r.By == "") != r.Digest.IsZero():
		return errors.New("a response has by and digest, but for a timeout")
	}
	return nil
}
