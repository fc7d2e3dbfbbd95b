package openwop

import (
	"context"
	"errors"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/redact"
)

// answer is the status and the code of an error.
type answer struct {
	status int
	code   ErrorCode
}

// The answers, named after what they tell a client.
var (
	badRequest    = answer{400, ErrValidation}
	forbidden     = answer{403, ErrForbidden}
	noRun         = answer{404, ErrRunNotFound}
	missing       = answer{404, ErrNotFound}
	conflict      = answer{409, ErrConflict}
	otherRequest  = answer{409, ErrIdempotencyMismatch}
	inFlight      = answer{409, ErrIdempotencyInFlight}
	tooLargeInput = answer{413, ErrTooLarge}
	unprocessable = answer{422, ErrUnprocessable}
	broken        = answer{500, ErrInternal}
	notProvided   = answer{501, ErrCapabilityNotProvided}
	notOffered    = answer{400, ErrCapabilityRequired}
	busy          = answer{503, ErrUnavailable}
	noInterrupt   = answer{404, ErrInterruptNotFound}
	answered      = answer{409, ErrInterruptResolved}
	expired       = answer{410, ErrInterruptExpired}
	otherEvent    = answer{422, ErrCorrelationMismatch}
)

// answers is the closed table from the codes of faults to answers (docs/design.md#openwop-errors). A test
// requires a row for every code.
var answers = []struct {
	of fault.Code
	is answer
}{
	// Of tokens, which no request has.
	{fault.TokenInvalidFormat, badRequest}, {fault.TokenUnsupportedVersion, badRequest}, {fault.TokenBadSignature, badRequest},
	{fault.TokenScopeMismatch, badRequest}, {fault.TokenWorkflowHashMismatch, badRequest}, {fault.TokenUnknownNode, missing},
	{fault.TokenSessionLocked, busy},

	{fault.SessionLocked, busy}, {fault.RunBusy, busy}, {fault.SessionUnhealthy, broken}, {fault.SessionNotFound, missing},
	{fault.RunNotFound, noRun}, {fault.RunAmbiguous, noRun}, {fault.RunClosed, conflict}, {fault.RunWaiting, conflict},
	{fault.RunPaused, conflict}, {fault.ForkPointInvalid, unprocessable}, {fault.SessionHandedOver, conflict},
	{fault.DecisionRefused, conflict}, {fault.RunBlocked, unprocessable}, {fault.StepFailed, unprocessable},
	{fault.StartKeyTaken, otherRequest}, {fault.IdempotencyMismatch, otherRequest}, {fault.IdempotencyInFlight, inFlight},

	{fault.StoreConflict, busy}, {fault.StoreLocked, busy}, {fault.StoreUnreachable, busy}, {fault.StoreLimit, tooLargeInput},
	{fault.StoreOutcomeUnknown, broken},
	{fault.StoreAnswerUnread, broken}, {fault.StoreIO, broken}, {fault.StoreFull, broken}, {fault.StoreReadOnly, broken},
	{fault.StoreNewer, broken}, {fault.StoreForeign, broken}, {fault.StoreInvalid, broken}, {fault.StoreNetworkFS, broken},
	{fault.StoreCorrupt, broken}, {fault.KeyringInvalid, broken},

	{fault.BundleInvalidFormat, badRequest}, {fault.BundleUnsupportedVersion, badRequest},
	{fault.BundleIntegrityFailed, unprocessable}, {fault.BundleMissingSnapshot, unprocessable},
	{fault.BundleMissingPinnedWorkflow, unprocessable}, {fault.BundleEventOrderInvalid, unprocessable},
	{fault.BundleManifestOrderInvalid, unprocessable}, {fault.BundleCollision, conflict}, {fault.SessionDiverged, conflict},
	{fault.ArtifactErased, missing},
	{fault.ArtifactNotFound, missing}, {fault.SessionKept, conflict}, {fault.HeadMismatch, conflict},

	{fault.WorkflowInvalid, unprocessable}, {fault.WorkflowNotFound, missing}, {fault.SourceNotFound, missing},
	{fault.TestsNotFound, missing},
	{fault.WorkflowAmbiguous, conflict}, {fault.WorkflowUntrusted, forbidden},

	{fault.CapabilityNotProvided, notProvided}, {fault.CapabilityRequired, notOffered}, {fault.AnnotationNotFound, missing},
	{fault.TargetNotFound, missing},
	{fault.ProposalNotFound, missing}, {fault.ProposalState, conflict}, {fault.ProposalPending, conflict},
	{fault.ProposalForbidden, forbidden}, {fault.ProposalInvalid, unprocessable}, {fault.ProposalChanged, conflict},
	{fault.PolicyUnconfirmed, forbidden}, {fault.PrincipalsUnbound, forbidden},
	{fault.SignatureRequired, forbidden}, {fault.SignatureRefused, forbidden},

	{fault.InterruptNotFound, noInterrupt}, {fault.InterruptResolved, answered}, {fault.InterruptExpired, expired},
	{fault.InterruptMismatch, otherEvent}, {fault.InterruptForbidden, forbidden},

	{fault.ValidationError, badRequest}, {fault.UsageError, badRequest}, {fault.ConfigInvalid, broken},
	{fault.Interrupted, busy}, {fault.OutputFailed, broken}, {fault.CommitNotFound, missing}, {fault.GitFailed, broken},
	{fault.Invariant, broken}, {fault.Internal, broken},
}

