package criteria

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
)

// Check reports the problems of criteria, and warns of those that check a completion flag only (docs/design.md#authoring).
func Check(at problem.SourceValue, report problem.Report) {
	if at.Value.Kind() == canon.Array && at.Value.Len() == 0 {
		// Not an error: the published schema allows an empty list.
		report.Warn(at, "Write at least one rule, or leave it out.", "the list of validation rules is empty, so that nothing is checked")
		return
	}
	if c, ok := Parse(at, report); ok && c.FlagOnly() {
		report.Warn(at, "Ask for evidence as well: numbered findings, file names, a minimum length.", "the criteria %s", c.Weakness())
	}
}
