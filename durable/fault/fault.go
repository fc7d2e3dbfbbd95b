// Package fault is the one error envelope (locks section 12): a closed code for
// programs, a sentence for people, a suggestion for both, a cause for us.
//
// It formats nothing for a terminal and decides no control flow; the table in
// codes.go maps each code to its exit status and is mirrored in docs/errors.md.
package fault

import (
	"errors"
	"fmt"
)

// Fault is an error as a caller sees it.
type Fault struct {
	Code       Code
	Message    string // one sentence: what is wrong, and where
	Retry      Retry
	Suggestion string         // what to do next; the code's own when empty
	Details    map[string]any // JSON-safe, bounded, never needed for correctness; no absolute paths
	Err        error          // the cause, for diagnostics; never shown to agents
}

// RetryKind is the closed set of retry advice (locks section 12).
type RetryKind string

// The retry kinds.
const (
	NotRetryable       RetryKind = "not_retryable"
	RetryableImmediate RetryKind = "retryable_immediate"
	RetryableAfterMs   RetryKind = "retryable_after_ms"
)

// Retry tells a program whether the same call may succeed later.
type Retry struct {
	Kind    RetryKind `json:"kind"`
	AfterMs int64     `json:"afterMs,omitzero"` // with retryable_after_ms
}

// New is a fault with a formatted message and the code's own suggestion and retry.
func New(code Code, format string, args ...any) *Fault {
	row := Lookup(code)
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...), Retry: row.Retry, Suggestion: row.Suggestion}
}

// Wrap is New with a cause, which Unwrap finds and the message does not repeat.
func Wrap(cause error, code Code, format string, args ...any) *Fault {
	f := New(code, format, args...)
	f.Err = cause
	return f
}

// Suggest replaces the suggestion.
func (f *Fault) Suggest(format string, args ...any) *Fault {
	f.Suggestion = fmt.Sprintf(format, args...)
	return f
}

// With adds one detail.
func (f *Fault) With(name string, value any) *Fault {
	if f.Details == nil {
		f.Details = map[string]any{}
	}
	f.Details[name] = value
	return f
}

// After makes the fault retryable after so many milliseconds.
func (f *Fault) After(ms int64) *Fault {
	f.Retry = Retry{Kind: RetryableAfterMs, AfterMs: ms}
	return f
}

// Error is the code, the message and the cause.
func (f *Fault) Error() string {
	if f.Err != nil {
		return fmt.Sprintf("%s: %s (%v)", f.Code, f.Message, f.Err)
	}
	return fmt.Sprintf("%s: %s", f.Code, f.Message)
}

// Unwrap is the cause.
func (f *Fault) Unwrap() error { return f.Err }

// Of finds the fault in err; what is none becomes INTERNAL_ERROR, so that every
// surface can show every error in one shape. Of(nil) is nil.
func Of(err error) *Fault {
	if err == nil {
		return nil
	}
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return Wrap(err, Internal, "an unexpected error: %v", err)
}

// CodeOf is the code of err, "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return Of(err).Code
}

// Is reports whether err carries the code.
func Is(err error, code Code) bool { return CodeOf(err) == code }
