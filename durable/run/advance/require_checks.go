package advance

import (
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/workflow/source"
)

// checks requires the result of each check of the step, performed in this attempt, that proves what the
// check expects. Results of earlier attempts do not count: what they were about may have changed since
// (docs/design.md#checks).
func (q *requirements) checks(attempt Attempt) {
	if len(q.step.Checks) == 0 {
		return
	}
	results := q.checkResults(attempt)
	for _, c := range q.step.Checks {
		q.check(c, results)
	}
}

// checkResults returns the results that this attempt sent, of this attempt and step.
func (q *requirements) checkResults(attempt Attempt) (out []check.Result) {
	key, stated := q.state.PendingStep().Key(), attempt.ID
	for _, artifact := range q.fromAttempt(check.Kind) {
		r, err := check.Decode(artifact)
		if attempt.Renamed && len(out) == 0 {
			stated = r.AttemptID
		}
		if err == nil && r.AttemptID == stated && r.StepInstanceKey == key {
			out = append(out, r)
		}
	}
	return out
}

// check judges one check. A check with two results has none, since it is not determined which one counts.
func (q *requirements) check(c source.Check, results []check.Result) {
	at := reason.WorkflowStep(q.step.StepID)
	r, ok := check.Of(c.ID, results)
	if !ok {
		q.invalid(check.Kind, at,
			"Hand the step in where a person trusted the workflow, or let 'waybill run --run ID' perform it.",
			"Check %q of step %q has no result of this attempt.", c.ID, q.step.StepID)
		q.found[len(q.found)-1].Check = &reason.CheckFact{ID: c.ID}
		return
	}
	why := check.Judge(c, r)
	if why == "" {
		return
	}
	fix := "Correct what the check reports and hand the step in again; its checks run again then."
	switch {
	case len(r.Changed) > 0 && r.Ran():
		fix = "Leave the file as it is until the check has ended, and hand the step in again."
	case len(r.Changed) > 0:
		fix = "Put the file back, or let a person look at the change and trust the workflow again with 'waybill trust'."
	}
	q.invalid(check.Kind, at, fix, "Check %q of step %q %s.", c.ID, q.step.StepID, why)
	q.found[len(q.found)-1].Check = r.Fact()
}
