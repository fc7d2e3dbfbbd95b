package openwop

// ErrorCode is the closed set of codes of an error envelope that Waybill sends.
type ErrorCode string

// The codes.
const (
	ErrValidation            ErrorCode = "validation_error"
	ErrUnauthenticated       ErrorCode = "unauthenticated"
	ErrForbidden             ErrorCode = "forbidden"
	ErrRunNotFound           ErrorCode = "run_not_found"
	ErrNotFound              ErrorCode = "not_found"
	ErrMethodNotAllowed      ErrorCode = "method_not_allowed"
	ErrConflict              ErrorCode = "conflict"
	ErrIdempotencyMismatch   ErrorCode = "idempotency_key_mismatch"
	ErrIdempotencyInFlight   ErrorCode = "idempotency_in_flight"
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
)

// Envelope is the answer to a request that was refused. It has no other members.
type Envelope struct {
	Error   ErrorCode      `json:"error"`
	Message string         `json:"message"`
	Details map[string]any `json:"details,omitzero"`
}
