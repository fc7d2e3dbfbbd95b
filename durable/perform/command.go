package perform

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/workflow/placeholder"
	"github.com/waybill/waybill/ports"
)

// commandRun is the command of a step: its values, and what it yielded.
type commandRun struct {
	*stepRun
	filled command.Filled // with the values of the context
	values canon.Value    // outputs, sent with the result
	// outputTail is the end of both outputs, for an error.
	outputTail string
}

// run performs the step's action, unless its result is known. All tries together are one attempt,
// whose result is that of the last try; only an error of the port, such as an
// interruption, leaves no result.
func (c *commandRun) run(ctx context.Context, req *advance.Request) error {
	if !c.mustRun(req.Context) {
		return nil
	}
	action := *c.step.Action
	try := c.command(req.Context)
	tries, pauseMs := 1, int64(0)
	if action.Retry != nil {
		tries, pauseMs = max(1, action.Retry.MaxAttempts), int64(action.Retry.BackoffSeconds)*1000
	}
	var durationMs int64
	for made := 1; ; made++ {
		c.Display.TryBegan(TryView{Argv: try.Argv, Cwd: try.Cwd, Env: c.filled.Env, Try: made, Of: tries})
		out, err := c.Commands.Try(ctx, try)
		if errors.Is(err, ports.ErrOutside) {
			return c.unfilled(c.outside())
		}
		if err != nil {
			return err
		}
		durationMs += out.DurationMs
		end := TryEnd{CommandOutcome: out, Last: out.OK() || made == tries}
		if !end.Last {
			end.PauseMs = pauseMs
		}
		c.Display.TryEnded(end)
		if end.Last {
			c.fix = out.Fix
			c.result = &command.Result{Kind: command.Kind, ArgvDigest: command.ArgvDigest(action),
				ExitStatus: out.ExitStatus, Failure: out.Failure, DurationMs: durationMs, Tries: int64(made),
				OutputBytes: out.OutputBytes, OutputDigest: out.OutputDigest, FilledDigest: c.filled.Digest,
				Stdout: &out.Stdout, Stderr: &out.Stderr}
			c.outputTail = cmp.Or(out.OutputTail, out.OutputHead)
			c.collectOutputs(out, req.Context)
			return nil
		}
		if err := c.Pause(ctx, pauseMs); err != nil {
			return err
		}
	}
}

// mustRun reports that the command has to run. It does not where its result is
// known: of this call, or of an earlier attempt that lacked outputs which the
// context has by now.
func (c *commandRun) mustRun(given canon.Value) bool {
	if c.step.Action == nil || c.result != nil {
		return false
	}
	if len(c.step.Outputs) == 0 || !c.known.kinds[command.Kind] || c.known.refusedAt(reason.WorkflowStep(c.step.StepID)) {
		return true
	}
	set := event.GivenKeys(c.known.given, given)
	for key := range c.step.Outputs {
		if _, has := slices.BinarySearch(set, key); !has {
			return true
		}
	}
	return false
}

// command is one try of the step's command, filled, with the private files that
// it gets (docs/design.md#results-of-commands).
func (c *commandRun) command(given canon.Value) ports.Command {
	vars := event.MergeContext(c.answer.Context(), given)
	doc := canon.OfMembers(canon.Member{Name: "context", Value: vars},
		canon.Member{Name: "loop", Value: interpreter.LoopVariablesAt(c.flow, c.loops(), vars)})
	whole := 0
	if len(c.step.Outputs) > 0 {
		whole = limits.OutputValueBytesMax
	}
	return ports.Command{Argv: c.filled.Argv, Cwd: c.filled.Cwd, Env: c.environment(),
		Below:     c.flow.Form2() && !c.step.Action.Literal && placeholder.In(c.step.Action.Cwd),
		TimeoutMs: int64(c.step.Action.TimeoutSeconds) * 1000, Folder: c.answer.AttemptID.String(), Context: doc.JCS(),
		Whole: whole}
}

// collectOutputs takes the declared outputs from what a successful command
// wrote. They are sent with its result. What exceeds the context is left out, as
// the engine would refuse the attempt and the result with it.
func (c *commandRun) collectOutputs(out ports.CommandOutcome, given canon.Value) {
	c.values = canon.Value{}
	if !out.OK() || !c.flow.Form2() {
		return
	}
	values, unset, undeclared := command.Yield(c.step.Outputs, command.Written{Stdout: out.Whole,
		StdoutBytes: out.Stdout.Bytes, File: out.Written, Unread: out.Unread})
	before := event.MergeContext(c.answer.Context(), given)
	for i := range values.Len() {
		key, v := values.Key(i), values.Item(i)
		after := c.values.With(key, v)
		if why := advance.Unfit(event.MergeContext(before, after), v); why != "" {
			unset = append(unset, command.UnsetOutput{Key: key, Why: why})
			continue
		}
		c.values = after
	}
	c.result.Unset, c.result.Undeclared = unset, undeclared
}

// environment is the action's environment with the ids of the attempt added.
func (c *commandRun) environment() map[string]string {
	env := map[string]string{}
	maps.Copy(env, c.filled.Env)
	maps.Copy(env, identity(c.report.Session, c.report.Run, c.step.StepID, c.answer.AttemptID))
	return env
}
