package perform

import (
	"context"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/prompt"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/projections"
)

// turn is one pending step, from the moment that it is shown until it is accepted.
type turn struct {
	*work
	step  compile.Step
	began int64
	known known

	confirmed bool            // the person said yes in this turn
	draft     string          // the notes that were typed last
	again     bool            // an attempt was refused in this turn
	result    *command.Result // of the command, once it was performed
	recorded  bool            // the result is on record
	outrun    bool            // another caller was first with this attempt: nothing of ours is on record
	fix       string          // what to do about its failure, where that is known
}

// step performs the pending step until it is accepted.
func (w *work) step(ctx context.Context) error {
	pending := w.answer.Pending
	step, ok := w.flow.Step(pending.StepID)
	if !ok {
		return fault.New(fault.Invariant, "the pinned workflow has no step %q, which the engine names", pending.StepID)
	}
	t := &turn{work: w, step: step, began: w.NowMs()}
	if t.asksOfTheLog() {
		if err := t.remember(ctx); err != nil {
			return err
		}
	}
	w.Display.StepBegan(t.stepView())
	for {
		blockers, err := t.once(ctx)
		if err != nil {
			return err
		}
		if len(blockers) == 0 {
			w.Display.StepEnded(StepEnd{w.NowMs() - t.began})
			return t.catchUp(ctx)
		}
		if err := t.remember(ctx); err != nil {
			return err
		}
		if t.outrun && (t.result != nil || !t.Person.Present()) {
			continue // somebody else's attempt was refused: ours is the next one
		}
		if t.handedIn() && onlyApproval(blockers, step.StepID) {
			continue // what was handed in is fine; now a person looks at it
		}
		w.Display.Blocked(blockers)
		if err := t.mayTryAgain(blockers); err != nil {
			return err
		}
	}
}

// once is one attempt, with what has to be settled before it. What waits for an
// approval, or has one, is sent as it lies there: anything more would void it.
func (t *turn) once(ctx context.Context) ([]reason.Blocker, error) {
	if !t.handedIn() {
		if err := t.mayBegin(ctx); err != nil {
			return nil, err
		}
		return t.attempt(ctx)
	}
	if err := t.approval(ctx); err != nil {
		return nil, err
	}
	return t.hand(ctx, advance.Request{Context: t.opts.Context, Preferences: t.opts.Preferences})
}

// remember looks up what lies with the node after an attempt that was refused: what
// it brought is on record, and is not asked for again.
func (t *turn) remember(ctx context.Context) error {
	if _, err := t.view.refresh(ctx, t.Logs); err != nil {
		return err
	}
	t.known = t.view.node(t.answer.NodeID)
	return nil
}

// asksOfTheLog: most steps are performed without a look at the log. The answer of
// the engine says what to do, but not the context or what lies with the node.
func (t *turn) asksOfTheLog() bool {
	return len(t.flow.Inputs)+len(t.step.Inputs) > 0 || t.step.OutputContract != nil ||
		len(t.step.AssessmentRefs) > 0 || t.endsRound() ||
		t.answer.Status == projections.Blocked || t.step.Action != nil && t.concernsPerson()
}

// concernsPerson: the step is a person's, or a command's that a person has a part in.
func (t *turn) concernsPerson() bool {
	return t.step.Action == nil || t.needsNotes() || t.answer.NextIntent == engine.AwaitConfirmation
}

// attempt is one way through the step: each part is asked for in the order in which
// a person would want to be asked, and the slow and costly one, the command, comes
// only when nothing that a person could still refuse is left before it. Notes come
// after it, since they tell what it did, and judgements last.
//
// It collects what the step asks for, sends it, and returns the blockers of
// an attempt that was not accepted.
func (t *turn) attempt(ctx context.Context) ([]reason.Blocker, error) {
	req := advance.Request{Context: t.opts.Context, Preferences: t.opts.Preferences}
	if err := t.inputs(ctx, &req); err != nil {
		return nil, err
	}
	wanted := t.wants()
	if err := t.file(ctx, wanted, &req); err != nil {
		return nil, err
	}
	if err := t.confirm(ctx); err != nil {
		return nil, err
	}
	if t.step.Action != nil && t.result == nil {
		if err := t.command(ctx); err != nil {
			return nil, err
		}
	}
	if t.result != nil && !t.recorded {
		// It goes with the first attempt that is recorded: the engine keeps what came
		// with a refused one, and counts it for the next.
		artifact, err := canon.ValueOf(*t.result)
		if err != nil {
			return nil, fault.Wrap(err, fault.Internal, "the result of step %q cannot be written as JSON",
				t.step.StepID)
		}
		req.Artifacts = append(req.Artifacts, advance.JSONArtifact(artifact))
	}
	if err := t.notes(ctx, &req); err != nil {
		return nil, err
	}
	if t.result == nil || t.result.OK() { // nothing is to be judged about a step that failed
		if err := t.choices(ctx, wanted, &req); err != nil {
			return nil, err
		}
	}
	return t.hand(ctx, req)
}

