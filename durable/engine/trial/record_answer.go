package trial

import (
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/durable/workflow/workflowtest"
)

// answerOf returns a recorded attempt as an answer. Secrets that its texts hold are not copied.
func (r *Recording) answerOf(step compile.Step, attempt advance.Attempt) workflowtest.Answer {
	req := attempt.Request
	a := workflowtest.Answer{Notes: redact.Text(req.Notes, nil), Context: req.Context}
	for _, artifact := range req.Artifacts {
		switch artifact.Kind() {
		case command.Kind:
			if result, err := command.Decode(artifact.JSON); err == nil {
				r.command(&a, step, result)
			}
		case check.Kind:
			if result, err := check.Decode(artifact.JSON); err == nil {
				r.check(&a, step, result)
			}
		case host.Kind:
			if result, err := host.Decode(artifact.JSON); err == nil && result.Error != nil {
				a.Ran = workflowtest.Ran{Exit: 1, Stderr: result.Error.Message}
			}
		default:
			switch {
			case advance.IsObserved(artifact.Kind()): // the end of a wait
			case artifact.JSON.IsNull():
				r.warn("an artifact of step %q of type %s, since a case has JSON only", step.StepID, artifact.ContentType)
			default:
				a.Artifacts = append(a.Artifacts, redact.Value(artifact.JSON, nil))
			}
		}
	}
	if a.Context.Len() == 0 {
		a.Context = canon.Value{}
	}
	a.Context = redact.Value(a.Context, nil)
	return a
}

// command adds the result of a command. The outputs that it yielded are what it wrote, and no context.
func (r *Recording) command(a *workflowtest.Answer, step compile.Step, result command.Result) {
	a.Ran = workflowtest.Ran{Exit: result.ExitStatus}
	if result.Failure != "" && result.ExitStatus == 0 {
		a.Ran.Exit = -1
	}
	if result.Stdout != nil {
		a.Ran.Stdout, a.Ran.Stderr = r.stream(step, *result.Stdout), r.stream(step, *result.Stderr)
	}
	if !result.OK() {
		return
	}
	written := canon.OfMembers()
	for _, key := range slices.Sorted(maps.Keys(step.Outputs)) {
		v, has := a.Context.Get(key)
		if !has {
			continue
		}
		pointer, ok := strings.CutPrefix(step.Outputs[key], source.OutputJSONPrefix)
		switch tokens := canon.PointerTokens(pointer); {
		case !ok && strings.TrimSpace(a.Ran.Stdout) == v.Text():
		case ok && len(tokens) == 1:
			written = written.With(tokens[0], v)
		default:
			continue // the answer brings it as context
		}
		a.Context = a.Context.Without(key)
	}
	if written.Len() > 0 {
		a.Output = redact.Value(written, nil)
	}
}

// stream is what was recorded of an output.
func (r *Recording) stream(step compile.Step, s command.Stream) string {
	if s.Omitted > 0 {
		r.warn("the middle of what the command of step %q printed, which was not kept", step.StepID)
	}
	return redact.Text(s.Head+s.Tail, nil)
}

// check adds the result of a check, unless it passed.
func (r *Recording) check(a *workflowtest.Answer, step compile.Step, result check.Result) {
	i := slices.IndexFunc(step.Checks, func(c source.Check) bool { return c.ID == result.CheckID })
	if i < 0 || check.Judge(step.Checks[i], result) == "" {
		return
	}
	ran := workflowtest.Ran{Exit: result.Exit, Stdout: r.stream(step, result.Stdout), Stderr: redact.Text(result.Stderr.Head+result.Stderr.Tail, nil)}
	// One that did not run, or whose output was not kept whole, fails by its status.
	if want := step.Checks[i].ExitStatus(); ran.Exit == want && (result.Failure != "" || len(result.Changed) > 0 || result.Stdout.Omitted > 0) {
		ran.Exit = want + 1
	}
	if a.Checks == nil {
		a.Checks = map[string]workflowtest.Ran{}
	}
	a.Checks[result.CheckID] = ran
}
