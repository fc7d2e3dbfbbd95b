package reason

// CheckFact is what a blocker says about the check that blocks (docs/design.md#checks).
type CheckFact struct {
	ID    string      `json:"id"`
	Exit  *int64      `json:"exit,omitzero"`
	Tests *TestCounts `json:"tests,omitzero"`
	// OutputTail is the end of the output, in answers only.
	OutputTail string `json:"outputTail,omitzero"`
}

// TestCounts are the counts of a test report.
type TestCounts struct {
	Failed  int    `json:"failed"`
	Format  string `json:"format"`
	Passed  int    `json:"passed"`
	Skipped int    `json:"skipped"`
}

// id is the id of the check, "" for none.
func (c *CheckFact) id() string {
	if c == nil {
		return ""
	}
	return c.ID
}
