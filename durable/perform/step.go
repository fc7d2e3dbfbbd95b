package perform

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/prompt"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections/runs"
)

// stepRun is the execution of one pending step, until it is accepted.
type stepRun struct {
	*execution
	step  compile.Step
	began int64
	known nodeRecord

	confirmed bool            // the person confirmed this step
	draft     string          // the last typed notes
	retried   bool            // an attempt was refused in this call
	again     bool            // a branch begins at the step, or it was sent back; its outputs are asked for again
	sent      bool            // an attempt was made
	result    *command.Result // of the command, after it ran
	recorded  bool            // the result is on record
	overtaken bool            // another caller recorded this attempt first
	cmd       *commandRun
	host      *hostRun
	unproved  bool             // a check of the last attempt did not prove what it expects
	fix       fault.Suggestion // advice about the command's failure, if known
}

// step performs the pending step until it is accepted or the run has to stop.
func (e *execution) step(ctx context.Context) error {
	pending := e.answer.Pending
	step, ok := e.flow.Step(pending.StepID)
	if !ok {
		return fault.New(fault.Invariant, "the pinned workflow has no step %q, which the engine names", pending.StepID)
	}
	t := &stepRun{execution: e, step: step, began: e.NowMs(), again: e.beginsBranch() || e.answer.SentBack()}
	t.cmd, t.host = &commandRun{stepRun: t}, &hostRun{stepRun: t}
	if t.needsLog() {
		if err := t.refreshKnown(ctx); err != nil {
			return err
		}
	}
	e.Display.StepBegan(t.stepView())
	for {
		// The run may be paused, and the lease lost, since the attempt before.
		if err := cmp.Or(t.checkOpen(), t.confirmHold(ctx)); err != nil {
			return err
		}
		blockers, err := t.attemptOnce(ctx)
		if err != nil {
			return err
		}
		if len(blockers) == 0 {
			e.Display.StepEnded(StepEnd{e.NowMs() - t.began})
			e.branch = id.Node{} // the new node is the preferred tip
			return t.catchUp(ctx)
		}
		if err := t.refreshKnown(ctx); err != nil {
			return err
		}
		if t.overtaken && (t.result != nil || !t.Person.Present()) {
			continue // another caller's attempt was refused; this one is next
		}
		if t.answer.OutputsSubmitted() && onlyApproval(blockers, step.StepID) {
			continue // the outputs are accepted; a person approves them next
		}
		e.Display.Blocked(blockers)
		if t.host.failed() {
			return t.host.fail(ctx, *t.host.result.Error)
		}
		if t.step.Host != nil && t.step.Host.Gate() && (t.host.result == nil || t.host.waits()) {
			return t.host.unanswered()
		}
		if err := t.handleBlockers(blockers); err != nil {
			return err
		}
	}
}

// attemptOnce makes one attempt, preceded by its preconditions. Outputs that
// wait for an approval, or have one, are left unchanged unless the person asks
// for it: new outputs void the approval.
func (s *stepRun) attemptOnce(ctx context.Context) ([]reason.Blocker, error) {
	if err := s.host.begin(ctx); err != nil {
		return nil, err
	}
	if !s.answer.OutputsSubmitted() || s.again && !s.sent {
		if err := s.checkBegin(ctx); err != nil {
			return nil, err
		}
		return s.makeAttempt(ctx)
	}
	notes, again, err := s.obtainApproval(ctx)
	if err != nil {
		return nil, err
	}
	if again {
		return nil, errSentBack
	}
	return s.submit(ctx, advance.Request{Notes: notes, Context: s.opts.Context, Preferences: s.opts.Preferences})
}

// refreshKnown reads what is recorded at the node after a refused attempt. Its
// outputs are not asked for again.
func (s *stepRun) refreshKnown(ctx context.Context) error {
	if _, err := s.view.refresh(ctx, s.Logs); err != nil {
		return err
	}
	s.known = s.view.node(s.answer.NodeID)
	return nil
}

// needsLog reports that the step cannot be performed without reading the log.
// For most steps the engine's answer suffices; it contains neither the context
// nor the outputs of the node.
func (s *stepRun) needsLog() bool {
	return s.branch == s.answer.NodeID || len(s.flow.Inputs)+len(s.step.Inputs) > 0 || s.step.OutputContract != nil ||
		len(s.step.AssessmentRefs) > 0 || s.endsRound() ||
		s.answer.Status == runs.Blocked || s.step.Action != nil && s.concernsPerson()
}

