package perform

import (
	"context"
	"maps"

	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
)

// runCommand performs the step's action, unless its result is known. All tries together are one attempt,
// whose result is that of the last try; only an error of the port, such as an
// interruption, leaves no result.
func (s *stepRun) runCommand(ctx context.Context, _ *advance.Request) error {
	if s.step.Action == nil || s.result != nil {
		return nil
	}
	action := *s.step.Action
	c := ports.Command{Argv: action.Argv, Cwd: action.Cwd, Env: s.environment(action),
		TimeoutMs: int64(action.TimeoutSeconds) * 1000}
	// Arguments are passed unchanged. Templates like {{path}} are for prompts
	// only: text that a user typed must never become a part of a command.
	tries, pauseMs := 1, int64(0)
	if action.Retry != nil {
		tries, pauseMs = max(1, action.Retry.MaxAttempts), int64(action.Retry.BackoffSeconds)*1000
	}
	var durationMs int64
	for made := 1; ; made++ {
		s.Display.TryBegan(TryView{Argv: action.Argv, Cwd: action.Cwd, Try: made, Of: tries})
		out, err := s.Commands.Try(ctx, c)
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
				OutputBytes: out.OutputBytes, OutputDigest: out.OutputDigest, OutputHead: out.OutputHead,
				OutputTail: out.OutputTail}
			return nil
		}
		if err := s.Pause(ctx, pauseMs); err != nil {
			return err
		}
	}
}

// environment is the action's environment with the ids of the attempt added.
// The attempt id is the same after a crash, so a command that must not repeat
// its work can recognize a repetition.
func (s *stepRun) environment(a source.Action) map[string]string {
	env := map[string]string{}
	maps.Copy(env, a.Env)
	maps.Copy(env, map[string]string{"WAYBILL_SESSION_ID": s.report.Session.String(),
		"WAYBILL_RUN_ID": s.report.Run.String(), "WAYBILL_STEP_ID": s.step.StepID,
		"WAYBILL_ATTEMPT_ID": s.answer.AttemptID.String()})
	return env
}
