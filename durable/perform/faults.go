package perform

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/run/choices"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// checkOpen refuses a run that takes no more steps. A requested cancellation
// counts, and a pause: the engine would refuse the attempt after the work is done.
func (e *execution) checkOpen() error {
	switch e.answer.Status {
	case runs.Paused:
		return e.pausedFault(*e.answer.Paused)
	case runs.Cancelled, runs.Failed, runs.Cancelling:
		return fault.New(fault.RunClosed, "run %s is %s: it takes no further steps", e.report.Run, e.answer.Status).
			With("runId", e.report.Run.String()).With("status", string(e.answer.Status))
	}
	return nil
}

// withRecovery adds to errors that end a call a code and a suggestion how to
// continue. Faults from below have both, except that the suggestion of a store
// fault is to repeat the call, and repeating 'waybill run FILE' would start
// another run.
func (e *execution) withRecovery(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ports.ErrPersonStopped):
		return e.withIDs(fault.New(fault.RunWaiting, "you left the run at %s", e.stepPhrase()).
			Suggest("Continue with %s.", e.continueLine()))
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return e.withIDs(fault.New(fault.Interrupted,
			"interrupted at %s; nothing of this attempt is recorded, and everything before it is", e.stepPhrase()).
			Suggest("Continue with %s.", e.continueLine()))
	}
	switch f := fault.Of(err); f.Code {
	case fault.StoreIO, fault.StoreFull, fault.StoreReadOnly, fault.StoreOutcomeUnknown, fault.StoreAnswerUnread:
		return e.suggestContinue(f, "Fix the cause")
	case fault.StoreConflict, fault.StoreLocked, fault.SessionLocked, fault.StoreUnreachable:
		return e.suggestContinue(f, "Wait a moment")
	}
	return err
}

// suggestContinue copies a fault with the suggestion to continue the run. The
// fault is copied because callers may share it.
func (e *execution) suggestContinue(f *fault.Fault, first string) error {
	out := *f
	out.Details = maps.Clone(f.Details)
	return e.withIDs(&out).Suggest("%s; then continue with %s.", first, e.continueLine())
}

// stepPhrase describes the pending step for a sentence.
func (e *execution) stepPhrase() string {
	if e.answer.Pending == nil {
		return "its beginning"
	}
	at, of, _ := e.flow.Position(e.answer.Pending.StepID)
	phrase := fmt.Sprintf("step %d of %d, %q", at+1, of, e.answer.Pending.Title)
	var more []string
	if !e.flow.InOrder() {
		phrase = fmt.Sprintf("step %q", e.answer.Pending.Title)
		more = append(more, fmt.Sprintf("%d done", e.answer.StepsDone()))
	}
	if rounds := RoundsOf(e.flow, e.answer.Pending.StepInstanceKey, e.answer.Context()); len(rounds) > 0 {
		more = append(more, FormatRounds(rounds))
	}
	if len(more) > 0 {
		phrase += " (" + strings.Join(more, ", ") + ")"
	}
	return phrase
}

// continueLine is the command line that continues the run. It repeats
// preferences that were to be sent with the first attempt and were not.
func (e *execution) continueLine(more ...string) fault.Command {
	flags := e.nodeFlags()
	for _, c := range e.opts.Preferences {
		name := "--autonomy"
		if c.Key == "riskPolicy" {
			name = "--risk"
		}
		flags = append(flags, name, c.Value)
	}
	return e.ContinueLine(e.report.Run, append(flags, more...)...)
}

// notesShownBytesMax bounds notes that a suggested command line repeats, in
// bytes: about two lines of a terminal.
const notesShownBytesMax = 160

// retryLine is continueLine for a step that waits for something else than
// notes. It repeats --notes, which no attempt at the step has used.
func retryLine(s *stepRun, more ...string) fault.Command {
	return s.continueLine(append(repeatedNotes(s), more...)...)
}

// repeatedNotes returns --notes as a suggested command line repeats them,
// nothing if none were given or an attempt was refused with them. Notes that
// are long, have several lines or may contain a secret are a placeholder.
func repeatedNotes(s *stepRun) []string {
	given := s.opts.Notes
	switch {
	case given == nil || s.retried:
		return nil
	case len(*given) > notesShownBytesMax, redact.Text(*given, nil) != *given,
		strings.ContainsFunc(*given, func(r rune) bool { return !unicode.IsPrint(r) }):
		return []string{"--notes", "TEXT"}
	}
	return []string{"--notes", *given}
}

