package perform

import (
	"context"
	"maps"

	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
)

// command performs the step's action. All tries together are one attempt, and the
// result speaks of the last one; only an end from outside leaves no result.
func (t *turn) command(ctx context.Context) error {
	action := *t.step.Action
	c := ports.Command{Argv: action.Argv, Cwd: action.Cwd, Env: t.environment(action),
		TimeoutMs: int64(action.TimeoutSeconds) * 1000}
	// Arguments are passed as they stand: {{path}} is for prompts, since a value that
	// somebody typed must never become a part of a command.
	tries, pauseMs := 1, int64(0)
	if action.Retry != nil {
		tries, pauseMs = max(1, action.Retry.MaxAttempts), int64(action.Retry.BackoffSeconds)*1000
	}
	var out ports.CommandOutcome
	var lastedMs int64
	made := 0
	for made < tries {
		made++
		t.Display.TryBegan(TryView{Argv: action.Argv, Cwd: action.Cwd, Try: made, Of: tries})
		var err error
		if out, err = t.Commands.Try(ctx, c); err != nil {
			return err
		}
		lastedMs += out.DurationMs
		end := TryEnd{CommandOutcome: out, Last: out.OK() || made == tries}
		if !end.Last {
			end.AgainInMs = pauseMs
		}
		t.Display.TryEnded(end)
		if end.Last {
			break
		}
		if err := t.Pause(ctx, pauseMs); err != nil {
			return err
		}
	}
	t.fix = out.Fix
	t.result = &command.Result{Kind: command.Kind, ArgvDigest: command.ArgvDigest(action), ExitStatus: out.ExitStatus,
		Failure: out.Failure, DurationMs: lastedMs, Tries: int64(made), OutputBytes: out.OutputBytes,
		OutputDigest: out.OutputDigest, OutputHead: out.OutputHead, OutputTail: out.OutputTail}
	return nil
}

// environment is the action's own with the ids of the attempt over it. The attempt
// is the same one after a crash: a command that must not do its work twice can
// tell by it.
func (t *turn) environment(a source.Action) map[string]string {
	env := maps.Clone(a.Env)
	if env == nil {
		env = map[string]string{}
	}
	env["WAYBILL_SESSION_ID"] = t.report.Session.String()
	env["WAYBILL_RUN_ID"] = t.report.Run.String()
	env["WAYBILL_STEP_ID"] = t.step.StepID
	env["WAYBILL_ATTEMPT_ID"] = t.answer.AttemptID.String()
	return env
}