// concernsPerson reports that a person performs the step, or has a part in its
// command.
func (s *stepRun) concernsPerson() bool {
	return !s.step.Automatic() || s.needsNotes() || s.answer.NextIntent == engine.AwaitConfirmation
}

// makeAttempt collects what the step requires, sends it, and returns the
// blockers if the attempt was refused. The order is that of a person's work:
// questions that may stop the step come before the command, which is slow and
// may have effects; notes follow the command, because they describe what it
// did; judgements come last.
func (s *stepRun) makeAttempt(ctx context.Context) ([]reason.Blocker, error) {
	req := advance.Request{Context: s.opts.Context, Preferences: s.opts.Preferences}
	waits := &waitRun{s}
	for _, part := range []func(context.Context, *advance.Request) error{s.askInputs, s.cmd.fill, waits.run, s.askFile,
		s.confirm,
		s.host.run, s.cmd.run, s.addResult, s.askNotes, s.askChoices} {
		if err := part(ctx, &req); err != nil {
			return nil, err
		}
	}
	return s.submit(ctx, req)
}

// addResult adds the result of the command. It is sent once: the engine keeps
// the outputs of a refused attempt and counts them for the next.
func (s *stepRun) addResult(_ context.Context, req *advance.Request) error {
	if s.result == nil || s.recorded {
		return nil
	}
	artifact, err := canon.ValueOf(*s.result)
	if err != nil {
		return fault.Wrap(err, fault.Internal, "the result of step %q cannot be written as JSON", s.step.StepID)
	}
	req.Artifacts = append(req.Artifacts, advance.JSONArtifact(artifact))
	for i := range s.cmd.values.Len() {
		req.Context = req.Context.With(s.cmd.values.Key(i), s.cmd.values.Item(i))
	}
	return nil
}

// submit sends a request and updates the state of the step with the answer.
func (s *stepRun) submit(ctx context.Context, req advance.Request) ([]reason.Blocker, error) {
	if err := s.runChecks(ctx, &req); err != nil {
		return nil, err
	}
	a, err := s.send(ctx, req)
	if err != nil {
		return nil, err
	}
	s.answer, s.sent = moveSuspected(s, a), true
	if req.Notes != "" {
		s.draft = req.Notes
	}
	s.overtaken = slices.ContainsFunc(a.Warnings, isReplayDiffers)
	if !s.overtaken {
		s.recorded = s.result != nil
		s.opts.Context, s.opts.Preferences = canon.Value{}, nil // recorded with this attempt, accepted or not
	}
	return a.Blockers, nil
}

// moveSuspected moves the warnings about secrets from the answer to an attempt to the report, and shows them:
// the answer is that of the next step too, which recorded nothing of this.
func moveSuspected(s *stepRun, a engine.Answer) engine.Answer {
	a.Warnings = warning.MapCommands(a.Warnings, s.OfStore)
	var found []Suspected
	a.Warnings = slices.DeleteFunc(a.Warnings, func(w warning.Warning) bool {
		if w.Code == warning.SecretSuspected {
			found = append(found, Suspected{s.step.StepID, w})
		}
		return w.Code == warning.SecretSuspected
	})
	if len(found) > 0 {
		s.Display.Suspected(found)
	}
	s.report.Suspected = append(s.report.Suspected, found...)
	return a
}

// isReplayDiffers reports the warning that another attempt was recorded first.
func isReplayDiffers(w warning.Warning) bool { return w.Code == warning.ReplayDiffers }

// catchUp locates the tip again after another caller recorded the attempt
// first. That caller may have advanced further; those steps must not be
// performed again. A tip on another branch is not followed.
func (s *stepRun) catchUp(ctx context.Context) error {
	if !s.overtaken {
		return nil
	}
	kept := slices.DeleteFunc(slices.Clone(s.answer.Warnings),
		func(w warning.Warning) bool { return !isReplayDiffers(w) })
	if _, err := s.view.refresh(ctx, s.Logs); err != nil {
		return err
	}
	if run := s.view.run(); !slices.Contains(run.Path(run.Tip), s.answer.NodeID) {
		return nil
	}
	err := s.locateTip(ctx)
	s.answer.Replayed = true
	s.answer.Warnings = append(kept, s.answer.Warnings...)
	return err
}

// sendTries bounds how often an attempt is sent, sendPauseMs is the pause
// between two. The command has run by then and would run again if a log that
// was locked for a moment ended the call.
const (
	sendTries   = 3
	sendPauseMs = 250
)

