package event

import (
	"errors"
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

// reservedKeys are refused because they would change the prototypes of objects in agents that are
// written in JavaScript (docs/design.md#context).
var reservedKeys = []string{"__proto__", "constructor", "prototype"}

// CheckContext returns an error for context that is not an object, has a reserved key, exceeds
// limits.ContextBytesMax (a *ContextBudgetError), or could not be parsed from an event line. The
// last is checked because merging and command line flags build context that was never parsed.
func CheckContext(v canon.Value) error {
	if v.Kind() != canon.Object {
		return fmt.Errorf("context: want an object, got %s", v.Kind())
	}
	for _, k := range reservedKeys {
		if _, ok := v.Get(k); ok {
			return fmt.Errorf("context: key %q is reserved", k)
		}
	}
	if err := v.CheckStrict(limits.ContextDepthMax); err != nil {
		return fmt.Errorf("context: %w", err)
	}
	b, err := v.AppendJCS(nil)
	if err != nil {
		return err
	}
	if len(b) > limits.ContextBytesMax {
		return &ContextBudgetError{Bytes: len(b)}
	}
	return nil
}

// ContextBudgetError reports context that exceeds its budget.
type ContextBudgetError struct{ Bytes int }

// Error returns the measured size, the maximum and the method of measuring.
func (e *ContextBudgetError) Error() string {
	return fmt.Sprintf("context is %d bytes, at most %d are allowed (measured as RFC 8785 UTF-8 bytes)", e.Bytes,
		limits.ContextBytesMax)
}

// IsContextBudget reports whether err is a ContextBudgetError.
func IsContextBudget(err error) bool {
	var e *ContextBudgetError
	return errors.As(err, &e)
}

// MergeContext returns base with the members of delta. It replaces top-level members as a whole;
// a null member of delta deletes (docs/design.md#context). Values that are not objects count as
// empty.
//
//go:noinline
func MergeContext(base, delta canon.Value) canon.Value { return base.Merged(delta) }
