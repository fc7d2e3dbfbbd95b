package check

import "github.com/waybill/waybill/durable/reason"

// Fact is what a blocker says about the check.
func (r Result) Fact() *reason.CheckFact {
	f := &reason.CheckFact{ID: r.CheckID, Exit: &r.Exit}
	if r.Tests != nil {
		f.Tests = &reason.TestCounts{Failed: r.Tests.Failed, Format: string(r.Tests.Format), Passed: r.Tests.Passed,
			Skipped: r.Tests.Skipped}
	}
	return f
}
