package engine

import (
	"cmp"
	"context"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/warning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Rehydrate returns what is pending at a position, with the recovery text. It
// appends nothing and returns the same bytes for the same log
// (docs/design.md#answers). A missing keyring is created: tokens signed by the
// lost one are void, runs are not.
//
// Errors: TOKEN_UNKNOWN_NODE for a node that the log does not contain,
// SESSION_UNHEALTHY for a damaged log.
func (e *Engine) Rehydrate(ctx context.Context, at Position) (Answer, error) {
	h := e.TakeHistory(at.Session)
	p, err := h.OpenStep(ctx, at)
	if err != nil {
		return Answer{}, err
	}
	keys, err := e.store.Keys(ctx, ports.MayCreate)
	if err != nil {
		return Answer{}, err
	}
	a, err := e.answerWithRecap(ctx, keys, p)
	if err != nil {
		return a, err
	}
	// The answer carries tokens for the node, so the events that created it
	// must be durable first.
	err = h.Confirm(ctx)
	h.Keep()
	return a, err
}

// Advance makes one attempt at a position: it is decided and recorded once, and
// a repeated call with the same attempt id is answered from the log
// (docs/design.md#tokens, docs/design.md#answers). The returned answer is of
// kind "blocked" if requirements are unmet (docs/design.md#blocked-attempts).
//
// The first reading takes no lock, so a repeated call never waits for a writer.
// Errors: RUN_CLOSED, RUN_PAUSED, VALIDATION_ERROR for a request that can never be
// accepted, the result of a command among them (use Perform), RUN_WAITING for a
// step that waits until a moment, SESSION_LOCKED,
// SESSION_UNHEALTHY, TOKEN_UNKNOWN_NODE; STORE_ANSWER_UNREAD if the attempt is
// recorded but its answer cannot be read.
func (e *Engine) Advance(ctx context.Context, by Caller, at Position, attempt id.Attempt, req advance.Request) (Answer,
	error) {
	return e.advanceBy(ctx, by, at, advance.Attempt{ID: attempt, Request: req})
}

// advanceBy is advance for a caller, with what it observes (docs/design.md#observations).
func (e *Engine) advanceBy(ctx context.Context, by Caller, at Position, a advance.Attempt) (Answer, error) {
	a.Actor, a.Account, a.AtMs, a.Traceparent = by.Actor, by.Account, by.AtMs, by.Traceparent
	if by.Observe != nil {
		a.Observations = by.Observe()
	}
	answer, err := e.advance(ctx, at, a)
	if err == nil {
		answer.Warnings = append(answer.Warnings, warning.Dropped(a.OverBudget())...)
	}
	return answer, err
}

// advance is Advance or, for an attempt that is Performed, Perform.
func (e *Engine) advance(ctx context.Context, at Position, attempt advance.Attempt) (Answer, error) {
	defer e.ledger.WritePending(ctx)
	req := attempt.Request
	h := e.TakeHistory(at.Session)
	p, err := h.Open(ctx, at)
	if err != nil {
		return Answer{}, err
	}
	keys, err := e.store.Keys(ctx, ports.MayCreate)
	if err != nil {
		return Answer{}, err
	}
	// The attempt is recorded: answer it without a lock.
	if done, ok := p.Node.Attempt(attempt.ID); ok {
		return e.replayAttempt(ctx, keys, at, h, done, req)
	}
	if err := e.ledger.RefuseHandedOver(ctx, at.Session, h.Fold); err != nil {
		return Answer{}, err // before checks are performed
	}
	if !attempt.Performed {
		if err := cmp.Or(req.RefuseObserved(at.Run), p.TakesAttempt(false)); err != nil {
			return Answer{}, err
		}
		if a, checked, err := e.handIn(ctx, at, h, p, attempt); checked || err != nil {
			return a, err
		}
	}
	done, err := e.attempt(ctx, at, h, attempt)
	if err != nil {
		return Answer{}, err
	}
	if done != nil {
		return e.replayAttempt(ctx, keys, at, h, *done, req)
	}
	if p, err = session.Resolve(h.Fold, at); err != nil {
		return Answer{}, err
	}
	// The outcome is read back from the fold, so that the first answer and a
	// repeated one are rendered by the same code.
	recorded, _ := p.Node.Attempt(attempt.ID)
	a, err := e.answerOutcome(ctx, keys, p, recorded, req)
	if err != nil {
		return Answer{}, answerUnread(err)
	}
	h.Keep()
	return a, nil
}

// attempt repeats the lookup under the session's lock, decides and appends. It
// returns the recorded attempt when another caller recorded it first, and nil
// when this call appended.
func (e *Engine) attempt(ctx context.Context, at Position, h *session.History, a advance.Attempt) (done *runs.Attempt,
	err error) {
	_, err = e.commit(ctx, h, func(manifest.Verdict) (manifest.Plan, error) {
		p, err := session.Resolve(h.Fold, at)
		if err != nil {
			return manifest.Plan{}, err
		}
		// Another process may have recorded this attempt after the reading
		// without a lock.
		if have, ok := p.Node.Attempt(a.ID); ok {
			done = &have
			return manifest.Plan{}, nil
		}
		if err := cmp.Or(CheckAttempt(p, a.ID), p.TakesAttempt(a.Performed)); err != nil {
			return manifest.Plan{}, err
		}
		workflow, facts, err := e.inputs(ctx, p)
		if err != nil {
			return manifest.Plan{}, err
		}
		if facts, err = e.settings.WithPeople(ctx, workflow, p.Run.Started.Signers, facts); err != nil {
			return manifest.Plan{}, err
		}
		if err := refuseEarly(p, workflow, facts, a); err != nil {
			return manifest.Plan{}, err
		}
		decided, err := advance.Decide(workflow, facts, a)
		decided.Plan.Lease = a.Lease
		if err == nil {
			e.cacheNextState(decided)
		}
		return decided.Plan, err
	})
	return done, err
}

// cacheNextState keeps the snapshot that a decision created, so that neither
// the brief, the answer nor the next attempt reads it from the disk. It is named by its
// digest, so that one which is not committed after all does no harm.
func (n *Answers) cacheNextState(d advance.Decided) {
	for _, ev := range d.Events {
		if node, ok := ev.Data.(event.NodeCreated); ok {
			n.CacheState(node.SnapshotRef, d.State)
		}
	}
}

// CheckAttempt refuses an attempt at a closed run with RUN_CLOSED, and one behind
// the attempt that a pause permits with RUN_PAUSED. It refuses
// with INVARIANT an attempt id that no answer over this log can have returned:
// its outcome should be recorded and is not, so the log has lost events or the
// token belongs to another one (docs/design.md#tokens).
func CheckAttempt(p session.Resolved, attempt id.Attempt) error {
	if err := cmp.Or(p.TakesFacts(), p.TakesAttempt(true)); err != nil {
		return err
	}
	if attempt != p.Node.NextAttempt() {
		return fault.New(fault.Invariant,
			"the attempt is not the next one of node %s and has no recorded outcome: the log lost facts, or the "+
				"token is of another log", p.Node.ID)
	}
	return nil
}

// performersOf returns the accounts that performed the step of a node.
func performersOf(n *runs.Node, outputs []runs.Output) (accounts []config.Account) {
	for _, account := range n.Performers(outputs) {
		accounts = append(accounts, config.Account(account))
	}
	return accounts
}

// inputs collects the inputs of a decision about a node. An erased artifact
// counts as one without content: a step that requires it must receive it again,
// other steps continue without it.
func (n *Answers) inputs(ctx context.Context, p session.Resolved) (compile.Compiled, advance.Facts, error) {
	w, f, err := n.CompleteInputs(ctx, p)
	if fault.Is(err, fault.ArtifactErased) {
		err = nil
	}
	return w, f, err
}

// CompleteInputs is inputs for callers that need every artifact. With the error
// ARTIFACT_ERASED the returned facts are complete except for the erased
// content; with any other error they are not usable. Only JSON artifacts and
// the whole text of long notes are read, since requirements exist for those
// alone.
func (n *Answers) CompleteInputs(ctx context.Context, p session.Resolved) (w compile.Compiled, f advance.Facts, err error) {
	w, f, content, others, err := n.readInputs(ctx, p)
	return w, f, cmp.Or(err, content, others)
}

// shownInputs is CompleteInputs for callers that need every output of the step:
// neither a decision nor a list of choices is one.
func (n *Answers) shownInputs(ctx context.Context, p session.Resolved) (compile.Compiled, advance.Facts, error) {
	w, f, content, _, err := n.readInputs(ctx, p)
	return w, f, cmp.Or(err, content)
}

// readInputs is CompleteInputs with the errors of erased outputs, and of other
// erased content, beside any other error.
func (n *Answers) readInputs(ctx context.Context, p session.Resolved) (w compile.Compiled, f advance.Facts,
	content, others, err error) {
	w, state, err := n.Load(ctx, p)
	if err != nil {
		return w, f, nil, nil, err
	}
	lists, others := n.Choices(ctx, w, p, state)
	if others != nil && !fault.Is(others, fault.ArtifactErased) {
		return w, f, nil, nil, others
	}
	f = advance.Facts{Observed: p.Fold.Observed, Session: p.At.Session, Run: p.At.Run, Node: p.At.Node, Next: p.Fold.Next, State: state,
		SnapshotRef: p.Node.SnapshotRef, PendingMs: p.Node.CreatedAtMs,
		Executions: p.Run.Executions(), StepsMax: p.Run.Started.Options.StepsMax(),
		Preferences: p.Node.Preferences, Context: p.Node.Context, Given: p.Node.Given, HasChild: p.Node.AckedChildren > 0,
		Capabilities: p.Node.Capabilities, Choices: lists, Checkpoints: len(p.Node.Checkpoints), Approvals: int(p.Node.Approvals)}
	for _, gap := range p.Node.OpenGaps {
		f.OpenGaps = append(f.OpenGaps, advance.OpenGap{ID: gap.ID, Reason: gap.Reason, Pointer: gap.Pointer,
			Severity: gap.Severity})
	}
	outputs, err := n.countedOutputs(ctx, p)
	if err != nil {
		return w, f, nil, nil, err
	}
	f.Performers = performersOf(p.Node, outputs)
	for _, o := range outputs {
		out := advance.Output{ID: o.ID, Payload: o.Payload, Left: !p.Node.OfBranch(o), Decision: o.Decision}
		// Requirements are about JSON artifacts only; others are not read.
		if o.Channel == event.Artifact && o.Payload.ContentType == "application/json" {
			out.JSON, err = n.Artifact(ctx, o.Payload.SHA256)
			switch {
			case fault.Is(err, fault.ArtifactErased) && o.IsDecision():
				others = err
			case fault.Is(err, fault.ArtifactErased):
				content = err
			case err != nil:
				return w, f, nil, nil, err
			}
		}
		f.Outputs = append(f.Outputs, out)
	}
	f.Notes, err = n.wholeNotes(ctx, p.Node)
	if fault.Is(err, fault.ArtifactErased) {
		return w, f, cmp.Or(content, err), others, nil
	}
	return w, f, content, others, err
}

// wholeNotes returns the node's current notes: those of the recap, or the whole
// text if the recap holds only their beginning (docs/design.md#whole-notes).
// With the error ARTIFACT_ERASED they are what the recap holds.
func (n *Answers) wholeNotes(ctx context.Context, node *runs.Node) (string, error) {
	recap, _ := node.Recap()
	whole, ok := node.WholeNotes()
	if !ok {
		return recap.Payload.NotesMarkdown, nil
	}
	data, err := n.Object(ctx, manifest.Artifact, whole.Payload.SHA256)
	if err != nil {
		return recap.Payload.NotesMarkdown, err
	}
	return string(data), nil
}

// replayAttempt answers a recorded attempt over the log prefix that ends with
// it, and makes that prefix durable before it returns. Later events of the run
// must not change the answer (docs/design.md#answers).
func (e *Engine) replayAttempt(ctx context.Context, keys token.Keys, at Position, h *session.History,
	done runs.Attempt, req advance.Request) (Answer, error) {
	prefix, err := h.PrefixOf(ctx, done.Index)
	if err != nil {
		return Answer{}, err
	}
	p, err := session.Resolve(prefix.Fold, at)
	if err != nil {
		return Answer{}, err
	}
	a, err := e.answerOutcome(ctx, keys, p, done, req)
	if err != nil {
		return a, err
	}
	a.Replayed, err = true, prefix.Confirm(ctx)
	h.Keep()
	return a, err
}

// countedOutputs returns a node's outputs without the decisions that came with
// a bundle: these are displayed, but no person of this store gave them
// (docs/design.md#requirements-on-the-caller). A decision that was made
// before the import counted those approvals, so that the fold of a replay ends
// before it.
func (n *Answers) countedOutputs(ctx context.Context, p session.Resolved) ([]runs.Output, error) {
	if p.Node.Approvals == 0 {
		return p.Node.Outputs, nil
	}
	foreign, err := n.ledger.ImportedEvents(ctx, manifest.SessionEvents(p.At.Session), n.ledger.NewImports())
	if err != nil || p.Fold.Next < foreign.Events {
		return p.Node.Outputs, err
	}
	var out []runs.Output
	for _, o := range p.Node.Outputs {
		if !o.IsDecision() || !foreign.Has(o.Index) {
			out = append(out, o)
		}
	}
	return out, nil
}