// send records an attempt. The work is done, so it is recorded even if the
// context has ended, and sent again under the same id if the answer was lost.
func (e *execution) send(ctx context.Context, req advance.Request) (a engine.Answer, err error) {
	ctx = context.WithoutCancel(ctx)
	err = e.repeat(ctx, func() error {
		a, err = e.Engine.Perform(ctx, e.hold, e.caller(), e.answer.Position(), e.answer.AttemptID, req)
		return err
	})
	return a, err
}

// repeat makes a call that may be repeated, again while another process writes to the log or it is not
// known what was written.
func (e *execution) repeat(ctx context.Context, call func() error) error {
	for try := 1; ; try++ {
		err := call()
		switch fault.CodeOf(err) {
		case fault.SessionLocked, fault.StoreConflict, fault.StoreOutcomeUnknown:
			if try < sendTries && e.Pause(ctx, sendPauseMs) == nil {
				continue
			}
		}
		return err
	}
}

// stepView describes the step for the display.
func (s *stepRun) stepView() StepView {
	v := StepView{StepID: s.step.StepID, Title: s.answer.Pending.Title, Checkpoints: s.answer.Checkpoints(), Done: int(s.answer.StepsDone()),
		Returns: !s.flow.InOrder(),
		Rounds:  RoundsOf(s.flow, s.answer.Pending.StepInstanceKey, s.answer.Context())}
	if at, of, _ := s.flow.Position(s.step.StepID); !v.Returns {
		v.At, v.Of = at+1, of
	}
	if s.answer.Status == runs.Blocked && !s.answer.OutputsSubmitted() && !s.answer.SentBack() {
		for _, b := range s.known.refused {
			v.Refused = append(v.Refused, b.Message)
		}
	}
	v.Back = s.canGoBack()
	v.Confirm = s.mustConfirm() && s.Person.CanConsent()
	if s.concernsPerson() {
		v.Prompt = s.prompt()
	}
	if a := s.step.Action; a != nil {
		v.Argv, v.Cwd, v.Env = a.Argv, a.Cwd, a.Env
		if f, err := s.cmd.fillAction(s.opts.Context); err == nil {
			v.Argv, v.Cwd, v.Env = f.Argv, f.Cwd, f.Env
		}
	}
	if s.branch == s.answer.NodeID {
		v.Warnings = append(v.Warnings, againNote)
	}
	for _, w := range warning.MapCommands(s.answer.Warnings, s.OfStore) {
		v.Warnings = append(v.Warnings, w.Message)
	}
	return v
}

// prompt is the text of the pending step for a person. It leaves out what the
// performer handles itself: the command, and questions for inputs and choices.
// The engine's answer contains these for callers that only read it. Results of
// earlier steps are part of the first prompt of a call, for a person who is
// present: later ones were shown when they came about.
func (s *stepRun) prompt() string {
	whole, around := s.answer.Pending.Prompt, s.answer.Surroundings()
	if s.report.Performed > 0 || !s.Person.Present() {
		whole, around.Results = withoutResults(whole, around.Results), ""
	}
	asks := s.Person.Present() && s.requirements().asks()
	if s.step.Action == nil && len(s.flow.Inputs)+len(s.step.Inputs) == 0 && !asks {
		return whole
	}
	flow, step := s.flow, s.step
	flow.Inputs, step.Inputs, step.Action = nil, nil, nil
	if asks {
		step.AssessmentRefs, step.StepID = nil, "" // without an id no loop requirements are rendered
		if w := s.requirements(); w.pack == nil {
			step.OutputContract = nil
		}
	}
	// Requirements without a prompt begin with blank lines.
	return strings.TrimSpace(prompt.Render(flow, step, s.vars(), around).Prompt)
}

// withoutResults removes the section about results of earlier steps.
func withoutResults(whole, results string) string {
	before, after, ok := strings.Cut(whole, results)
	if results == "" || !ok {
		return whole
	}
	return strings.TrimSpace(strings.TrimRight(before, "\n") + after)
}

// vars are the variables of the pending step: the context, and those of the
// loops around it.
func (s *stepRun) vars() canon.Value { return s.varsWith(canon.Value{}) }

// varsWith are the variables after a delta of the context.
func (s *stepRun) varsWith(given canon.Value) canon.Value {
	return interpreter.VariablesAt(s.flow, s.loops(), event.MergeContext(s.answer.Context(), given))
}

// loops are the iterations around the step; none if its key is of a later
// version.
func (s *stepRun) loops() []snapshot.PathElement {
	loops, _, _ := snapshot.ParseKey(s.answer.Pending.StepInstanceKey)
	return loops
}

// needsNotes reports that no attempt at the step is accepted without notes.
func (s *stepRun) needsNotes() bool { return s.step.NotesRequired || !s.step.Criteria().IsZero() }
