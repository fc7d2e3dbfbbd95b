package compile_test

import (
	"testing"

	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
)

// TestNumbersOfConditionsAreNotLimits: a value that a condition compares with has no limit, also
// under the name of a setting of a command or a loop.
func TestNumbersOfConditionsAreNotLimits(t *testing.T) {
	_, c, problems := compile.File("t.json", source.SourceProject, []byte(`{"id":"test.t","name":"T","description":"d",
		"version":"1.0.0","steps":[{"id":"a","title":"A","prompt":"p",
		"runCondition":{"var":"x","equals":{"maxAttempts":99999999999,"retry":{"timeoutSeconds":-1}}}}]}`))
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	if _, err := compile.Decode(c.Bytes()); err != nil {
		t.Error(err)
	}
}
