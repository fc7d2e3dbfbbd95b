package perform

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/workflow/placeholder"
	"github.com/waybill/waybill/ports"
)

// runCommand performs the step's action, unless its result is known. All tries together are one attempt,
// whose result is that of the last try; only an error of the port, such as an
// interruption, leaves no result.
func (s *stepRun) runCommand(ctx context.Context, req *advance.Request) error {
	if !s.mustRun(req.Context) {
		return nil
	}
	action := *s.step.Action
	c := s.command(req.Context)
	tries, pauseMs := 1, int64(0)
	if action.Retry != nil {
		tries, pauseMs = max(1, action.Retry.MaxAttempts), int64(action.Retry.BackoffSeconds)*1000
	}
	var durationMs int64
	for made := 1; ; made++ {
		s.Display.TryBegan(TryView{Argv: c.Argv, Cwd: c.Cwd, Try: made, Of: tries})
		out, err := s.Commands.Try(ctx, c)
		if errors.Is(err, ports.ErrOutside) {
			return s.unfilled(s.outside())
		}
		if err != nil {
			return err
		}
		durationMs += out.DurationMs
		end := TryEnd{CommandOutcome: out, Last: out.OK() || made == tries}
		if !end.Last {
			end.PauseMs = pauseMs
		}
		s.Display.TryEnded(end)
		if end.Last {
			s.fix = out.Fix
			s.result = &command.Result{Kind: command.Kind, ArgvDigest: command.ArgvDigest(action),
				ExitStatus: out.ExitStatus, Failure: out.Failure, DurationMs: durationMs, Tries: int64(made),
				OutputBytes: out.OutputBytes, OutputDigest: out.OutputDigest, FilledDigest: s.filled.Digest,
				Stdout: &out.Stdout, Stderr: &out.Stderr}
			s.outputTail = cmp.Or(out.OutputTail, out.OutputHead)
			s.collectOutputs(out, req.Context)
			return nil
		}
		if err := s.Pause(ctx, pauseMs); err != nil {
			return err
		}
	}
}

// mustRun reports that the command has to run. It does not where its result is
// known: of this call, or of an earlier attempt that lacked outputs which the
// context has by now.
func (s *stepRun) mustRun(given canon.Value) bool {
	if s.step.Action == nil || s.result != nil {
		return false
	}
	if len(s.step.Outputs) == 0 || !s.known.kinds[command.Kind] || s.known.refusedAt(reason.WorkflowStep(s.step.StepID)) {
		return true
	}
	set := event.GivenKeys(s.known.given, given)
	for key := range s.step.Outputs {
		if _, has := slices.BinarySearch(set, key); !has {
			return true
		}
	}
	return false
}

// command is one try of the step's command, filled, with the private files that
// it gets (docs/design.md#results-of-commands).
func (s *stepRun) command(given canon.Value) ports.Command {
	vars := event.MergeContext(s.answer.Context(), given)
	doc := canon.OfMembers(canon.Member{Name: "context", Value: vars},
		canon.Member{Name: "loop", Value: interpreter.LoopVariablesAt(s.flow, s.loops(), vars)})
	return ports.Command{Argv: s.filled.Argv, Cwd: s.filled.Cwd, Env: s.environment(),
		Below:     s.flow.Form2() && !s.step.Action.Literal && placeholder.In(s.step.Action.Cwd),
		TimeoutMs: int64(s.step.Action.TimeoutSeconds) * 1000, Folder: s.answer.AttemptID.String(), Context: doc.JCS(),
		Whole: len(s.step.Outputs) > 0}
}

// collectOutputs takes the declared outputs from what a successful command
// wrote. They are sent with its result. What exceeds the context is left out, as
// the engine would refuse the attempt and the result with it.
func (s *stepRun) collectOutputs(out ports.CommandOutcome, given canon.Value) {
	s.values = canon.Value{}
	if !out.OK() || !s.flow.Form2() {
		return
	}
	values, unset, undeclared := command.Yield(s.step.Outputs, command.Written{Stdout: out.Whole,
		StdoutBytes: out.Stdout.Bytes, File: out.Written, Unread: out.Unread})
	before := event.MergeContext(s.answer.Context(), given)
	for i := range values.Len() {
		key, v := values.Key(i), values.Item(i)
		after := s.values.With(key, v)
		if why := advance.Unfit(event.MergeContext(before, after), v); why != "" {
			unset = append(unset, command.UnsetOutput{Key: key, Why: why})
			continue
		}
		s.values = after
	}
	s.result.Unset, s.result.Undeclared = unset, undeclared
}

// environment is the action's environment with the ids of the attempt added.
// The attempt id is the same after a crash, so a command that must not repeat
// its work can recognize a repetition.
func (s *stepRun) environment() map[string]string {
	env := map[string]string{}
	maps.Copy(env, s.filled.Env)
	maps.Copy(env, map[string]string{"WAYBILL_SESSION_ID": s.report.Session.String(),
		"WAYBILL_RUN_ID": s.report.Run.String(), "WAYBILL_STEP_ID": s.step.StepID,
		"WAYBILL_ATTEMPT_ID": s.answer.AttemptID.String()})
	return env
}
