package perform

import (
	"context"
	"errors"
	"fmt"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/host"
)

// A host step is performed by a function of the program, where Performer.Hosts has one
// (docs/design.md#host-steps). A delay is a wait with another record: its moment is a function of the
// log, so that a performer that is killed meanwhile continues the same delay.

// hostRun is the host step of a run.
type hostRun struct {
	*stepRun
	result *host.Result // of this call
}

// begin refuses a host step that this performer leaves to the host, before anything is asked. A step
// whose failure is recorded is ended by every performer: the one that recorded it was interrupted.
func (s *hostRun) begin(ctx context.Context) error {
	pending := s.answer.Pending.Host
	switch {
	case s.step.Host == nil || pending == nil:
		return nil
	case pending.Error != nil:
		return s.fail(ctx, *pending.Error)
	case s.Hosts == nil && !s.answer.OutputsSubmitted():
		return s.leftToHost()
	case s.answer.SentBack() && s.opts.Context.IsNull():
		return s.waitingFault("was sent back, and the host would hand in the same result", "Approve or deny it at a terminal: %s.",
			s.approveLine())
	}
	return nil
}

// leftToHost is RUN_WAITING for a step that this performer does not perform.
func (s *hostRun) leftToHost() error {
	return s.waitingFault("is performed by the host ("+s.step.Host.TypeID+"), and by nothing else", "%s performs it.",
		s.OfStore(fault.Command{"serve"}))
}

// run performs the host step, after the moment of a delay, and adds its result to the request.
func (s *hostRun) run(ctx context.Context, req *advance.Request) error {
	switch {
	case s.step.Host == nil:
		return nil
	case s.Hosts == nil: // the outputs were sent back
		return s.leftToHost()
	}
	if due, delays := host.DueAt(*s.step.Host, s.answer.Pending.Host.SinceMs, s.varsWith(req.Context)); delays {
		if _, err := s.reach(ctx, due, s.pause); err != nil {
			return err
		}
	}
	do := host.Step{Step: *s.step.Host, StepInstanceKey: s.answer.Pending.StepInstanceKey,
		Context: event.MergeContext(s.answer.Context(), req.Context)}
	if do.Gate() {
		if waits, err := s.answered(&do, req); waits || err != nil {
			return err
		}
	}
	r, err := s.Hosts(do)
	if errors.Is(err, host.ErrUnsupported) {
		return s.waitingFault("is of the type "+s.step.Host.TypeID+", which this version does not perform",
			"Cancel the run with %s, or continue it with a version that does.",
			s.OfStore(fault.Command{"runs", "cancel", s.report.Run.String()}))
	}
	if err != nil {
		return err
	}
	artifact, err := r.Value()
	if err != nil {
		return fault.Wrap(err, fault.Internal, "the result of step %q cannot be written as JSON", s.step.StepID)
	}
	s.result = &r
	if added := host.ContextOf(*s.step.Host, r); !added.IsNull() {
		req.Context = event.MergeContext(req.Context, added)
	}
	req.Response = r.Last()
	req.Artifacts = append(req.Artifacts, advance.JSONArtifact(artifact))
	return nil
}

// answered completes a gate with its answer, or with the end of its time. waits reports that it has neither, and that an
// attempt is made for the context all the same, so that it is recorded. Without one the run waits.
func (s *hostRun) answered(do *host.Step, req *advance.Request) (waits bool, err error) {
	pending := s.answer.Pending.Host
	do.Responses = pending.Responses
	switch {
	case pending.ExpiresMs != 0 && s.NowMs() >= pending.ExpiresMs:
		do.TimedOut = true
	case s.opts.Answer != nil:
		do.Answer, s.opts.Answer = s.opts.Answer, nil
	case req.Context.Len() > 0:
		return true, nil
	default:
		return false, s.unanswered()
	}
	return false, nil
}

// unanswered is RUN_WAITING for a gate. Without an answer the run is called again when the time of the gate is over.
func (s *hostRun) unanswered() error {
	s.report.ResumeAtMs = s.answer.Pending.Host.ExpiresMs
	return s.waitingFault("waits for an answer from outside ("+s.step.Host.TypeID+")",
		"A program answers its interrupt at %s.", s.OfStore(fault.Command{"serve"}))
}

// waits reports that a gate has answers, and needs more.
func (s *hostRun) waits() bool {
	return s.result != nil && s.result.Outcome == host.Waiting && !s.overtaken
}

// pause waits for the moment of a delay: it is short, so that the performer stays, unless
// Options.NoWait is set. The end of the run ends the pause.
func (s *hostRun) pause(ctx context.Context, due int64) error {
	if s.opts.NoWait {
		s.report.ResumeAtMs = due
		return fault.Of(s.waitingFault("lasts until "+event.TimeText(due), "%s continues the run then.",
			s.OfStore(fault.Command{"serve"}))).With("untilMs", due)
	}
	return s.Pause(ctx, due-s.NowMs())
}

// failed reports that the step failed and that this is on record.
func (s *hostRun) failed() bool {
	return s.result != nil && s.result.Outcome == host.Failed && !s.overtaken
}

// fail ends the run with the error of the host step, which is on record.
func (s *hostRun) fail(ctx context.Context, why host.Error) error {
	ctx = context.WithoutCancel(ctx)
	err := s.repeat(ctx, func() error {
		end, err := s.Engine.Fail(ctx, s.hold, s.caller(), s.answer.Position(),
			reason.Clip(why.Message, limits.SummaryBytesMax))
		if err == nil {
			s.answer.Status = end.Status
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("ending the run: %w", err)
	}
	// finish makes the error of what is recorded.
	return s.withIDs(fault.New(fault.RunClosed, "%s failed (%s): %s", s.stepPhrase(), why.Code, why.Message))
}
