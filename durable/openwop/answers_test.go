package openwop_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/ports/porttest/openwoptest"
)

const canary = "ghp_0123456789abcdefghijABCDEFGHIJ012345"

// TestEveryFaultHasAnAnswer: every code has a status and a code of the closed set; where it is internal, the
// message of the fault stays inside; nothing secret is in any.
func TestEveryFaultHasAnAnswer(t *testing.T) {
	statuses := map[openwop.ErrorCode]int{openwop.ErrValidation: 400, openwop.ErrForbidden: 403, openwop.ErrRunNotFound: 404,
		openwop.ErrNotFound: 404, openwop.ErrConflict: 409, openwop.ErrIdempotencyMismatch: 409,
		openwop.ErrIdempotencyInFlight: 409, openwop.ErrTooLarge: 413, openwop.ErrUnprocessable: 422,
		openwop.ErrInterruptNotFound: 404, openwop.ErrInterruptResolved: 409, openwop.ErrInterruptExpired: 410,
		openwop.ErrCorrelationMismatch: 422, openwop.ErrInternal: 500, openwop.ErrCapabilityRequired: 400, openwop.ErrCapabilityNotProvided: 501, openwop.ErrUnavailable: 503}
	for _, row := range fault.Table {
		f := fault.Wrap(errors.New("the cause"), row.Code, "the message with %s", canary).
			With("place", "/a").With("text", "token "+canary)
		status, e := openwop.EnvelopeOf(fmt.Errorf("wrapped: %w", f))
		if status != statuses[e.Error] || e.Details[openwop.DetailCode] != string(row.Code) {
			t.Errorf("%s: %d %s %v", row.Code, status, e.Error, e.Details)
		}
		doc, err := canon.Marshal(e)
		if err != nil {
			t.Fatal(row.Code, err)
		}
		inside := status >= 500 && status != 501
		if strings.Contains(string(doc), canary) || strings.Contains(string(doc), "the cause") ||
			inside == strings.Contains(e.Message, "the message") || inside && e.Details["place"] != nil {
			t.Errorf("%s: %s", row.Code, doc)
		}
		// The default of the table is that of an unknown code, which no code may fall back to.
		if e.Error == openwop.ErrInternal && !openwop.IsInternal(row.Code) {
			t.Errorf("%s has no row", row.Code)
		}
	}
}

// TestAnswers: the statuses that the protocol names.
func TestAnswers(t *testing.T) {
	for code, want := range map[fault.Code]string{fault.ValidationError: "400 validation_error",
		fault.RunNotFound: "404 run_not_found", fault.WorkflowNotFound: "404 not_found", fault.ProposalForbidden: "403 forbidden",
		fault.WorkflowUntrusted: "403 forbidden", fault.ProposalState: "409 conflict", fault.ProposalChanged: "409 conflict",
		fault.RunClosed: "409 conflict", fault.StoreLimit: "413 payload_too_large", fault.ProposalInvalid: "422 unprocessable",
		fault.WorkflowInvalid: "422 unprocessable", fault.SessionLocked: "503 unavailable", fault.StoreLocked: "503 unavailable",
		fault.StoreConflict: "503 unavailable", fault.CapabilityNotProvided: "501 capability_not_provided",
		fault.StoreCorrupt: "500 internal_error", fault.StoreOutcomeUnknown: "500 internal_error",
		fault.Internal: "500 internal_error", fault.IdempotencyMismatch: "409 idempotency_key_mismatch",
		fault.InterruptNotFound: "404 interrupt_not_found",
		fault.InterruptResolved: "409 interrupt_already_resolved", fault.InterruptExpired: "410 interrupt_expired",
		fault.InterruptMismatch: "422 correlation_mismatch", fault.InterruptForbidden: "403 forbidden",
		fault.StartKeyTaken: "409 idempotency_key_mismatch", fault.IdempotencyInFlight: "409 idempotency_in_flight"} {
		status, e := openwop.EnvelopeOf(fault.New(code, "m"))
		if got := fmt.Sprint(status, " ", e.Error); got != want {
			t.Errorf("%s: %s, want %s", code, got, want)
		}
	}
	for pointer, want := range map[string]int{"/steps/0/action/typeId": 400, "/steps/0/action/kind": 422} {
		f := fault.New(fault.WorkflowInvalid, "m").With("problems", []problem.Problem{{Pointer: "/description"}, {Pointer: pointer}})
		if status, _ := openwop.EnvelopeOf(f); status != want {
			t.Errorf("%s: %d, want %d", pointer, status, want)
		}
	}
	_, e := openwop.EnvelopeOf(fault.New(fault.SessionLocked, "m").After(250))
	if e.Details[openwop.DetailRetry] != int64(1) {
		t.Errorf("no retry time: %v", e.Details)
	}
	_, e = openwop.EnvelopeOf(fault.New(fault.StartKeyTaken, "m").With("runId", "run_x"))
	if e.Details["runId"] != nil {
		t.Error("the run of another request is named")
	}
	if status, e := openwop.EnvelopeOf(errors.New("plain " + canary)); status != 500 || e.Error != openwop.ErrInternal ||
		strings.Contains(e.Message, "plain") {
		t.Errorf("%d %+v", status, e)
	}
	_, err := openwop.ParseModes("values,debug")
	if status, e := openwop.EnvelopeOf(fmt.Errorf("x: %w", err)); status != 400 || e.Error != openwop.ErrUnsupportedStreamMode ||
		fmt.Sprint(e.Details[openwop.DetailSupported]) != "[updates values messages debug]" {
		t.Errorf("%d %+v", status, e)
	}
}

// TestEnvelopesMatchThePublishedSchema: the envelope is closed, and valid.
func TestEnvelopesMatchThePublishedSchema(t *testing.T) {
	published := openwoptest.Published(t)
	for _, row := range fault.Table {
		_, e := openwop.EnvelopeOf(fault.New(row.Code, "").With("blockers", []string{"a"}))
		doc, err := canon.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if err := published.Check("error-envelope", doc); err != nil {
			t.Errorf("%s: %s %v", row.Code, doc, err)
		}
	}
}
