package perform

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/period"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/choices"
	"github.com/waybill/waybill/durable/run/wait"
	"github.com/waybill/waybill/ports"
)

// A step that waits is performed by the clock (docs/design.md#waiting): a performer records that its
// moment is reached. Only a person at a terminal waits for it; any other performer leaves the run,
// so that no process has to run meanwhile.

// tickMs is the interval in milliseconds at which a person sees the time that is left. The clock is
// read again each time: it may be set, and a machine that was asleep is late.
const tickMs = 1000

// WaitView describes a wait that a person watches.
type WaitView struct {
	UntilMs int64 // the moment, in milliseconds since 1970 UTC
	LeftMs  int64 // from now until then
}

// waitRun is the wait of a step.
type waitRun struct{ *stepRun }

// run waits until the moment of a step that waits, and adds the record that it is reached to the
// request. It follows the inputs, since one of them may be the moment.
func (s *waitRun) run(ctx context.Context, req *advance.Request) error {
	if s.step.Wait == nil || s.answer.Pending.Wait == nil {
		return nil
	}
	due, err := s.dueAt(ctx, req)
	if err != nil {
		return err
	}
	now, err := s.reach(ctx, due, s.watchClock)
	if err != nil {
		return err
	}
	over := wait.Over{DueAtMs: due, OverAtMs: now, StepInstanceKey: s.answer.Pending.StepInstanceKey}
	req.Artifacts = append(req.Artifacts, advance.JSONArtifact(over.Value()))
	return nil
}

// reach returns when the clock has reached a moment, with its reading. pass waits, or returns why it does
// not; it is called again if the clock goes back.
func (e *execution) reach(ctx context.Context, due int64, pass func(ctx context.Context, due int64) error) (int64, error) {
	now := e.NowMs()
	for ; now < due; now = e.NowMs() {
		if err := pass(ctx, due); err != nil {
			return now, err
		}
	}
	return now, nil
}

// watchClock shows the person how much time is left, until the moment is reached. Without a person,
// and where Options.NoWait is set, it returns RUN_WAITING at once.
func (s *waitRun) watchClock(ctx context.Context, due int64) error {
	if !s.Person.Present() || s.opts.NoWait {
		return s.waitsUntil(due)
	}
	defer s.Display.WaitEnded()
	for now := s.NowMs(); now < due; now = s.NowMs() {
		if p := s.watch.paused(); p != nil {
			return s.pausedFault(session.PausedRun{Reason: p.Reason, SinceMs: p.AtMs})
		}
		s.Display.Waiting(WaitView{UntilMs: due, LeftMs: due - now})
		if err := s.Pause(ctx, min(tickMs, due-now)); err != nil {
			if errors.Is(context.Cause(ctx), errCancelled) || s.hold.IsLost() {
				return err
			}
			return s.waitsUntil(due) // the person left
		}
	}
	return nil
}

// waitsUntil is RUN_WAITING for a step that waits until a moment, which the report has too.
func (s *waitRun) waitsUntil(due int64) error {
	s.report.ResumeAtMs = due
	left := max(due-s.NowMs(), 0)
	f := s.waitingFault(fmt.Sprintf("waits until %s, for %s from now", event.TimeText(due), period.Text(left)),
		"Continue with %s: at a terminal it waits, and elsewhere it leaves the run until the moment is reached. %s continues every run "+
			"whose wait is over.", s.continueLine(), s.OfStore(fault.Command{"due", "--run"}))
	return fault.Of(f).With("untilMs", due)
}

// dueAt returns the moment until which the step waits. A person who is present is asked for the
// value of a placeholder that names none; otherwise nothing is recorded.
func (s *waitRun) dueAt(ctx context.Context, req *advance.Request) (int64, error) {
	if s.step.Wait.Placeholder() == "" {
		return s.answer.Pending.Wait.UntilMs, nil
	}
	for {
		due, err := wait.DueAt(*s.step.Wait, 0, s.varsWith(req.Context))
		var why *wait.Unfilled
		if !errors.As(err, &why) {
			return due, err
		}
		if !s.Person.Present() || strings.Contains(why.Key, ".") || s.cmd.loopOf(why.Key) != "" {
			return 0, s.noMoment(why)
		}
		text, err := s.Person.Ask(ctx, ports.Question{Key: why.Key, Text: "The step waits until (" + period.InstantLike + ")"})
		if err != nil {
			return 0, err
		}
		if req.Context.IsNull() {
			req.Context = canon.OfMembers()
		}
		req.Context = req.Context.With(why.Key, inputValue(choices.Input{}, text))
	}
}

// noMoment is RUN_WAITING for a wait whose placeholder names no instant. It names the key and where a
// value can come from, not the value.
func (s *waitRun) noMoment(why *wait.Unfilled) error {
	key, _, _ := strings.Cut(why.Key, ".")
	f := s.waitingFault(fmt.Sprintf("waits until {{%s}}, which %s%s", why.Key, why.Why, s.cmd.origin(key)),
		"Continue with %s, or set it without performing the step: %s.", s.continueLine("--set", key+"=INSTANT"),
		s.SubmitLine(s.report.Run, "--set", key+"=INSTANT"))
	return fault.Of(f).With("inputs", []string{key}).With("placeholder", why.Key).With("why", why.Why)
}
