package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/host"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/run/testreport"
	"github.com/waybill/waybill/durable/run/wait"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/durable/workflow/workflowtest"
	"github.com/waybill/waybill/ports"
)

// handIn hands an answer in at the pending step.
type handIn struct {
	*player
	step   compile.Step
	answer workflowtest.Answer
	req    advance.Request
	// failed is why a host step failed, nil if it did not.
	failed *host.Error
}

// perform makes the attempt, and what people decide about it.
func (h *handIn) perform(ctx context.Context) error {
	h.req = advance.Request{Notes: h.answer.Notes, Context: h.answer.Context}
	for _, v := range h.answer.Artifacts {
		h.req.Artifacts = append(h.req.Artifacts, advance.JSONArtifact(v.AtLine(0)))
	}
	for _, add := range []func() error{h.command, h.wait, h.host, h.check} {
		if err := add(); err != nil || h.stopped != "" {
			return err
		}
	}
	node := h.now.NodeID
	if err := h.attempt(ctx); err != nil {
		return err
	}
	if h.failed != nil { // its attempt is refused, and the performer ends the run
		h.refuse()
		h.refused = nil
		return h.failRun(ctx)
	}
	if h.answer.Decision.Word != workflowtest.Undecided {
		return h.decide(ctx, h.now.NodeID != node)
	}
	h.refuse()
	return nil
}

// refuse records the blockers of the last attempt, if it was refused.
func (h *handIn) refuse() {
	var all []Blocker
	for _, b := range h.now.Blockers {
		all = append(all, blockerOf(h.step.StepID, b))
	}
	h.refusedWith(all)
}

// attempt makes one attempt. The performer makes it where something was observed.
func (h *handIn) attempt(ctx context.Context) error {
	observed := slices.ContainsFunc(h.req.Artifacts, func(a advance.Artifact) bool { return advance.IsObserved(a.Kind()) })
	at, attempt := h.now.Position(), h.now.AttemptID
	by := h.caller(event.Agent, "", performerAccount)
	if !observed {
		a, err := h.e.Advance(ctx, by, at, attempt, h.req)
		if err == nil {
			h.answered(a)
		}
		return err
	}
	sent := slices.ContainsFunc(h.answer.Artifacts, func(v canon.Value) bool {
		kind, _ := v.Get("kind")
		return advance.IsObserved(kind.Text())
	})
	if sent {
		return fault.New(fault.ValidationError, "an artifact is of a kind that only performers record; give exit, stdout, stderr, "+
			"output or checks instead")
	}
	return ports.WithHold(ctx, onlyPerformer{}, at.Session, func(hold ports.Hold) error {
		a, err := h.e.Perform(ctx, hold, by, at, attempt, h.req)
		if err == nil {
			h.answered(a)
		}
		return err
	})
}

// vars are the variables of the loops around the step and the context, with that of the answer.
func (h *handIn) vars() canon.Value {
	loops, _, _ := snapshot.ParseKey(h.now.Pending.StepInstanceKey)
	return interpreter.VariablesAt(h.w, loops, event.MergeContext(h.now.Context(), h.req.Context))
}

// fill fills the placeholders of a command. A command with one that has no value is not performed.
func (h *handIn) fill(a source.Action) (f command.Filled, ok bool, err error) {
	if !h.w.Form2() {
		a.Literal = true
	}
	f, err = command.Fill(a, h.vars())
	var why *command.Unfilled
	if errors.As(err, &why) {
		h.stopped = fmt.Sprintf("the command of step %q is not performed: %s", h.step.StepID, why.Error())
		return f, false, nil
	}
	return f, err == nil, err
}

// command adds the result of the step's command, and the outputs that it yields.
func (h *handIn) command() error {
	if h.step.Action == nil {
		return nil
	}
	filled, ok, err := h.fill(*h.step.Action)
	if !ok {
		return err
	}
	ran := h.answer.Ran
	stdout, stderr := streamOf(ran.Stdout), streamOf(ran.Stderr)
	r := command.Result{Kind: command.Kind, ArgvDigest: command.ArgvDigest(*h.step.Action), ExitStatus: ran.Exit, Tries: 1,
		OutputBytes: int64(len(ran.Stdout) + len(ran.Stderr)), OutputDigest: canon.Sum([]byte(ran.Stdout + ran.Stderr)),
		FilledDigest: filled.Digest, Stdout: &stdout, Stderr: &stderr}
	if ran.Exit < 0 {
		r.Failure = "it was ended"
	}
	if r.OK() && h.w.Form2() {
		h.yield(&r)
	}
	v, err := canon.ValueOf(r)
	if err == nil {
		h.req.Artifacts = append(h.req.Artifacts, advance.JSONArtifact(v))
	}
	return err
}

