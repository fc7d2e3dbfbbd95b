package trial_test

import (
	"testing"

	"github.com/waybill/waybill/durable/engine/trial"
	"github.com/waybill/waybill/durable/workflow/starter"
)

// TestTemplatesPassTheirTests: the tests of each template of a new workflow hold, and reach every step and every branch
// but the ends of loops at their last iteration.
func TestTemplatesPassTheirTests(t *testing.T) {
	for _, template := range starter.Templates {
		w := compiled(t, string(template.File("team.mine", "Mine")))
		reached := trial.NewCoverage(w)
		r := run(t, w, string(template.Tests()), reached)
		c := reached.Report()
		var missed []trial.Branch
		for _, b := range c.MissedBranches {
			if b.Way != trial.Exceeded {
				missed = append(missed, b)
			}
		}
		if r.Failed > 0 || r.Passed < 2 || len(c.MissedSteps)+len(missed) > 0 {
			t.Errorf("%s: %+v\n%+v", template.Name, r, c)
		}
	}
}
