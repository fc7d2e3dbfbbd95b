package httpserver

import (
	"context"
	"errors"
	"maps"
	"net/http"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/redact"
)

// TODO: openwop.EnvelopeOf replaces this file; answerOf is its only caller.

// idempotencyMismatch is the code of a fault for an idempotency key that another request had.
const idempotencyMismatch fault.Code = "IDEMPOTENCY_MISMATCH"

// envelopeRow is the answer to a fault.
type envelopeRow struct {
	status int
	code   openwop.ErrorCode
}

// envelopeRows is the table from codes of faults to answers. Any other code is 500 internal_error.
var envelopeRows = map[fault.Code]envelopeRow{
	fault.ValidationError:       {http.StatusBadRequest, openwop.ErrValidation},
	fault.UsageError:            {http.StatusBadRequest, openwop.ErrValidation},
	fault.ProposalForbidden:     {http.StatusForbidden, openwop.ErrForbidden},
	fault.WorkflowUntrusted:     {http.StatusForbidden, openwop.ErrForbidden},
	fault.PolicyUnconfirmed:     {http.StatusForbidden, openwop.ErrForbidden},
	fault.PrincipalsUnbound:     {http.StatusForbidden, openwop.ErrForbidden},
	fault.RunNotFound:           {http.StatusNotFound, openwop.ErrRunNotFound},
	fault.SessionNotFound:       {http.StatusNotFound, openwop.ErrRunNotFound},
	fault.WorkflowNotFound:      {http.StatusNotFound, openwop.ErrNotFound},
	fault.ProposalNotFound:      {http.StatusNotFound, openwop.ErrNotFound},
	fault.AnnotationNotFound:    {http.StatusNotFound, openwop.ErrNotFound},
	fault.TargetNotFound:        {http.StatusNotFound, openwop.ErrNotFound},
	fault.ArtifactNotFound:      {http.StatusNotFound, openwop.ErrNotFound},
	fault.ProposalState:         {http.StatusConflict, openwop.ErrConflict},
	fault.ProposalChanged:       {http.StatusConflict, openwop.ErrConflict},
	fault.ProposalPending:       {http.StatusConflict, openwop.ErrConflict},
	fault.RunClosed:             {http.StatusConflict, openwop.ErrConflict},
	fault.RunWaiting:            {http.StatusConflict, openwop.ErrConflict},
	fault.RunBlocked:            {http.StatusConflict, openwop.ErrConflict},
	fault.StartKeyTaken:         {http.StatusConflict, openwop.ErrConflict},
	idempotencyMismatch:         {http.StatusConflict, openwop.ErrIdempotencyMismatch},
	fault.StoreLimit:            {http.StatusRequestEntityTooLarge, openwop.ErrTooLarge},
	fault.ProposalInvalid:       {http.StatusUnprocessableEntity, openwop.ErrUnprocessable},
	fault.WorkflowInvalid:       {http.StatusUnprocessableEntity, openwop.ErrUnprocessable},
	fault.WorkflowAmbiguous:     {http.StatusUnprocessableEntity, openwop.ErrUnprocessable},
	fault.CapabilityRequired:    {http.StatusBadRequest, openwop.ErrCapabilityRequired},
	fault.CapabilityNotProvided: {http.StatusNotImplemented, openwop.ErrCapabilityNotProvided},
	fault.SessionLocked:         {http.StatusServiceUnavailable, openwop.ErrUnavailable},
	fault.StoreLocked:           {http.StatusServiceUnavailable, openwop.ErrUnavailable},
	fault.StoreConflict:         {http.StatusServiceUnavailable, openwop.ErrUnavailable},
	fault.RunBusy:               {http.StatusServiceUnavailable, openwop.ErrUnavailable},
	fault.Interrupted:           {http.StatusServiceUnavailable, openwop.ErrUnavailable},
}

// EnvelopeOf returns the answer to an error of a use case. Its texts are redacted. The message of an internal error
// is the meaning of its code: the error itself can name files of this machine, and is for the log.
func EnvelopeOf(err error) (status int, e openwop.Envelope) {
	f := fault.Of(err)
	if errors.Is(err, context.Canceled) && f.Code == fault.Internal {
		f = fault.New(fault.Interrupted, "the request was canceled")
	}
	row, ok := envelopeRows[f.Code]
	if !ok {
		return http.StatusInternalServerError, openwop.Envelope{Error: openwop.ErrInternal,
			Message: fault.Lookup(f.Code).Meaning, Details: map[string]any{"waybillCode": f.Code}}
	}
	e = openwop.Envelope{Error: row.code, Message: redact.Text(f.Message, nil), Details: details(f)}
	if row.status == http.StatusServiceUnavailable {
		e.Details["retryAfter"] = max(1, (f.Retry.AfterMs+999)/1000)
	}
	return row.status, e
}

// details are those of a fault without secrets, and its code. Details that cannot be written are omitted.
func details(f *fault.Fault) map[string]any {
	out := map[string]any{}
	if v, err := canon.ValueOf(f.Details); err == nil && f.Details != nil {
		v = redact.Value(v, nil)
		for i := range v.Len() {
			out[v.Key(i)] = v.Item(i)
		}
	}
	maps.Copy(out, map[string]any{"waybillCode": f.Code})
	return out
}
