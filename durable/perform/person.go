package perform

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/choices"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
)

// neverStop is the mode in which a run does not wait for a person: gaps are
// recorded for what is missing.
const neverStop = event.FullAutoNeverStop

// autonomy is the mode in force for the next attempt, including preferences
// that will be sent with it (docs/design.md#blocked-attempts).
func (e *execution) autonomy() event.Autonomy {
	mode := e.answer.Preferences.Autonomy
	for _, c := range e.opts.Preferences {
		if c.Key == "autonomy" {
			mode = event.Autonomy(c.Value)
		}
	}
	return mode
}

// neverStops reports that the run does not wait for a person.
func (e *execution) neverStops() bool { return e.autonomy() == neverStop }

// checkBegin checks what is required before any work starts: a confirmation,
// permission to run commands, and a person where the step needs one. On failure
// nothing is recorded: a caller that runs from a timer would otherwise record
// refused attempts at a step that merely waits. It also prevents a command from
// running whose attempt would be refused. A run in the mode neverStop
// continues, and gaps are recorded.
func (s *stepRun) checkBegin(ctx context.Context) error {
	if w := s.requirements(); !w.none() && !s.Person.Present() && !s.neverStops() {
		return s.waitingForResult(w)
	}
	if s.missingPerson() {
		answer, more := []string{"--notes", "TEXT"}, " The notes are then those of every later step that waits for a person, too."
		if s.awaitsConfirmation() && !s.needsNotes() {
			answer, more = []string{"--yes"}, ""
		}
		return s.waitingFault("waits for a person",
			"Continue at a terminal with %s, or answer it from here with %s."+more,
			retryLine(s), retryLine(s, answer...))
	}
	if missing := s.missingInputs(s.opts.Context); len(missing) > 0 && !s.Person.Present() && !s.neverStops() {
		return s.waitingForInputs(missing)
	}
	if s.mustConfirm() && !s.Person.CanConsent() {
		return s.waitingFault("waits for a confirmation", "Confirm it at a terminal with %s, or from here with %s.",
			retryLine(s), retryLine(s, "--yes"))
	}
	if s.step.Action == nil && len(s.step.Checks) == 0 {
		return nil
	}
	return s.allow(ctx)
}

// allow obtains the permission to run the commands of the workflow.
func (s *stepRun) allow(ctx context.Context) error {
	opts := s.opts
	opts.Context = event.MergeContext(s.answer.Context(), opts.Context) // the values known so far
	return s.Allow(ctx, s.flow, s.answer.Workflow.Source, opts)
}

// missingPerson reports that the step requires a person, and neither a person
// is present nor the answer was given beforehand: notes if the step requires
// them, else the confirmation.
func (s *stepRun) missingPerson() bool {
	switch {
	case s.Person.Present() || s.opts.Notes != nil:
		return false
	case s.needsNotes():
		return true
	}
	return !s.step.Automatic() && !(s.awaitsConfirmation() && s.opts.Yes)
}

// awaitsConfirmation reports that the step waits for a confirmation. Only
// guided mode does.
func (s *stepRun) awaitsConfirmation() bool {
	return s.answer.Pending.AwaitsGuided() && s.autonomy() == event.Guided
}

// mustConfirm reports that the confirmation is still to be asked.
func (s *stepRun) mustConfirm() bool { return s.awaitsConfirmation() && !s.opts.Yes && !s.confirmed }

// confirm asks the person for a confirmation. It is not recorded: the attempt
// that follows is the confirmation (docs/design.md#requirements-on-the-caller).
func (s *stepRun) confirm(ctx context.Context, _ *advance.Request) error {
	if !s.mustConfirm() {
		return nil
	}
	question := "Continue with this step?"
	if s.step.Action != nil {
		question = "Run this command?"
	}
	var err error
	if s.confirmed, err = s.Person.Confirm(ctx, question); err != nil {
		return err
	}
	if !s.confirmed {
		return s.waitingFault("was not confirmed", "Continue when it may be done, with %s.", retryLine(s))
	}
	return nil
}

