package httpserver

import (
	"errors"
	"net/http"

	"github.com/waybill/waybill/durable/openwop"
)

// refusal is an error that this package finds itself, with its answer.
type refusal struct {
	status   int
	envelope openwop.Envelope
	header   http.Header
}

// refuse makes a refusal. The message contains no text of the request.
func refuse(status int, code openwop.ErrorCode, message string) *refusal {
	return &refusal{status: status, envelope: openwop.Envelope{Error: code, Message: message}, header: http.Header{}}
}

// Error implements error.
func (e *refusal) Error() string { return string(e.envelope.Error) + ": " + e.envelope.Message }

// with adds a detail.
func (e *refusal) with(name string, value any) *refusal {
	if e.envelope.Details == nil {
		e.envelope.Details = map[string]any{}
	}
	e.envelope.Details[name] = value
	return e
}

// closing ends the connection with the answer: the rest of the request is not read.
func (e *refusal) closing() *refusal {
	e.header.Set("Connection", "close")
	return e
}

// noRoute is the answer to a path or verb that no route has.
func noRoute() *refusal {
	return refuse(http.StatusNotFound, openwop.ErrNotFound, "the server has no such path").
		with("openapi", "/v1/openapi.json")
}

// invalid is a refusal of a parameter, header or body.
func invalid(message string) *refusal {
	return refuse(http.StatusBadRequest, openwop.ErrValidation, message)
}

// headersTooLarge is the answer to more or longer headers than are read.
func headersTooLarge() *refusal {
	return refuse(http.StatusRequestHeaderFieldsTooLarge, openwop.ErrTooLarge, "the headers of the request are too large")
}

// answerOf is the status, envelope and headers for an error.
func answerOf(err error) (status int, e openwop.Envelope, header http.Header) {
	var own *refusal
	if errors.As(err, &own) {
		return own.status, own.envelope, own.header
	}
	status, e = openwop.EnvelopeOf(err)
	return status, e, nil
}
