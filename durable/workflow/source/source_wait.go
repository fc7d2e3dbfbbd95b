package source

import (
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/period"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/hoststep"
	"github.com/waybill/waybill/durable/workflow/keyhints"
	"github.com/waybill/waybill/durable/workflow/placeholder"
)

// The kinds of actions.
const (
	CommandAction = "command"
	WaitAction    = "wait"
)

// Wait is the moment until which a step is pending (docs/design.md#waiting). Exactly one member is
// set.
type Wait struct {
	// For is a period from the time at which the step became pending.
	For string `json:"for,omitzero"`
	// Until is an instant, or one placeholder alone.
	Until string `json:"until,omitzero"`
}

// setAction decodes the action of a step.
func (s *PlacedStep) setAction() error {
	at := s.At.Member("action")
	switch {
	case isWait(at):
		s.Wait = waitOf(at)
	case hoststep.Is(at):
		s.Host = hoststep.Of(at)
	case s.At.Has("action"):
		s.Action = new(Action)
		return canon.Decode(at.Value, s.Action)
	}
	return nil
}

// isWait reports whether an action is a wait.
func isWait(action problem.SourceValue) bool { return action.Member("kind").Value.Text() == WaitAction }

// waitOf reads an action that is a wait.
func waitOf(action problem.SourceValue) *Wait {
	return &Wait{For: action.Member("for").Value.Text(), Until: action.Member("until").Value.Text()}
}

// Placeholder returns the path of the placeholder of Until, "" if it has none.
func (w Wait) Placeholder() string {
	if parts := placeholder.Split(w.Until); len(parts) == 1 {
		return parts[0].Path
	}
	return ""
}

// Check returns why a wait cannot be performed: the member that is wrong, and the reason.
func (w Wait) Check() (member string, err error) {
	switch {
	case (w.For == "") == (w.Until == ""):
		return "", fmt.Errorf("want one of for and until")
	case w.For != "":
		_, err = period.Parse(w.For)
		return "for", err
	case len(w.Placeholder()) > limits.ContextKeyMax:
		return "until", fmt.Errorf("the path of the placeholder has more than %d characters", limits.ContextKeyMax)
	case w.Placeholder() != "":
		return "until", nil
	}
	_, err = period.ParseInstant(w.Until)
	return "until", err
}

// periodForm is the form of a period; package period parses it.
var periodForm = pattern.New(`^([1-9][0-9]*d)?([1-9][0-9]*h)?([1-9][0-9]*m)?([1-9][0-9]*s)?$`)

// waitShape is a wait. Which of for and until is given, and whether it is within its limits, is
// checked by checkWait.
var waitShape = object{What: "a wait", Hints: &keyhints.Wait, Fields: []field{
	{"kind", words{WaitAction}, required},
	{"for", text{Min: 2, Pattern: periodForm, Like: period.Like}, optional},
	{"until", text{Min: 1, Max: limits.WaitUntilBytesMax, Like: "an instant or a placeholder"}, optional},
}}

// notOfWaits are the members of a step that require something of its performer.
var notOfWaits = []string{"assessmentRefs", "notesRequired", "output", "outputContract", "requireConfirmation",
	"validationCriteria"}

// checkWait reports a wait that cannot be performed, and the members of its step that require
// something of a performer: a wait is over by itself.
func checkWait(step problem.SourceValue, report problem.Report) {
	at := step.Member("action")
	w := waitOf(at)
	switch member, err := w.Check(); {
	case at.Has("for") == at.Has("until"):
		report.Error(at, `Write "for": "1h30m", or "until": "2026-12-01T09:00:00Z".`,
			"a wait has exactly one of for and until")
	case err != nil && member == "until" && len(w.Until) <= limits.WaitUntilBytesMax:
		report.Error(at.Member(member), `Write an instant such as "2026-12-01T09:00:00Z", or one placeholder such as "{{releaseAt}}".`,
			"expected %s, or one placeholder alone, got %q", period.InstantLike, w.Until)
	case err != nil && member == "for" && periodForm.MatchString(w.For):
		report.Error(at.Member(member), "Write a shorter period, or an instant as until.", "the period is %s", err)
	}
	for _, name := range notOfWaits {
		if step.Has(name) && !step.Member(name).IsEmpty() {
			report.Error(step.Member(name), "Move it to the step before or behind.",
				"a step that waits is over by itself and has no %s", name)
		}
	}
}