// missingInputs returns the declared inputs without a value that is accepted. It
// uses the function of the engine: with different results the engine could
// refuse an attempt after its command has run.
func (s *stepRun) missingInputs(given canon.Value) []choices.Input {
	return choices.Needed(s.flow, s.step, event.MergeContext(s.vars(), given), s.answer.Surroundings().Choices)
}

// withoutChoices are the inputs for which no answer is accepted, since the
// result that has their choices is not usable. Only a correction of that result
// helps, so that a person is not asked.
func withoutChoices(missing []choices.Input) []choices.Input {
	return slices.DeleteFunc(slices.Clone(missing), func(in choices.Input) bool { return in.Accepts.Why == "" })
}

// askInputs asks for missing inputs and adds them to the request. It precedes
// the confirmation, which should cover the complete input. Variables that the
// last attempt was refused for, such as a loop condition, are asked for as
// well.
func (s *stepRun) askInputs(ctx context.Context, req *advance.Request) error {
	missing := s.missingInputs(req.Context)
	if !s.neverStops() {
		if without := withoutChoices(missing); len(without) > 0 {
			return s.waitingForInputs(without)
		}
	}
	if !s.Person.Present() {
		if len(missing) > 0 && !s.neverStops() {
			return s.waitingForInputs(missing)
		}
		return nil
	}
	for _, in := range append(missing, s.refusedKeys(missing, req.Context)...) {
		if in.Accepts.Why != "" {
			continue
		}
		q := ports.Question{Text: in.Description, Key: in.ContextKey, Choices: in.Accepts.Texts(),
			Secret: in.Reason == "needs_user_secret_or_token", Optional: s.neverStops()}
		if !in.Wrong.IsNull() {
			q.Text += fmt.Sprintf(" (%s is not one of the choices)", in.Value())
		}
		_, output := s.step.Outputs[in.ContextKey]
		if output {
			q.Text, q.Optional = in.Description+" Its value, or Enter to run the command again?", true
		}
		text, err := s.Person.Ask(ctx, q)
		if err != nil {
			return err
		}
		if text == "" && output {
			s.result, s.recorded = nil, false
		}
		if text != "" {
			req.Context = req.Context.With(in.ContextKey, inputValue(in, text))
		}
	}
	return nil
}

// refusedKeys returns the context keys that the last attempt lacked besides
// declared inputs. A path into a value is no key; --set can set it.
func (s *stepRun) refusedKeys(declared []choices.Input, given canon.Value) []choices.Input {
	var out []choices.Input
	for _, b := range s.known.refused {
		p := b.Pointer
		if p.Kind != reason.AtContextKey || strings.Contains(p.Key, ".") {
			continue
		}
		isDeclared := slices.ContainsFunc(declared, func(d choices.Input) bool { return d.ContextKey == p.Key })
		set, _ := given.Get(p.Key)
		if !isDeclared && set.IsNull() {
			out = append(out, choices.Input{Input: source.Input{ContextKey: p.Key, Description: b.Message}})
		}
	}
	return out
}

// inputValue parses typed text like --set does: JSON if it parses, else a
// string. A choice is the offered value, of its own type.
func inputValue(in choices.Input, text string) canon.Value {
	if choice, ok := in.Accepts.Find(canon.OfString(text)); ok {
		return choice
	}
	if in.Accepts.Any() {
		if v, err := canon.Parse([]byte(text)); err == nil && !v.IsNull() {
			return v
		}
	}
	return canon.OfString(text)
}

// askNotes asks for the notes of the attempt. Notes given beforehand are used
// for the first attempt at a step only: the same refused notes are not sent
// twice.
func (s *stepRun) askNotes(ctx context.Context, req *advance.Request) error {
	if !s.needsNotes() && (s.step.Automatic() || !s.Person.Present() && s.opts.Notes == nil) {
		return nil
	}
	if s.opts.Notes != nil && !s.retried {
		req.Notes = *s.opts.Notes
		return nil
	}
	var err error
	req.Notes, err = s.Person.Notes(ctx,
		ports.NotesQuestion{Required: s.needsNotes(), Draft: cmp.Or(s.draft, s.known.draft)})
	return err
}
