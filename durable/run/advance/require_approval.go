package advance

import (
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/durable/store/config"
)

// approval requires recorded approvals of exactly these outputs, as the rules of the step say. No
// attempt can satisfy a human_approval step without them (docs/design.md#decisions).
func (q *requirements) approval() {
	for _, s := range q.approvals {
		if !s.Met() {
			fix, message := q.unapproved(s)
			q.lacks(reason.NeedsApproval, reason.WorkflowStep(q.step.StepID), fix, "%s", message)
			return
		}
	}
}

// unapproved returns what is wrong and what to do about a rule that is not met. The first sentence is
// that of older versions, for the same case.
func (q *requirements) unapproved(s decision.State) (fix, message string) {
	const byPerson = "A person approves it at a terminal with 'waybill approve RUN'; then send the next attempt without " +
		"new outputs."
	step, needed := q.step.StepID, s.Rule.Needed()
	switch {
	case s.Unchanged && s.SentBack != nil:
		return "Change what the person asked for and send the step again.", fmt.Sprintf(
			"Step %q was sent back by %s, and its outputs are still the same: %s", step, decision.Name(s.SentBack.By),
			s.SentBack.Reason)
	case len(s.Expired) > 0:
		last := s.Expired[len(s.Expired)-1]
		return byPerson, fmt.Sprintf("Step %q needs %s of what was handed in: the approval by %s counted "+
			"for %s only, which is over.", step, moreApprovals(s.Missing()), decision.Name(last.By), s.Rule.ExpiresAfter)
	case s.Lost:
		return byPerson, fmt.Sprintf("Step %q needs a person's approval again: the content of a decision was erased.", step)
	case needed > 1:
		return fmt.Sprintf("%s it at a terminal with 'waybill approve RUN'; then send the next attempt "+
				"without new outputs.", morePeople(s.Missing())), fmt.Sprintf(
				"Step %q needs the approvals of %d people for what was handed in, and has %d.", step, needed, len(s.Approvals))
	}
	return byPerson, fmt.Sprintf("Step %q needs a person's approval of what was handed in.", step)
}

// moreApprovals is the number of approvals that are missing, in words.
func moreApprovals(n int) string {
	if n == 1 {
		return "1 more approval"
	}
	return fmt.Sprintf("%d more approvals", n)
}

// morePeople begins a sentence about the people who still have to approve.
func morePeople(n int) string {
	if n == 1 {
		return "1 more person approves"
	}
	return fmt.Sprintf("%d more people approve", n)
}

// checkPeople returns the refusal of an attempt whose approvals do not meet the settings in force: each
// of them counts by those when it was recorded and by those now (docs/design.md#decisions). Nothing is
// recorded, since the settings are not part of the log.
func (q *requirements) checkPeople(f Facts) error {
	if q.people == nil {
		return nil
	}
	for _, s := range q.approvals {
		if without := missesSettings(s, *q.people, f); without != "" {
			command, details := fault.Command{"approve", f.Run.String()}, "at a terminal"
			if !q.people.Signers().IsZero() {
				command, details = append(command, "--sign"), "with the key of a signer"
			}
			return fault.New(fault.RunWaiting, "the approval of step %q by %s does not meet the settings in force", q.step.StepID,
				without).Suggest("A person approves it with %s "+details+"; see the settings with %s.",
				command, fault.Command{"config", "get"}).
				With("runId", f.Run.String()).With("stepId", q.step.StepID)
		}
	}
	return nil
}

// MeetsSettings reports whether approvals that are enough by the log are enough by the settings in force
// too, for each rule.
func MeetsSettings(states []decision.State, people config.People, f Facts) bool {
	return !slices.ContainsFunc(states, func(s decision.State) bool { return missesSettings(s, people, f) != "" })
}

// missesSettings returns the person of an approval that the settings in force do not count, if one more is
// needed for that; else "".
func missesSettings(s decision.State, people config.People, f Facts) (without string) {
	if len(s.Rule.Approvers) == 0 && s.Rule.Needed() == 1 && people.Signers().IsZero() {
		return "" // any person, under all settings
	}
	counting := 0
	for _, a := range s.Approvals {
		if holds(people, s, a, f) {
			counting++
		} else {
			without = decision.Name(a.By)
		}
	}
	if s.Met() && counting < s.Rule.Needed() {
		return without
	}
	return ""
}

// holds reports whether the person of an approval is the same principal now, with one of the approvers. With
// signers the person is the one who signed it.
func holds(people config.People, s decision.State, a decision.Record, f Facts) bool {
	who := config.Party{Account: a.Account}
	if !people.Signers().IsZero() {
		by, err := a.Signer(people.Signers(), f.place())
		if err != nil {
			return false
		}
		who.Signer = by
		// The account that the record states is not signed: that of the principal decides, if it has one.
		if name, _ := people.Of(who); name != a.By ||
			s.Rule.NotPerformer && decision.Performed(f.Performers, people.AccountOf(who)) {
			return false
		}
	} else if !people.Bound() {
		return !a.Principal
	}
	name, ok := people.Of(who)
	return ok && (!a.Principal || name == a.By) &&
		(len(s.Rule.Approvers) == 0 || len(people.Among(who, s.Rule.Approvers)) > 0)
}
