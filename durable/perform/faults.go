package perform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// checkOpen refuses a run that takes no more steps. A requested cancellation
// counts: the engine would refuse the attempt after the work is done.
func (w *execution) checkOpen() error {
	switch w.answer.Status {
	case runs.Cancelled, runs.Failed, runs.Cancelling:
		return fault.New(fault.RunClosed, "run %s is %s: it takes no further steps", w.report.Run, w.answer.Status).
			With("runId", w.report.Run.String()).With("status", string(w.answer.Status))
	}
	return nil
}

// withRecovery adds to errors that end a call a code and a suggestion how to
// continue. Faults from below have both, except that the suggestion of a store
// fault is to repeat the call, and repeating 'waybill run FILE' would start
// another run.
func (w *execution) withRecovery(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ports.ErrPersonStopped):
		return w.withIDs(fault.New(fault.RunWaiting, "you left the run at %s", w.stepPhrase()).
			Suggest("Continue with %s.", w.continueLine()))
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return w.withIDs(fault.New(fault.Interrupted,
			"interrupted at %s; nothing of this attempt is recorded, and everything before it is", w.stepPhrase()).
			Suggest("Continue with %s.", w.continueLine()))
	}
	switch f := fault.Of(err); f.Code {
	case fault.StoreIO, fault.StoreFull, fault.StoreReadOnly, fault.StoreOutcomeUnknown, fault.StoreAnswerUnread:
		return w.suggestContinue(f, "Fix the cause")
	case fault.StoreConflict, fault.StoreLocked, fault.SessionLocked:
		return w.suggestContinue(f, "Wait a moment")
	}
	return err
}

// suggestContinue copies a fault with the suggestion to continue the run. The
// fault is copied because callers may share it.
func (w *execution) suggestContinue(f *fault.Fault, first string) error {
	out := *f
	out.Details = maps.Clone(f.Details)
	return w.withIDs(&out).Suggest("%s; then continue with %s.", first, w.continueLine())
}

// stepPhrase describes the pending step for a sentence.
func (w *execution) stepPhrase() string {
	if w.answer.Pending == nil {
		return "its beginning"
	}
	at, of, _ := w.flow.Position(w.answer.Pending.StepID)
	phrase := fmt.Sprintf("step %d of %d, %q", at+1, of, w.answer.Pending.Title)
	if rounds := roundsOf(w.flow, w.answer.Pending.StepInstanceKey); len(rounds) > 0 {
		phrase += " (" + FormatRounds(rounds) + ")"
	}
	return phrase
}

// continueLine is the command line that continues the run. It repeats
// preferences that were to be sent with the first attempt and were not.
func (w *execution) continueLine(more ...string) fault.Command {
	var flags []string
	for _, c := range w.opts.Preferences {
		name := "--autonomy"
		if c.Key == "riskPolicy" {
			name = "--risk"
		}
		flags = append(flags, name, c.Value)
	}
	return w.ContinueLine(w.report.Run, append(flags, more...)...)
}

// withIDs adds the ids of run, session, step and node to the details of a
// fault.
func (w *execution) withIDs(f *fault.Fault) *fault.Fault {
	f.With("runId", w.report.Run.String()).With("sessionId", w.report.Session.String())
	if w.answer.Pending != nil {
		f.With("stepId", w.answer.Pending.StepID).With("nodeId", w.answer.NodeID.String())
	}
	return f
}

// waitingFault is RUN_WAITING: a person has to act first. what follows the name
// of the step.
func (t *stepRun) waitingFault(what, suggestion string, args ...any) error {
	return t.withIDs(fault.New(fault.RunWaiting, "%s %s", t.stepPhrase(), what).Suggest(suggestion, args...))
}

// waitingForInputs is RUN_WAITING with the inputs that are missing, and the
// command line that supplies them.
func (t *stepRun) waitingForInputs(missing []source.Input) error {
	var asked, flags, keys []string
	for _, in := range missing {
		line := in.ContextKey + " (" + in.Description
		if len(in.Choices) > 0 {
			line += "; one of " + strings.Join(in.Choices, ", ")
		}
		asked = append(asked, line+")")
		flags = append(flags, "--set", in.ContextKey+"=VALUE")
		keys = append(keys, in.ContextKey)
	}
	f := fault.New(fault.RunWaiting, "%s needs input from a person: %s", t.stepPhrase(),
		strings.Join(asked, ", ")).
		Suggest("Continue with %s.", t.continueLine(flags...))
	return t.withIDs(f).With("inputs", keys)
}

// handleBlockers decides what follows a refused attempt: a failed command ends
// the call with STEP_FAILED, blockers end it with RUN_BLOCKED if no person is
// present, and otherwise the person tries again.
func (t *stepRun) handleBlockers(blockers []reason.Blocker) error {
	if t.result != nil && !t.result.OK() {
		return t.commandFailed(blockers)
	}
	if onlyApproval(blockers, t.step.StepID) {
		return t.waitingFault("needs a person's approval", "Approve it at a terminal with %s.",
			t.ApproveLine(t.report.Run))
	}
	if !t.Person.Present() {
		// The message has the first blocker only, since an error should fit one
		// line of a log. The details have all of them.
		first := blockers[0]
		message := first.Message
		if more := len(blockers) - 1; more > 0 {
			message += fmt.Sprintf(" (and %d more)", more)
		}
		f := fault.New(fault.RunBlocked, "%s was not accepted. %s", t.stepPhrase(), message).
			Suggest("%s Then continue with %s.", first.SuggestedFix, t.continueLine())
		return t.withIDs(f).With("blockers", blockers)
	}
	t.retried = true
	return nil
}

// outputShownBytesMax bounds how much of a failed command's output an error
// carries, in bytes: about one screen.
const outputShownBytesMax = 2 << 10

// commandFailed is STEP_FAILED for a command whose last try failed. Its attempt
// is recorded.
func (t *stepRun) commandFailed(blockers []reason.Blocker) error {
	r := t.result
	suggestion := fault.Suggest("Read its output, fix the cause, and continue with %s.", t.continueLine())
	if t.fix.Format != "" {
		suggestion = fault.Suggest("%s Then continue with %s.", t.fix, t.continueLine())
	}
	output := cmp.Or(r.OutputTail, r.OutputHead)
	f := fault.New(fault.StepFailed, "%s: its command %s", t.stepPhrase(), r.Outcome())
	f.Suggestion = suggestion
	return t.withIDs(f).With("exitStatus", r.ExitStatus).With("tries", r.Tries).With("failure", r.Failure).
		With("outputTail", lastBytes(output, outputShownBytesMax)).With("blockers", blockers)
}

// lastBytes returns at most the last n bytes of s, starting at the beginning of
// a line if possible.
func lastBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	if _, rest, ok := strings.Cut(s, "\n"); ok && rest != "" {
		return rest
	}
	return strings.ToValidUTF8(s, "")
}
