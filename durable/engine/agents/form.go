// Package agents decides what agents get of an answer, and what the program of an agent may ask its user
// for before an attempt (docs/design.md#elicitation): declared inputs that the pending step lacks, and the
// confirmation that a guided run waits with. Secrets, approvals and settings are never asked for. It asks
// no user and reads nothing. Start with Answer and FormOf.
package agents

import (
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/choices"
)

// Form is what a user is asked for.
type Form struct {
	Inputs   []choices.Input
	Confirms bool // the step waits for a plain confirmation

	step engine.Answer
}

// FormOf returns what to ask for before an attempt at the step that an answer shows. brought is the context of
// the attempt: what it has, also a null, is not asked for. Nothing is asked for a step that takes no
// attempt of an agent, and for one that was left: a repeated call is answered from the log.
func FormOf(step engine.Answer, brought canon.Value) Form {
	f := Form{step: step}
	if step.Pending == nil || step.NextIntent == engine.RehydrateOnly || step.IsCommand() || step.Left() {
		return f
	}
	f.Confirms = step.Pending.AwaitsGuided()
	for _, in := range step.Needed() {
		if _, has := brought.Get(in.ContextKey); !has && Askable(in.Reason) && in.Accepts.Why == "" {
			f.Inputs = append(f.Inputs, in)
		}
	}
	return f
}

// Askable reports that a form of a client may ask for an input with a reason: it is no secret, and no
// decision that a person makes at a terminal.
func Askable(why string) bool {
	return why != reason.NeedsSecret.Detail && why != reason.NeedsApproval.Detail
}

// Empty reports that there is nothing to ask for.
func (f Form) Empty() bool { return len(f.Inputs) == 0 && !f.Confirms }

// Fill adds the answers to a request, with the mark that they were elicited. values are texts by context
// key; an input without one is left out, so that the attempt is blocked as without the question.
func (f Form) Fill(req advance.Request, values map[string]string) advance.Request {
	mark := event.Elicited{Confirmation: f.Confirms}
	for _, in := range f.Inputs {
		text, given := values[in.ContextKey]
		if !given {
			continue
		}
		value := canon.OfString(text)
		if choice, ok := in.Accepts.Find(value); ok {
			value = choice // a number or a boolean
		}
		if req.Context.IsNull() {
			req.Context = canon.OfMembers()
		}
		req.Context = req.Context.With(in.ContextKey, value)
		mark.Inputs = append(mark.Inputs, in.ContextKey)
	}
	if mark.Confirmation || len(mark.Inputs) > 0 {
		slices.Sort(mark.Inputs)
		req.Elicited = &mark
	}
	return req
}

// Unconfirmed is the answer for a user who did not confirm the step: the step as it is.
func (f Form) Unconfirmed() engine.Answer {
	out := f.step
	out.Recap = "" // the caller has just performed the step
	out.Warnings = append(slices.Clone(out.Warnings), warning.Warning{Code: warning.NotConfirmed,
		Message: "The user did not confirm this step. Nothing was recorded: ask them what to change."})
	return out
}
