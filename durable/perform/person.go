package perform

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
)

// neverStop is the mode that goes around whatever a person would be waited for.
const neverStop = event.FullAutoNeverStop

// autonomy is the mode that the next attempt is held against: what came with
// --autonomy counts for it already (R16).
func (w *work) autonomy() event.Autonomy {
	mode := w.answer.Preferences.Autonomy
	for _, c := range w.opts.Preferences {
		if c.Key == "autonomy" {
			mode = event.Autonomy(c.Value)
		}
	}
	return mode
}

func (w *work) neverStops() bool { return w.autonomy() == neverStop }

// mayBegin checks what has to be settled before anything is done: a confirmation,
// leave to run commands, and that somebody is there where the step
// needs a person. Nothing is recorded when it is not: whoever calls run from a
// timer would otherwise pile up refused attempts at a step that merely waits. It
// also keeps a command from running whose attempt could not be accepted anyway. A
// run that never stops goes on without: what is missing is put on record.
func (t *turn) mayBegin(ctx context.Context) error {
	if w := t.wants(); !w.nothing() && !t.Person.Present() && !t.neverStops() {
		return t.waitingForResult(w)
	}
	if t.missingPerson() {
		answer := []string{"--notes", "TEXT"}
		if t.awaited() && !t.needsNotes() {
			answer = []string{"--yes"}
		}
		return t.waiting("waits for a person", "Go on at a terminal with '%s', or answer it from here with '%s'.",
			t.goOn(), t.goOn(answer...))
	}
	if missing := t.missingInputs(t.opts.Context); len(missing) > 0 && !t.Person.Present() && !t.neverStops() {
		return t.waitingForInputs(missing)
	}
	if t.mustConfirm() && !t.Person.Present() {
		return t.waiting("waits for a confirmation", "Confirm it at a terminal with '%s', or from here with '%s'.",
			t.goOn(), t.goOn("--yes"))
	}
	if t.step.Action == nil {
		return nil
	}
	return t.Allow(ctx, t.flow, t.opts)
}

// missingPerson: what a person does, a person has to be there for, or has said
// beforehand: notes where the step wants them, else the yes that it waits for.
func (t *turn) missingPerson() bool {
	switch {
	case t.Person.Present() || t.opts.Notes != nil:
		return false
	case t.needsNotes():
		return true
	}
	return t.step.Action == nil && !t.confirmedBefore()
}

// awaited: the step waits for a confirmation. Only guided mode does.
func (t *turn) awaited() bool {
	return t.answer.NextIntent == engine.AwaitConfirmation && t.autonomy() == event.Guided
}

// confirmedBefore: --yes was said to a step that waits for nothing else.
func (t *turn) confirmedBefore() bool { return t.awaited() && t.opts.Yes }

func (t *turn) mustConfirm() bool { return t.awaited() && !t.opts.Yes && !t.confirmed }

// confirm asks where the answer says that a person is waited for. Their yes is not
// recorded: the attempt that follows is the confirmation (R20).
func (t *turn) confirm(ctx context.Context) error {
	if !t.mustConfirm() {
		return nil
	}
	question := "Go on with this step?"
	if t.step.Action != nil {
		question = "Run this command?"
	}
	var err error
	if t.confirmed, err = t.Person.Confirm(ctx, question); err != nil {
		return err
	}
	if !t.confirmed {
		return t.waiting("was not confirmed", "Go on when it may be done, with '%s'.", t.goOn())
	}
	return nil
}

// missingInputs asks the workflow, as the engine will: two opinions about what is
// missing would refuse an attempt whose command has run by then.
func (t *turn) missingInputs(given canon.Value) []source.Input {
	return t.flow.MissingInputs(t.step, event.MergeContext(t.vars(), given))
}

// inputs asks for what only a person can tell, and adds it to the request. It comes
// before the confirmation: what is confirmed should be known in full. A variable that
// the last attempt was refused for, such as one that a loop is decided by, is asked
// for like a declared input.
func (t *turn) inputs(ctx context.Context, req *advance.Request) error {
	missing := t.missingInputs(req.Context)
	if !t.Person.Present() {
		if len(missing) > 0 && !t.neverStops() {
			return t.waitingForInputs(missing)
		}
		return nil
	}
	for _, in := range append(missing, t.refusedKeys(missing, req.Context)...) {
		text, err := t.Person.Ask(ctx, ports.Question{Text: in.Description, Key: in.ContextKey, Choices: in.Choices,
			Secret: in.Reason == "needs_user_secret_or_token", Optional: t.neverStops()})
		if err != nil {
			return err
		}
		if text != "" {
			req.Context = req.Context.With(in.ContextKey, inputValue(in, text))
		}
	}
	return nil
}

// refusedKeys are the context keys that the last attempt lacked beside the declared
// inputs. A path into a value is no key; who sets it does so with --set.
func (t *turn) refusedKeys(declared []source.Input, given canon.Value) []source.Input {
	var out []source.Input
	for _, b := range t.known.refused {
		p := b.Pointer
		if p.Kind != reason.AtContextKey || strings.Contains(p.Key, ".") {
			continue
		}
		isDeclared := slices.ContainsFunc(declared, func(d source.Input) bool { return d.ContextKey == p.Key })
		set, _ := given.Get(p.Key)
		if !isDeclared && set.IsNull() {
			out = append(out, source.Input{ContextKey: p.Key, Description: b.Message})
		}
	}
	return out
}

// inputValue reads what a person typed as --set would: JSON where it parses, else
// a string. A choice is always the text that was offered.
func inputValue(in source.Input, text string) canon.Value {
	if len(in.Choices) == 0 {
		if v, err := canon.Parse([]byte(text)); err == nil && !v.IsNull() {
			return v
		}
	}
	return canon.OfString(text)
}

// notes asks what is to be recorded. Said beforehand, it is said once a step: an
// answer that was refused is not given again.
func (t *turn) notes(ctx context.Context, req *advance.Request) error {
	if !t.needsNotes() && (t.step.Action != nil || !t.Person.Present() && t.opts.Notes == nil) {
		return nil
	}
	if t.opts.Notes != nil && !t.again {
		req.Notes = *t.opts.Notes
		return nil
	}
	var err error
	req.Notes, err = t.Person.Notes(ctx,
		ports.NotesQuestion{Required: t.needsNotes(), Draft: cmp.Or(t.draft, t.known.draft)})
	return err
}
