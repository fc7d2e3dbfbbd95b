package event_test

import (
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
)

// TestChecksOfWarnings: what a record of a decision may state.
func TestChecksOfWarnings(t *testing.T) {
	match := event.LooseMatch("risk", canon.OfString("High"), canon.OfString(text(300)))
	one := func(change func(*event.DecisionWarning)) event.RunStarted {
		return event.RunStarted{WorkflowID: "w", WorkflowHash: aDigest, WorkflowSourceKind: event.SourceUser,
			Warnings: []event.DecisionWarning{with(match, change)}}
	}
	many := func(n int) event.RunStarted {
		r := one(func(*event.DecisionWarning) {})
		for i := 1; i < n; i++ {
			r.Warnings = append(r.Warnings, event.LooseMatch("risk", canon.OfInt(int64(i)), canon.OfString("1")))
		}
		return r
	}
	twice := many(1)
	twice.Warnings = append(twice.Warnings, twice.Warnings[0])
	empty := many(1)
	empty.Warnings = []event.DecisionWarning{}
	checkAll(t, atRun, []refusal{
		{"with a cut value", one(func(*event.DecisionWarning) {}), ""},
		{"with ten warnings", many(10), ""},
		{"with eleven warnings", many(11), "11 warnings: want 1 to 10"},
		{"with an empty list", empty, "0 warnings: want 1 to 10"},
		{"with a warning twice", twice, "a warning occurs twice"},
		{"of an unknown code", one(func(w *event.DecisionWarning) { w.Code = "OTHER" }), `unknown warning "OTHER"`},
		{"without a path", one(func(w *event.DecisionWarning) { w.Path = "" }), "path of 0 bytes: want 1 to 128"},
		{"with a long value", one(func(w *event.DecisionWarning) { w.Got = canon.OfString(text(129)) }),
			"got of 129 bytes: want at most 128"},
		{"with null", one(func(w *event.DecisionWarning) { w.Expected = canon.Value{} }),
			"expected is neither a text nor a number nor a boolean"},
		{"with a list", one(func(w *event.DecisionWarning) { w.Got = canon.OfList() }),
			"got is neither a text nor a number nor a boolean"},
	})
}
