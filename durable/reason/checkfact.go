package reason

import (
	"errors"
	"fmt"

	"github.com/waybill/waybill/durable/limits"
)

// CheckFact is what a blocker states of a check without a passing result (docs/design.md#checks).
type CheckFact struct {
	ID   string `json:"id"`            // unique within the step
	Exit *int64 `json:"exit,omitzero"` // nil: the check has no exit status
	// OutputTail is the end of the output of the check, and Changed the files that differ from what was
	// trusted. Only answers have them: they are read from the result, and a stored blocker with one is
	// refused. The tail is in each answer, "" without output.
	OutputTail *string     `json:"outputTail,omitzero"`
	Changed    []string    `json:"changed,omitzero"`
	Tests      *CheckTests `json:"tests,omitzero"` // nil: no test report was read
}

// CheckTests are the tests that a check reported.
type CheckTests struct {
	Failed  int64  `json:"failed"`
	Format  string `json:"format"` // of the report, one of testreport.Formats
	Passed  int64  `json:"passed"`
	Skipped int64  `json:"skipped"`
}

// id returns the id of the check for ordering, "" without one.
func (c *CheckFact) id() string {
	if c == nil {
		return ""
	}
	return c.ID
}

// ValidCheckID reports whether s may be the id of a check: that of a step in a workflow file.
func ValidCheckID(s string) bool { return ValidStepID(s) && len(s) <= limits.StepIDBytesMax }

// check returns an error for a fact that must not be stored.
func (c *CheckFact) check() error {
	switch {
	case !ValidCheckID(c.ID):
		return fmt.Errorf("check id %q: want at most %d of a-z 0-9 _ -", Clip(c.ID, limits.StepIDBytesMax), limits.StepIDBytesMax)
	case c.Exit != nil && (*c.Exit < 0 || *c.Exit > limits.ExitStatusMax):
		return fmt.Errorf("check %s with exit %d: want 0 to %d", c.ID, *c.Exit, limits.ExitStatusMax)
	case c.OutputTail != nil || c.Changed != nil:
		return errors.New("check " + c.ID + " with outputTail or changed, which are not stored")
	case c.Tests != nil:
		return c.Tests.check()
	}
	return nil
}

// check returns an error for counts that no report has. The set of formats is closed where reports
// are read, in package testreport.
func (c *CheckTests) check() error {
	if !ValidCheckID(c.Format) {
		return fmt.Errorf("tests in format %q", Clip(c.Format, limits.StepIDBytesMax))
	}
	for _, n := range []int64{c.Failed, c.Passed, c.Skipped} {
		if n < 0 || n > limits.TestReportTestsMax {
			return fmt.Errorf("%d tests: want 0 to %d", n, limits.TestReportTestsMax)
		}
	}
	return nil
}
