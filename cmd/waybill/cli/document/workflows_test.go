package document

import (
	"testing"

	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
)

// TestWorkflowsOfListsErrorsFirst: truncation does not drop errors in favor of warnings, and
// the problems of the entry keep their order.
func TestWorkflowsOfListsErrorsFirst(t *testing.T) {
	given := "wawbwcedwe"
	var problems []source.Problem
	for i := 0; i < len(given); i += 2 {
		severity := problem.Warning
		if given[i] == 'e' {
			severity = problem.Error
		}
		problems = append(problems, source.Problem{Severity: severity, Message: given[i+1 : i+2]})
	}
	row := WorkflowsOf([]catalog.Entry{{Problems: problems}}).Workflows[0]
	got := ""
	for _, p := range append(row.Problems, problems...) {
		got += p.Message
	}
	if got != "dababcde" || row.ProblemCount != 5 {
		t.Errorf("got %q of %d", got, row.ProblemCount)
	}
}
