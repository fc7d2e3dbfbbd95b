package perform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
)

// checking performs the checks of a step in one attempt (docs/design.md#checks).
type checking struct {
	commands ports.Commands
	pins     ports.Pins
	fixed    trust.Fixed // what the person trusted
	flow     compile.Compiled
	step     compile.Step
	session  id.Session
	run      id.Run
	attempt  id.Attempt
	key      string      // step instance key
	context  canon.Value // with that of the attempt
	// began and ended report each check; nil: they are not shown.
	began func(TryView)
	ended func(TryEnd)
}

// perform runs all checks in order and returns their results. All of them run, also after one that
// failed, so that one further attempt can satisfy all. Errors: that of ctx, and those of the ports.
func (k *checking) perform(ctx context.Context) ([]check.Result, error) {
	var results []check.Result
	place := k.pins.Place(ctx)
	for _, c := range k.step.Checks {
		r, err := k.one(ctx, c, place)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// one runs a check, unless what it depends on differs from what was trusted, or a value is missing. What
// differs afterwards counts as well: the check, or another process, changed it meanwhile. So does what was
// changed and put back.
func (k *checking) one(ctx context.Context, c source.Check, place ports.Place) (r check.Result, err error) {
	r = check.Result{Kind: check.Kind, ArgvDigest: check.ArgvDigest(c), AttemptID: k.attempt, CheckID: c.ID, Exit: -1,
		OutputDigest: canon.Sum(nil), StepInstanceKey: k.key, Root: place.Root, GitHead: place.GitHead}
	before, err := k.pins.Compare(ctx, c, k.fixed)
	if r.Pins, r.Changed = before.Pins, before.Changed; err != nil || len(r.Changed) > 0 {
		r.Failure = "it did not run, since files that it depends on are not as they were when the workflow was trusted"
		return r, err
	}
	filled, err := command.Fill(c.Action(), k.vars())
	var why *command.Unfilled
	switch {
	case errors.As(err, &why):
		r.Failure = fmt.Sprintf("it did not run: %s; give it a value as context, or with --set %s=VALUE", why.Error(),
			reason.Clip(why.Key, limits.ContextKeyMax))
		return r, nil
	case err != nil:
		return r, err
	}
	r.FilledDigest = filled.Digest
	if k.began != nil {
		k.began(TryView{Check: c.ID, Argv: filled.Argv, Cwd: filled.Cwd, Env: filled.Env, Try: 1, Of: 1})
	}
	out, err := k.commands.Try(ctx, k.command(c, filled))
	if errors.Is(err, ports.ErrOutside) {
		out, err = ports.CommandOutcome{ExitStatus: -1, Failure: "its folder is not below the root of the project",
			OutputDigest: canon.Sum(nil)}, nil
	}
	if err != nil {
		return r, err
	}
	r.Exit, r.Failure, r.DurationMs = out.ExitStatus, out.Failure, out.DurationMs
	r.OutputBytes, r.OutputDigest, r.Stdout, r.Stderr = out.OutputBytes, out.OutputDigest, out.Stdout, out.Stderr
	r.Observe(c, out.Whole, int64(len(out.Whole)) == out.Stdout.Bytes)
	after, err := k.pins.Compare(ctx, c, k.fixed)
	if r.Changed = after.Since(before); err == nil && k.ended != nil {
		k.ended(TryEnd{CommandOutcome: out, Last: true, Check: c.ID, Unproved: check.Judge(c, r)})
	}
	return r, err
}

// vars are the variables of the loops around the step and the context.
func (k *checking) vars() canon.Value {
	loops, _, _ := snapshot.ParseKey(k.key)
	return interpreter.VariablesAt(k.flow, loops, k.context)
}

// artifactsOf returns results as artifacts.
func artifactsOf(results []check.Result) (out []advance.Artifact, err error) {
	for _, r := range results {
		v, err := r.Encode()
		if err != nil {
			return nil, fault.Wrap(err, fault.Internal, "the result of check %q cannot be written as JSON", r.CheckID)
		}
		out = append(out, advance.JSONArtifact(v))
	}
	return out, nil
}

// command is the command of a check. Nothing of the caller's environment is part of it.
func (k *checking) command(c source.Check, filled command.Filled) ports.Command {
	loops, _, _ := snapshot.ParseKey(k.key)
	doc := canon.OfMembers(canon.Member{Name: "context", Value: k.context},
		canon.Member{Name: "loop", Value: interpreter.LoopVariablesAt(k.flow, loops, k.context)})
	env := map[string]string{}
	maps.Copy(env, filled.Env)
	maps.Copy(env, identity(k.session, k.run, k.step.StepID, k.attempt))
	whole := 0
	if c.Expect != nil && (c.Expect.Tests != nil || c.Expect.Stdout != nil) {
		whole = limits.TestReportBytesMax
	}
	return ports.Command{Argv: filled.Argv, Cwd: filled.Cwd, Below: true, AtRoot: true, Env: env, Environ: k.fixed.Environ(),
		Program:   k.fixed.Programs[c.Program()].Path,
		TimeoutMs: int64(cmp.Or(c.TimeoutSeconds, limits.CheckSecondsDefault)) * 1000,
		Folder:    k.attempt.String(), Context: doc.JCS(), Whole: whole}
}

// runChecks performs the checks of the step and adds their results to the request.
func (s *stepRun) runChecks(ctx context.Context, req *advance.Request) error {
	s.unproved = false
	if len(s.step.Checks) == 0 {
		return nil
	}
	if err := s.allow(ctx); err != nil {
		return err
	}
	k := checking{commands: s.Commands, pins: s.Pins, fixed: s.fixed, flow: s.flow, step: s.step, session: s.report.Session,
		run: s.report.Run, attempt: s.answer.AttemptID, key: s.answer.Pending.StepInstanceKey,
		context: event.MergeContext(s.answer.Context(), req.Context), began: s.Display.TryBegan, ended: s.Display.TryEnded}
	results, err := k.perform(ctx)
	if err != nil {
		return err
	}
	for i, r := range results {
		s.unproved = s.unproved || check.Judge(s.step.Checks[i], r) != ""
	}
	artifacts, err := artifactsOf(results)
	req.Artifacts = append(slices.Clone(req.Artifacts), artifacts...)
	return err
}

// identity are the variables that name the attempt. The attempt id is the same after a crash, so a
// command that must not repeat its work can recognize a repetition.
func identity(session id.Session, run id.Run, step string, attempt id.Attempt) map[string]string {
	return map[string]string{"WAYBILL_SESSION_ID": session.String(), "WAYBILL_RUN_ID": run.String(),
		"WAYBILL_STEP_ID": step, "WAYBILL_ATTEMPT_ID": attempt.String()}
}