// answerOf returns the answer to a fault with this code; ok is false for a code without a row.
func answerOf(code fault.Code) (a answer, ok bool) {
	for _, row := range answers {
		if row.of == code {
			return row.is, true
		}
	}
	return a, false
}

// Members of the details of an envelope.
const (
	DetailCode        = "waybillCode"   // of every error that is a fault
	DetailRetry       = "retryAfter"    // seconds until the same request may succeed, an int64
	DetailCorrelation = "correlationId" // of an answer 5xx: it is in the server's log
	DetailSupported   = "supported"     // the supported stream modes
)

// EnvelopeOf returns the answer to a request that failed with err: the HTTP status and the envelope, every
// text of it redacted. The cause of an internal error is not in it: its message is that of the code, and
// it has no details but the code. The caller adds DetailCorrelation to answers from 500 on.
func EnvelopeOf(err error) (status int, e Envelope) {
	var mode *UnsupportedModeError
	if errors.As(err, &mode) {
		return 400, Envelope{Error: ErrUnsupportedStreamMode, Message: redact.Text(mode.Error(), redact.Counts{}),
			Details: map[string]any{DetailSupported: words(SupportedModes())}}
	}
	var refused *RefusedError
	if errors.As(err, &refused) {
		return refused.Status, Envelope{Error: refused.Code, Message: refused.Message}
	}
	f := fault.Of(err)
	if f == nil {
		f = fault.New(fault.Internal, "no error")
	}
	if f.Code == fault.Internal && errors.Is(err, context.Canceled) {
		f = fault.New(fault.Interrupted, "the request was canceled")
	}
	row := fault.Lookup(f.Code)
	a, ok := answerOf(row.Code)
	switch {
	case !ok:
		a = broken
	case f.Code == fault.WorkflowInvalid && hasUnknownStep(f):
		a = badRequest // the protocol refuses a run of node types that the host does not know so
	}
	e = Envelope{Error: a.code, Message: row.Meaning, Details: map[string]any{DetailCode: string(row.Code)}}
	if a.status < 500 || a == notProvided {
		e.Message = redact.Text(f.Message, redact.Counts{})
		if a != otherRequest { // nothing about the run of another request
			addDetails(e.Details, f)
		}
	}
	if e.Message == "" {
		e.Message = row.Meaning
	}
	if f.Retry.Kind == fault.RetryableAfterMs || a == busy {
		e.Details[DetailRetry] = max(1, (f.Retry.AfterMs+999)/1000)
	}
	return a.status, e
}

// hasUnknownStep reports an invalid workflow that has a host step of an unknown type.
func hasUnknownStep(f *fault.Fault) bool {
	v, err := canon.ValueOf(f.Details)
	problems := v.At("/problems")
	for i := range problems.Len() {
		if err == nil && strings.HasSuffix(problems.Item(i).At("/pointer").Text(), "/action/typeId") {
			return true
		}
	}
	return false
}

// IsInternal reports a code whose answer says nothing about its cause.
func IsInternal(c fault.Code) bool {
	a, _ := answerOf(c)
	return a == broken
}

// addDetails adds the details of a fault, redacted. Those that are no JSON are left out.
func addDetails(to map[string]any, f *fault.Fault) {
	v, err := canon.ValueOf(f.Details)
	if err != nil || v.Kind() != canon.Object {
		return
	}
	v = redact.Value(v, redact.Counts{})
	for i := range v.Len() {
		if _, own := to[v.Key(i)]; !own {
			to[v.Key(i)] = v.Item(i)
		}
	}
}
