package criteria_test

import (
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/criteria"
)

// Requirements and failures use the same sentences.
func ExampleCriteria_Check() {
	source, _ := canon.Parse([]byte(`[
		{"type": "regex", "pattern": "Finding \\d+:", "message": "Number the findings"},
		{"type": "length", "min": 20, "message": "Say why"}]`))
	c, _ := criteria.Of(source)
	for _, r := range c.Requirements(canon.Value{}) {
		fmt.Println("-", r)
	}
	for _, f := range c.Check("Finding 1: none", canon.Value{}) {
		fmt.Println("refused:", f.Message, "/", f.Requirement)
	}
	// Output:
	// - Must match pattern: Finding \d+: (Number the findings)
	// - Length: ≥20 chars (Say why)
	// refused: Say why / Length: ≥20 chars (Say why)
}
