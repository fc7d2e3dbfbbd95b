// Package fault defines the error envelope of all commands and tools (docs/design.md#errors): a
// closed code for programs, a sentence for people, a suggestion for both, and a cause for
// diagnosis.
//
// Functions that hundreds of places call are not inlined, for the size of the binary.
//
// It does not format output, retry calls or log. The table in codes.go maps each code to its
// exit status and is mirrored in docs/errors.md. Start reading at Fault and Table.
package fault

import (
	"errors"
	"fmt"
)

// Fault is an error as callers receive it. Message, Suggestion and Details must not contain
// secrets, and Details no absolute paths: they leave the machine through the MCP server.
type Fault struct {
	Code       Code
	Message    string // one sentence: what is wrong, and where
	Retry      Retry
	Suggestion Suggestion     // what to do next; New sets the one of the code's row
	Details    map[string]any // values that canon.Marshal accepts, bounded, never needed for correctness
	Err        error          // the cause, for diagnosis; never shown to agents
}

// LinesDetail is the detail with the lines of a file that a suggestion names, which a person copies. They may have
// absolute paths: no error of a tool has it.
const LinesDetail = "lines"

// RetryKind is the closed set of retry advice (docs/design.md#errors).
type RetryKind string

// The retry kinds. The words are part of the error document.
const (
	NotRetryable       RetryKind = "not_retryable"
	RetryableImmediate RetryKind = "retryable_immediate"
	RetryableAfterMs   RetryKind = "retryable_after_ms"
)

// Retry states whether the same call may succeed later, for programs.
type Retry struct {
	Kind    RetryKind `json:"kind"`
	AfterMs int64     `json:"afterMs,omitzero"` // with retryable_after_ms
}

// New returns a fault with a formatted message and the suggestion and retry advice of its code.
func New(code Code, format string, args ...any) *Fault {
	row := Lookup(code)
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...), Retry: row.Retry, Suggestion: row.Suggestion}
}

// Wrap is New with a cause. errors.Is and errors.As find the cause; the message does not repeat
// it.
//
//go:noinline
func Wrap(cause error, code Code, format string, args ...any) *Fault {
	f := New(code, format, args...)
	f.Err = cause
	return f
}

// Suggest replaces the suggestion and returns f. Commands in it are arguments of type Command.
//
//go:noinline
func (f *Fault) Suggest(format string, args ...any) *Fault {
	f.Suggestion = Suggest(format, args...)
	return f
}

// With adds one detail and returns f.
//
//go:noinline
func (f *Fault) With(name string, value any) *Fault {
	if f.Details == nil {
		f.Details = map[string]any{}
	}
	f.Details[name] = value
	return f
}

// After makes the fault retryable after ms milliseconds, and returns f.
func (f *Fault) After(ms int64) *Fault {
	f.Retry = Retry{Kind: RetryableAfterMs, AfterMs: ms}
	return f
}

// Error returns code, message and cause, for logs.
func (f *Fault) Error() string {
	if f.Err != nil {
		return fmt.Sprintf("%s: %s (%v)", f.Code, f.Message, f.Err)
	}
	return fmt.Sprintf("%s: %s", f.Code, f.Message)
}

// Unwrap returns the cause, or nil.
func (f *Fault) Unwrap() error { return f.Err }

// Of returns the outermost fault in err. An error without one becomes INTERNAL_ERROR, so that
// commands and tools report every error in one form. Of(nil) is nil.
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

// CodeOf returns the code of err as Of finds it, "" for nil.
//
//go:noinline
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return Of(err).Code
}

// Is reports whether CodeOf(err) is code.
//
//go:noinline
func Is(err error, code Code) bool { return CodeOf(err) == code }
