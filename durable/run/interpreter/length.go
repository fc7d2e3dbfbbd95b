package interpreter

import (
	"fmt"
	"math"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/condition"
)

// length evaluates the number of iterations of a for or forEach loop. It is evaluated on
// entry and stored in the frame: changes to the list during the loop do not affect it
// (docs/design.md#loops).
func (k *walker) length(loop compile.Loop) (int64, *reason.Unmet) {
	if loop.Kind == compile.ForEach {
		v, _ := condition.Lookup(k.vars(), loop.Items)
		if v.Kind() != canon.Array {
			return 0, badLength(loop, loop.Items, v, "a list")
		}
		return int64(v.Len()), nil
	}
	if loop.Count.Kind() == canon.Number {
		return int64(loop.Count.Float()), nil
	}
	v, _ := condition.Lookup(k.vars(), loop.Count.Text())
	n := v.Float()
	if v.Kind() != canon.Number || n < 0 || n != math.Trunc(n) || n > math.MaxInt32 {
		return 0, badLength(loop, loop.Count.Text(), v, "a whole number of 0 or more")
	}
	return int64(n), nil
}

// badLength is the unmet condition for a list or count that is absent or of another type. It
// blocks: a typing error must not skip the loop.
func badLength(loop compile.Loop, path string, v canon.Value, want string) *reason.Unmet {
	u := reason.Unmet{Code: reason.MissingOutput, Pointer: contextPointer(path, loop.LoopID),
		Message: fmt.Sprintf("Loop %q needs %s under context key %q, which is not set.", loop.LoopID, want, path),
		Fix: fmt.Sprintf("Send it as context: {%q: %s}, or --set '%s=%s'.", path, exampleOf(want), path,
			exampleOf(want))}
	if !v.IsNull() {
		u.Code = reason.InvalidOutput
		u.Message = fmt.Sprintf("Loop %q needs %s under context key %q, got %s.", loop.LoopID, want, path, excerpt(v))
	}
	return &u
}

// exampleOf returns an example value for a suggested fix.
func exampleOf(want string) string {
	if want == "a list" {
		return `["first","second"]`
	}
	return "3"
}

// excerpt returns at most 60 bytes of a value, for a message.
func excerpt(v canon.Value) string {
	text := string(v.JCS())
	if len(text) > 60 {
		text = reason.Clip(text, 57) + "…"
	}
	return text
}