// yield adds the outputs of the command to the context, as a performer does.
func (h *handIn) yield(r *command.Result) {
	written := command.Written{StdoutBytes: int64(len(h.answer.Ran.Stdout))}
	if written.StdoutBytes <= limits.OutputValueBytesMax {
		written.Stdout = []byte(h.answer.Ran.Stdout)
	}
	switch out := h.answer.Output; out.Kind() {
	case canon.Object:
		written.File = out.JCS()
	case canon.String:
		written.File = []byte(out.Text())
	}
	values, unset, undeclared := command.Yield(h.step.Outputs, written)
	for i := range values.Len() {
		key, v := values.Key(i), values.Item(i)
		before := event.MergeContext(h.now.Context(), h.req.Context)
		if why := advance.Unfit(before.With(key, v), v); why != "" {
			unset = append(unset, command.UnsetOutput{Key: key, Why: why})
			continue
		}
		if h.req.Context.IsNull() {
			h.req.Context = canon.OfMembers()
		}
		h.req.Context = h.req.Context.With(key, v)
	}
	r.Unset, r.Undeclared = unset, undeclared
}

// streamOf is what is recorded of an output.
func streamOf(text string) command.Stream {
	const part = limits.StreamHeadBytesMax // the tail has as many
	s := command.Stream{Bytes: int64(len(text)), Head: text}
	if len(text) <= part {
		return s
	}
	cut := part
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	s.Head, s.Tail = text[:cut], text[cut:]
	if len(s.Tail) > part {
		from := len(s.Tail) - part
		for !utf8.RuneStart(s.Tail[from]) {
			from++
		}
		s.Omitted, s.Tail = int64(from), s.Tail[from:]
	}
	return s
}

// wait lets the moment come until which the step waits.
func (h *handIn) wait() error {
	if h.step.Wait == nil || h.now.Pending.Wait == nil {
		return nil
	}
	due := h.now.Pending.Wait.UntilMs
	if h.now.Pending.Wait.Unset != "" {
		at, err := wait.DueAt(*h.step.Wait, 0, h.vars())
		var why *wait.Unfilled
		if errors.As(err, &why) {
			return nil // the attempt is refused, and says so
		}
		if err != nil {
			return err
		}
		due = at
	}
	h.clock = max(h.clock, due)
	over := wait.Over{DueAtMs: due, OverAtMs: h.clock, StepInstanceKey: h.now.Pending.StepInstanceKey}
	h.req.Artifacts = append(h.req.Artifacts, advance.JSONArtifact(over.Value()))
	return nil
}

// host adds the result of a step that a host performs. An exit status other than 0 is a failure, whose
// message is stderr.
func (h *handIn) host() error {
	if h.step.Host == nil {
		return nil
	}
	r, err := host.Perform(host.Step{Step: *h.step.Host, StepInstanceKey: h.now.Pending.StepInstanceKey,
		Context: event.MergeContext(h.now.Context(), h.req.Context)})
	if err != nil && !errors.Is(err, host.ErrUnsupported) {
		return err
	}
	if h.answer.Output.Kind() == canon.Object {
		r.Outputs = h.answer.Output
	}
	if h.answer.Ran.Exit != 0 {
		message := h.answer.Ran.Stderr
		if message == "" {
			message = "The host step failed."
		}
		r.Outcome, r.Outputs = host.Failed, canon.Value{}
		r.Error = &host.Error{Code: "host_step_failed", Message: reason.Clip(message, limits.SummaryBytesMax)}
	}
	h.failed = r.Error
	v, err := r.Value()
	if err == nil {
		h.req.Artifacts = append(h.req.Artifacts, advance.JSONArtifact(v))
	}
	return err
}

