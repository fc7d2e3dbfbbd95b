package event

import (
	"errors"
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

// reservedKeys would reach into the object model of agents written in JavaScript
// (locks 18.2).
var reservedKeys = []string{"__proto__", "constructor", "prototype"}

// CheckContext refuses context that is no object, holds a reserved key, is over
// its budget of JCS bytes (locks 16.3.1; R19), or could not be read back out of
// an event line: merging and flags build context that no parser has seen.
func CheckContext(v canon.Value) error {
	if v.Kind() != canon.Object {
		return fmt.Errorf("context: want an object, got %s", v.Kind())
	}
	for _, k := range reservedKeys {
		if _, ok := v.Get(k); ok {
			return fmt.Errorf("context: key %q is reserved", k)
		}
	}
	if err := v.Strict(limits.ContextDepthMax); err != nil {
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

// ContextBudgetError says how far context is over its budget.
type ContextBudgetError struct{ Bytes int }

// Error gives measured size, maximum and method, as locks section 12 wants.
func (e *ContextBudgetError) Error() string {
	return fmt.Sprintf("context is %d bytes, at most %d are allowed (measured as RFC 8785 UTF-8 bytes)", e.Bytes,
		limits.ContextBytesMax)
}

// IsContextBudget reports whether err is a ContextBudgetError.
func IsContextBudget(err error) bool {
	var e *ContextBudgetError
	return errors.As(err, &e)
}

// MergeContext is base with delta laid over it, shallowly; a null member of
// delta deletes (locks 18.2).
func MergeContext(base, delta canon.Value) canon.Value {
	members := make([]canon.Member, 0, base.Len()+delta.Len())
	for _, v := range []canon.Value{base, delta} {
		for i := 0; v.Kind() == canon.Object && i < v.Len(); i++ {
			members = append(members, canon.Member{Name: v.Key(i), Value: v.Item(i)})
		}
	}
	merged := canon.OfMembers(members...)
	kept := members[:0]
	for i := range merged.Len() {
		if !merged.Item(i).IsNull() {
			kept = append(kept, canon.Member{Name: merged.Key(i), Value: merged.Item(i)})
		}
	}
	return canon.OfMembers(kept...)
}
