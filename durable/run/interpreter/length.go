package interpreter

import (
	"fmt"
	"math"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/condition"
)

// length reads how many iterations a for or forEach has. It is read on entry and
// pinned: a list that changes while it is worked on changes no count (R22).
func (k *walker) length(loop compile.Loop) (int64, *reason.Unmet) {
	if loop.Kind == compile.ForEach {
		v, _ := condition.Lookup(k.vars(), loop.Items)
		if v.Kind() != canon.Array {
			return 0, notThere(loop, loop.Items, v, "a list")
		}
		return int64(v.Len()), nil
	}
	if loop.Count.Kind() == canon.Number {
		return int64(loop.Count.Float()), nil
	}
	v, _ := condition.Lookup(k.vars(), loop.Count.Text())
	n := v.Float()
	if v.Kind() != canon.Number || n < 0 || n != math.Trunc(n) || n > math.MaxInt32 {
		return 0, notThere(loop, loop.Count.Text(), v, "a whole number of 0 or more")
	}
	return int64(n), nil
}

// notThere: a loop whose list or count is missing, or is none, is a blocker, not
// an exit.
func notThere(loop compile.Loop, path string, v canon.Value, want string) *reason.Unmet {
	u := reason.Unmet{Code: reason.MissingOutput, Pointer: contextPointer(path, loop.LoopID),
		Message: fmt.Sprintf("Loop %q needs %s under context key %q, which is not set.", loop.LoopID, want, path),
		Fix: fmt.Sprintf("Send it as context: {%q: %s}, or --set '%s=%s'.", path, exampleOf(want), path,
			exampleOf(want))}
	if !v.IsNull() {
		u.Code = reason.InvalidOutput
		u.Message = fmt.Sprintf("Loop %q needs %s under context key %q, got %s.", loop.LoopID, want, path, got(v))
	}
	return &u
}

func exampleOf(want string) string {
	if want == "a list" {
		return `["first","second"]`
	}
	return "3"
}

// got shows a value of another sort, short.
func got(v canon.Value) string {
	text := string(v.JCS())
	if len(text) > 60 {
		text = reason.Clip(text, 57) + "…"
	}
	return text
}