// failRun ends the run after a host step that failed.
func (h *handIn) failRun(ctx context.Context) error {
	at := h.now.Position()
	return ports.WithHold(ctx, onlyPerformer{}, at.Session, func(hold ports.Hold) error {
		end, err := h.e.Fail(ctx, hold, h.caller(event.Agent, "", performerAccount), at, h.failed.Message)
		if err == nil {
			h.status = string(end.Status)
		}
		return err
	})
}

// check adds the results of the step's checks, for this attempt.
func (h *handIn) check() error {
	for _, c := range h.step.Checks {
		filled, ok, err := h.fill(c.Action())
		if !ok {
			return err
		}
		ran, given := h.answer.Checks[c.ID]
		r := check.Result{Kind: check.Kind, ArgvDigest: check.ArgvDigest(c), AttemptID: h.now.AttemptID, CheckID: c.ID,
			StepInstanceKey: h.now.Pending.StepInstanceKey, FilledDigest: filled.Digest, Exit: ran.Exit}
		if ran.Exit < 0 {
			r.Failure = "it was ended"
		}
		if !given || ran.Passes {
			r = passing(c, r)
		} else {
			r.Observe(c, []byte(ran.Stdout), true)
			r.Stdout, r.Stderr = streamOf(ran.Stdout), streamOf(ran.Stderr)
		}
		r.OutputBytes = int64(len(ran.Stdout) + len(ran.Stderr))
		r.OutputDigest = canon.Sum([]byte(ran.Stdout + ran.Stderr))
		v, err := r.Encode()
		if err != nil {
			return err
		}
		h.req.Artifacts = append(h.req.Artifacts, advance.JSONArtifact(v))
	}
	return nil
}

// passing is the result of a check that is what the check expects.
func passing(c source.Check, r check.Result) check.Result {
	r.Exit = c.ExitStatus()
	if c.Expect == nil {
		return r
	}
	if c.Expect.Tests != nil {
		passed := 1
		if c.Expect.Tests.Min != nil {
			passed = *c.Expect.Tests.Min
		}
		r.Tests = &testreport.Counts{Format: testreport.FormatTAP, Passed: passed}
	}
	if want := c.Expect.Stdout; want != nil {
		for _, v := range []canon.Value{want.Equals, want.GTE, want.LTE, want.Contains} {
			if !v.IsNull() {
				r.Value = v
				if v.Kind() != canon.String && !want.Contains.IsNull() && want.Equals.IsNull() {
					r.Value = canon.OfList(v)
				}
				break
			}
		}
	}
	return r
}

// decide records what people decide about what was handed in. moved: the attempt was accepted at once, so
// that nothing is left to be decided.
func (h *handIn) decide(ctx context.Context, moved bool) error {
	word := h.answer.Decision.Word
	if moved || h.now.Pending == nil {
		h.player.fail(Failure{What: "answers", Line: h.answer.Line,
			Message: fmt.Sprintf("answer %d of step %q has %s, and the step asked for no approval", h.visits[h.step.StepID], h.step.StepID, word)})
		return nil
	}
	if !waitForApproval(h.now.Blockers, h.step.StepID) {
		h.refuse()
		return nil
	}
	h.implied = append(h.implied, blockerOf(h.step.StepID, h.now.Blockers[0]))
	switch word {
	case workflowtest.SendBack:
		h.refused = nil
		return h.record(ctx, unnamed(0), event.SentBack, h.answer.Decision.Reason)
	case workflowtest.Deny:
		h.refused = nil
		return h.record(ctx, unnamed(0), event.Denied, h.answer.Decision.Reason)
	}
	by := h.answer.Decision.By
	if len(by) == 0 {
		for i := range max(1, h.step.RequireConfirmation.Count) {
			by = append(by, unnamed(i))
		}
	}
	for _, name := range by {
		if err := h.record(ctx, name, event.Approved, ""); err != nil {
			return err
		}
	}
	// The step is left with another attempt, without outputs; its checks run again.
	h.req = advance.Request{}
	if err := h.check(); err != nil || h.stopped != "" {
		return err
	}
	if err := h.attempt(ctx); err != nil {
		return err
	}
	h.refuse()
	return nil
}

// record records a decision of a person.
func (h *handIn) record(ctx context.Context, name string, word event.DecisionWord, text string) error {
	a, err := h.e.Decide(ctx, h.caller(event.Human, name, h.people[name]), engine.Approvable{Position: h.now.Position()}, word, text)
	if err == nil {
		h.answered(a)
	}
	return err
}