// hand sends a request and takes note of what became of it.
func (t *turn) hand(ctx context.Context, req advance.Request) ([]reason.Blocker, error) {
	a, err := t.send(ctx, req)
	if err != nil {
		return nil, err
	}
	t.answer = a
	if req.Notes != "" {
		t.draft = req.Notes
	}
	t.outrun = slices.ContainsFunc(a.Warnings, differs)
	if !t.outrun {
		t.recorded = t.result != nil
		t.opts.Context, t.opts.Preferences = canon.Value{}, nil // they are on record now, accepted or not
	}
	return a.Blockers, nil
}

func differs(w engine.Warning) bool { return w.Code == engine.ReplayDiffers }

// catchUp: whoever was first with an attempt may have gone further since, and what
// they did must not be performed again.
func (t *turn) catchUp(ctx context.Context) error {
	if !t.outrun {
		return nil
	}
	said := slices.DeleteFunc(slices.Clone(t.answer.Warnings), func(w engine.Warning) bool { return !differs(w) })
	err := t.find(ctx)
	t.answer.Warnings = append(said, t.answer.Warnings...)
	return err
}

// sendTries bounds how often an attempt is sent. A command has run by then, and
// would run again, for a log that was busy for a moment.
const (
	sendTries   = 3
	sendPauseMs = 250
)

// send records an attempt. The work is done by now: it is recorded also when the
// person wants to stop, and again under the same id when the answer got lost.
func (w *work) send(ctx context.Context, req advance.Request) (engine.Answer, error) {
	ctx = context.WithoutCancel(ctx)
	for try := 1; ; try++ {
		a, err := w.Engine.Advance(ctx, engine.Caller{Actor: w.Actor, AtMs: w.NowMs()}, w.answer.Position(),
			w.answer.AttemptID, req)
		switch fault.CodeOf(err) {
		case fault.SessionLocked, fault.StoreConflict, fault.StoreOutcomeUnknown:
			if try < sendTries && w.Pause(ctx, sendPauseMs) == nil {
				continue
			}
		}
		return a, err
	}
}

func (t *turn) stepView() StepView {
	at, of, _ := t.flow.Position(t.step.StepID)
	v := StepView{At: at + 1, Of: of, Title: t.step.Title, Rounds: roundsOf(t.flow, t.answer.Pending.StepInstanceKey)}
	if t.answer.Status == projections.Blocked && !t.handedIn() {
		for _, b := range t.known.refused {
			v.Refused = append(v.Refused, b.Message)
		}
	}
	if t.concernsPerson() {
		v.Prompt = t.prompt()
	}
	if a := t.step.Action; a != nil {
		v.Argv, v.Cwd = a.Argv, a.Cwd
	}
	for _, warning := range t.answer.Warnings {
		v.Warnings = append(v.Warnings, warning.Message)
	}
	return v
}

// prompt is the text of the pending step. What the performer sees to itself, the
// command and the questions for inputs and choices, is not in it: who reads the answer of the
// engine has to be told of them, who is asked has not.
func (t *turn) prompt() string {
	whole := t.answer.Pending.Prompt
	asks := t.asksItself()
	if t.step.Action == nil && len(t.flow.Inputs)+len(t.step.Inputs) == 0 && !asks {
		return whole
	}
	flow, step := t.flow, t.step
	flow.Inputs, step.Inputs, step.Action = nil, nil, nil
	if asks {
		step.AssessmentRefs, step.StepID = nil, "" // by the id is found what a loop wants
		if w := t.wants(); w.pack == nil {
			step.OutputContract = nil
		}
	}
	text, _ := prompt.Render(flow, step, t.vars())
	text = strings.TrimSpace(text) // requirements alone stand apart from nothing
	if preamble := prompt.Preamble(flow); preamble != "" && strings.HasPrefix(whole, preamble) {
		text = preamble + "\n\n" + text
	}
	return text
}

// asksItself reports a step at which the person here is asked to choose, and so
// need not read how the answer looks as JSON.
func (t *turn) asksItself() bool {
	w := t.wants()
	return t.Person.Present() && (w.probe != "" || w.decides || len(w.assessments) > 0)
}

// vars is what the pending step sees: the context, and the variables of the loops
// around it.
func (t *turn) vars() canon.Value {
	loops, _, err := snapshot.ParseKey(t.answer.Pending.StepInstanceKey)
	if err != nil {
		return t.known.vars
	}
	return interpreter.Along(t.flow, loops, t.known.vars)
}

// needsNotes: without notes no attempt at the step is accepted.
func (t *turn) needsNotes() bool { return t.step.NotesRequired || !t.step.Criteria().IsZero() }
