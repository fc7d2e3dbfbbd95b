package openwop

// ErrorCode is the closed set of codes of an error envelope that Waybill sends.
type ErrorCode string

// The codes.
const (
	ErrValidation          ErrorCode = "validation_error"
	ErrUnauthenticated     ErrorCode = "unauthenticated"
	ErrForbidden           ErrorCode = "forbidden"
	ErrRunNotFound         ErrorCode = "run_not_found"
	ErrNotFound            ErrorCode = "not_found"
	ErrMethodNotAllowed    ErrorCode = "method_not_allowed"
	ErrConflict            ErrorCode = "conflict"
	ErrIdempotencyMismatch ErrorCode = "idempotency_key_mismatch"
	ErrIdempotencyInFlight ErrorCode = "idempotency_in_flight"
	// Of requests that force a version of the engine.
	ErrForceForbidden        ErrorCode = "force_engine_version_forbidden"
	ErrForceUnsupported      ErrorCode = "unsupported_force_engine_version"
	ErrTooLarge              ErrorCode = "payload_too_large"
	ErrUnprocessable         ErrorCode = "unprocessable"
	ErrUnsupportedStreamMode ErrorCode = "unsupported_stream_mode"
	ErrUnsupportedMedia      ErrorCode = "unsupported_media_type"
	ErrCapabilityNotProvided ErrorCode = "capability_not_provided"
	ErrCapabilityRequired    ErrorCode = "capability_required"
	ErrInterruptNotFound     ErrorCode = "interrupt_not_found"
	ErrInterruptResolved     ErrorCode = "interrupt_already_resolved"
	ErrInterruptExpired      ErrorCode = "interrupt_expired"
	ErrCorrelationMismatch   ErrorCode = "correlation_mismatch"
	ErrUnavailable           ErrorCode = "unavailable"
	ErrTooManyRequests       ErrorCode = "too_many_requests"
	ErrInternal              ErrorCode = "internal_error"

	// Of test seams.
	ErrInvalidArgument ErrorCode = "invalid_argument"
	ErrUsageLeak       ErrorCode = "provider_usage_credential_leak"
	ErrReliabilityLeak ErrorCode = "envelope_reliability_credential_leak"
	ErrMockForbidden   ErrorCode = "mock_provider_forbidden"
	ErrMockUnsupported ErrorCode = "unsupported_mock_provider"
)

// Envelope is the answer to a request that was refused. It has no other members.
type Envelope struct {
	Error   ErrorCode      `json:"error"`
	Message string         `json:"message"`
	Details map[string]any `json:"details,omitzero"`
}
