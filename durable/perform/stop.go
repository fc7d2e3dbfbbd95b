package perform

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// closed refuses a run that takes no more steps. One whose cancellation is asked for
// counts: the engine would refuse the attempt when the work is done already.
func (w *work) closed() error {
	switch w.answer.Status {
	case projections.Cancelled, projections.Failed, projections.Cancelling:
		return fault.New(fault.RunClosed, "run %s is %s: it takes no further steps", w.report.Run, w.answer.Status).
			With("runId", w.report.Run.String()).With("status", string(w.answer.Status))
	}
	return nil
}

// stopped gives every end before the run's own its code and its way on. Faults that
// come from below have both already, but for those of the store: what helps there
// is the same call again, and the same 'waybill run FILE' would begin another run.
func (w *work) stopped(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ports.ErrLeft):
		return w.about(fault.New(fault.RunWaiting, "you left the run at %s", w.place()).
			Suggest("Go on with '%s'.", w.goOn()))
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return w.about(fault.New(fault.Interrupted,
			"interrupted at %s; nothing of this attempt is recorded, and everything before it is", w.place()).
			Suggest("Go on with '%s'.", w.goOn()))
	}
	switch f := fault.Of(err); f.Code {
	case fault.StoreIO, fault.StoreFull, fault.StoreReadOnly, fault.StoreOutcomeUnknown, fault.StoreAnswerUnread:
		return w.goingOn(f, "Mend the cause")
	case fault.StoreConflict, fault.StoreLocked, fault.SessionLocked:
		return w.goingOn(f, "Wait a moment")
	}
	return err
}

func (w *work) goingOn(f *fault.Fault, first string) error {
	out := *f
	out.Details = maps.Clone(f.Details)
	return w.about(&out).Suggest("%s; then go on with '%s'.", first, w.goOn())
}

// place is where the run stands, for a sentence.
func (w *work) place() string {
	if w.answer.Pending == nil {
		return "its beginning"
	}
	at, of, _ := w.flow.Position(w.answer.Pending.StepID)
	place := fmt.Sprintf("step %d of %d, %q", at+1, of, w.answer.Pending.Title)
	if rounds := roundsOf(w.flow, w.answer.Pending.StepInstanceKey); len(rounds) > 0 {
		place += " (" + Rounds(rounds) + ")"
	}
	return place
}

// goOn is the command line that takes the run up again. What was to go with the
// first attempt, and did not, is not lost on the way.
func (w *work) goOn(more ...string) string {
	var flags []string
	for _, c := range w.opts.Preferences {
		name := "--autonomy"
		if c.Key == "riskPolicy" {
			name = "--risk"
		}
		flags = append(flags, name, c.Value)
	}
	return w.GoOn(w.report.Run, append(flags, more...)...)
}

// about names the run and the step for programs.
func (w *work) about(f *fault.Fault) *fault.Fault {
	f.With("runId", w.report.Run.String()).With("sessionId", w.report.Session.String())
	if w.answer.Pending != nil {
		f.With("stepId", w.answer.Pending.StepID).With("nodeId", w.answer.NodeID.String())
	}
	return f
}

// waiting stops where a person has to act first. what follows the name of the step.
func (t *turn) waiting(what, suggestion string, args ...any) error {
	return t.about(fault.New(fault.RunWaiting, "%s %s", t.place(), what).Suggest(suggestion, args...))
}

func (t *turn) waitingForInputs(missing []source.Input) error {
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
	f := fault.New(fault.RunWaiting, "%s needs what only a person can tell: %s", t.place(), strings.Join(asked, ", ")).
		Suggest("Go on with '%s'.", t.goOn(flags...))
	return t.about(f).With("inputs", keys)
}

// mayTryAgain decides what a refused attempt comes to: a command that failed ends
// the call; where nobody is there to do better, blockers do; and a person tries
// again.
func (t *turn) mayTryAgain(blockers []reason.Blocker) error {
	if t.result != nil && !t.result.OK() {
		return t.failed(blockers)
	}
	if onlyApproval(blockers, t.step.StepID) {
		return t.waiting("needs a person's approval", "Approve it at a terminal with '%s'.",
			t.ApproveLine(t.report.Run))
	}
	if !t.Person.Present() {
		// One in the sentence, all in the details and on the screen: a fault has to stay
		// readable in a line of a log.
		first := blockers[0]
		message := first.Message
		if more := len(blockers) - 1; more > 0 {
			message += fmt.Sprintf(" (and %d more)", more)
		}
		f := fault.New(fault.RunBlocked, "%s was not accepted. %s", t.place(), message).
			Suggest("%s Then go on with '%s'.", first.SuggestedFix, t.goOn())
		return t.about(f).With("blockers", blockers)
	}
	t.again = true
	return nil
}

// outputShownBytesMax is how much of a failed command's output an error carries:
// what fits a screen.
const outputShownBytesMax = 2 << 10

// failed says that a command failed for good. Its attempt is recorded.
func (t *turn) failed(blockers []reason.Blocker) error {
	r := t.result
	suggestion := "Look at its output, mend the cause, and go on with '%s'."
	if t.fix != "" {
		suggestion = strings.ReplaceAll(t.fix, "%", "%%") + " Then go on with '%s'."
	}
	output := r.OutputTail
	if output == "" {
		output = r.OutputHead
	}
	f := fault.New(fault.StepFailed, "%s: its command %s", t.place(), r.Says()).Suggest(suggestion, t.goOn())
	return t.about(f).With("exitStatus", r.ExitStatus).With("tries", r.Tries).With("failure", r.Failure).
		With("outputTail", lastBytes(output, outputShownBytesMax)).With("blockers", blockers)
}

// lastBytes is the end of s, from the beginning of a line where there is one.
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