// withIDs adds the ids of run, session, step and node to the details of a
// fault.
func (e *execution) withIDs(f *fault.Fault) *fault.Fault {
	f.With("runId", e.report.Run.String()).With("sessionId", e.report.Session.String())
	if e.answer.Pending != nil {
		f.With("stepId", e.answer.Pending.StepID).With("nodeId", e.answer.NodeID.String())
	}
	return f
}

// waitingFault is RUN_WAITING: a person has to act first. what follows the name
// of the step.
func (s *stepRun) waitingFault(what, suggestion string, args ...any) error {
	return s.withIDs(fault.New(fault.RunWaiting, "%s %s", s.stepPhrase(), what).Suggest(suggestion, args...))
}

// waitingForInputs is RUN_WAITING with the inputs that are missing, and the
// command line that supplies them.
func (s *stepRun) waitingForInputs(missing []choices.Input) error {
	var asked, flags, keys, from []string
	for _, in := range missing {
		line := in.ContextKey + " (" + in.Description
		if !in.Wrong.IsNull() {
			line += "; " + in.Value() + " is not accepted"
		}
		switch {
		case in.Accepts.Why != "":
			line += "; " + in.Accepts.Why
			from = append(from, in.ChoicesFrom.Step)
		case in.ChoicesFrom != nil:
			line += "; one of " + in.Accepts.Shown(limits.ResultHeadBytesMax)
		case len(in.Choices) > 0:
			line += "; one of " + strings.Join(in.Choices, ", ")
		}
		asked = append(asked, line+")")
		flags = append(flags, "--set", in.ContextKey+"=VALUE")
		keys = append(keys, in.ContextKey)
	}
	if from != nil {
		f := fault.New(fault.RunWaiting, "%s has no choices for an input: %s", s.stepPhrase(), strings.Join(asked, ", ")).
			Suggest("Let step %q hand in a list of texts, numbers or booleans: %s goes back to it. Fork a run that was "+
				"forked after that step again, at that step.", from[0],
				s.ContinueLine(s.report.Run, "--at", from[0]))
		return s.withIDs(f).With("inputs", keys)
	}
	f := fault.New(fault.RunWaiting, "%s needs input from a person: %s", s.stepPhrase(),
		strings.Join(asked, ", ")).
		Suggest("Continue with %s.", retryLine(s, flags...))
	return s.withIDs(f).With("inputs", keys)
}

// handleBlockers decides what follows a refused attempt: a failed command ends
// the call with STEP_FAILED, blockers end it with RUN_BLOCKED if no person is
// present, and otherwise the person tries again.
func (s *stepRun) handleBlockers(blockers []reason.Blocker) error {
	if s.result != nil && !s.result.OK() {
		return s.commandFailed(blockers)
	}
	if onlyApproval(blockers, s.step.StepID) {
		return s.waitingFault("needs a person's approval", "Approve it at a terminal with %s.",
			s.approveLine())
	}
	// A command step asks the person nothing, so that a further attempt would be the same.
	if !s.Person.Present() || s.unproved && s.step.Automatic() {
		// The message has the first blocker only, since an error should fit one
		// line of a log. The details have all of them.
		first := blockers[0]
		message := first.Message
		if more := len(blockers) - 1; more > 0 {
			message += fmt.Sprintf(" (and %d more)", more)
		}
		f := fault.New(fault.RunBlocked, "%s was not accepted. %s", s.stepPhrase(), message).
			Suggest("%s Then continue with %s.", first.SuggestedFix, s.continueLine())
		if s.result != nil { // it succeeded, and did not yield what the step declares
			f.With("result", s.result.Brief(limits.ResultTailBytesMax))
		}
		return s.withIDs(f).With("blockers", blockers)
	}
	s.retried = true
	return nil
}

// commandFailed is STEP_FAILED for a command whose last try failed. Its attempt
// is recorded.
func (s *stepRun) commandFailed(blockers []reason.Blocker) error {
	r := s.result
	suggestion := fault.Suggest("Read its output, fix the cause, and continue with %s.", s.continueLine())
	if s.fix.Format != "" {
		suggestion = fault.Suggest("%s Then continue with %s.", s.fix, s.continueLine())
	}
	f := fault.New(fault.StepFailed, "%s: its command %s", s.stepPhrase(), r.Outcome())
	f.Suggestion = suggestion
	return s.withIDs(f).With("exitStatus", r.ExitStatus).With("tries", r.Tries).With("failure", r.Failure).
		With("outputTail", command.LastBytes(s.cmd.outputTail, limits.ResultTailBytesMax)).
		With("result", r.Brief(limits.ResultTailBytesMax)).With("blockers", blockers)
}
