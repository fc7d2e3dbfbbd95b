package engine

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/token"
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
func (g *Engine) Rehydrate(ctx context.Context, at Position) (Answer, error) {
	fold := g.takeFold(at.Session)
	p, err := g.openStep(ctx, at, fold)
	if err != nil {
		return Answer{}, err
	}
	keys, err := g.Keyring.Keys(ctx, ports.MayCreate)
	if err != nil {
		return Answer{}, err
	}
	a, err := g.answerWithRecap(ctx, keys, p)
	if err != nil {
		return a, err
	}
	// The answer carries tokens for the node, so the events that created it
	// must be durable first.
	err = g.confirm(ctx, at.Session, fold)
	g.putFold(at.Session, fold)
	return a, err
}

// Advance makes one attempt at a position: it is decided and recorded once, and
// a repeated call with the same attempt id is answered from the log
// (docs/design.md#tokens, docs/design.md#answers). The returned answer is of
// kind "blocked" if requirements are unmet (docs/design.md#blocked-attempts).
//
// The first reading takes no lock, so a repeated call never waits for a writer.
// Errors: RUN_CLOSED, VALIDATION_ERROR for a request that can never be
// accepted, SESSION_LOCKED, SESSION_UNHEALTHY, TOKEN_UNKNOWN_NODE;
// STORE_ANSWER_UNREAD if the attempt is recorded but its answer cannot be read.
func (g *Engine) Advance(ctx context.Context, by Caller, at Position, attempt id.Attempt, req advance.Request) (Answer,
	error) {
	defer g.writePendingAudit(ctx)
	fold := g.takeFold(at.Session)
	p, err := g.openPosition(ctx, at, fold)
	if err != nil {
		return Answer{}, err
	}
	keys, err := g.Keyring.Keys(ctx, ports.MayCreate)
	if err != nil {
		return Answer{}, err
	}
	// The attempt is recorded: answer it without a lock.
	if done, ok := p.node.Attempt(attempt); ok {
		return g.replayAttempt(ctx, keys, at, fold, done, req)
	}
	done, err := g.attempt(ctx, by, at, attempt, req, fold)
	if err != nil {
		return Answer{}, err
	}
	if done != nil {
		return g.replayAttempt(ctx, keys, at, fold, *done, req)
	}
	if p, err = resolvePosition(fold, at); err != nil {
		return Answer{}, err
	}
	// The outcome is read back from the fold, so that the first answer and a
	// repeated one are rendered by the same code.
	recorded, _ := p.node.Attempt(attempt)
	a, err := g.answerOutcome(ctx, keys, p, recorded.Outcome)
	if err != nil {
		return Answer{}, answerUnread(err)
	}
	g.putFold(at.Session, fold)
	return a, nil
}

// attempt repeats the lookup under the session's lock, decides and appends. It
// returns the recorded attempt when another caller recorded it first, and nil
// when this call appended. A fold of another history is reset and read once
// more from the beginning.
func (g *Engine) attempt(ctx context.Context, by Caller, at Position, attempt id.Attempt, req advance.Request,
	fold *runs.Fold) (done *runs.Attempt, err error) {
	log := manifest.SessionEvents(at.Session)
	inside := func(w ports.Witness, _ manifest.Verdict) error {
		p, err := resolvePosition(fold, at)
		if err != nil {
			return err
		}
		// Another process may have recorded this attempt after the reading
		// without a lock.
		if have, ok := p.node.Attempt(attempt); ok {
			done = &have
			return nil
		}
		if err := checkAttempt(p, attempt); err != nil {
			return err
		}
		facts, err := g.facts(ctx, at, p)
		if err != nil {
			return err
		}
		workflow, err := g.workflow(ctx, p.run.Started.WorkflowHash)
		if err != nil {
			return err
		}
		plan, err := advance.Decide(workflow, facts, advance.Attempt{ID: attempt, Request: req, Actor: by.Actor,
			AtMs: by.AtMs})
		if err != nil {
			return err
		}
		if err := g.append(ctx, w, fold, plan.Plan); err != nil {
			return err
		}
		g.cacheNextState(plan)
		return nil
	}
	// The gate brings the fold up to the head under the lock before it calls
	// inside.
	err = ports.WithHealthySession(ctx, g.Locks, g.Logs, log, fold.Head, fold, inside)
	if errors.Is(err, manifest.ErrNotOnChain) {
		fold.Reset()
		err = ports.WithHealthySession(ctx, g.Locks, g.Logs, log, manifest.Head{}, fold, inside)
	}
	return done, err
}

// cacheNextState keeps the snapshot that a decision created, so that neither
// the answer nor the next attempt reads it from the disk.
func (g *Engine) cacheNextState(d advance.Decided) {
	for _, e := range d.Events {
		if n, ok := e.Data.(event.NodeCreated); ok {
			g.cacheState(n.SnapshotRef, d.State)
		}
	}
}

// checkAttempt refuses an attempt at a closed run with RUN_CLOSED. It refuses
// with INVARIANT an attempt id that no answer over this log can have returned:
// its outcome should be recorded and is not, so the log has lost events or the
// token belongs to another one (docs/design.md#tokens).
func checkAttempt(p resolvedPosition, attempt id.Attempt) error {
	if p.run.Closed != nil || p.run.CancelRequested != nil {
		return fault.New(fault.RunClosed, "run %s is closed: it takes no further steps", p.run.ID)
	}
	if attempt != p.node.NextAttempt() {
		return fault.New(fault.Invariant,
			"the attempt is not the next one of node %s and has no recorded outcome: the log lost facts, or the "+
				"token is of another log", p.node.ID)
	}
	return nil
}

// facts collects the inputs of a decision about a node. An erased artifact
// counts as one without content: a step that requires it must receive it again,
// other steps continue without it.
func (g *Engine) facts(ctx context.Context, at Position, p resolvedPosition) (advance.Facts, error) {
	f, err := g.completeFacts(ctx, at, p)
	if fault.Is(err, fault.ArtifactErased) {
		err = nil
	}
	return f, err
}

// completeFacts is facts for callers that need every artifact. With the error
// ARTIFACT_ERASED the returned facts are complete except for the erased
// content; with any other error they are not usable. Only JSON artifacts are
// read, since requirements exist for those alone.
func (g *Engine) completeFacts(ctx context.Context, at Position, p resolvedPosition) (f advance.Facts, err error) {
	state, err := g.state(ctx, p.node)
	if err != nil {
		return advance.Facts{}, err
	}
	var erased error
	f = advance.Facts{Session: at.Session, Run: at.Run, Node: at.Node, Next: p.fold.Next, State: state,
		SnapshotRef: p.node.SnapshotRef,
		Preferences: p.node.Preferences, Context: p.node.Context, HasChild: p.node.AckedChildren > 0,
		Capabilities: p.node.Capabilities, Checkpoints: len(p.node.Checkpoints), Approvals: int(p.node.Approvals)}
	for _, gap := range p.node.OpenGaps {
		f.OpenGaps = append(f.OpenGaps, advance.OpenGap{ID: gap.ID, Reason: gap.Reason, Pointer: gap.Pointer,
			Severity: gap.Severity})
	}
	outputs, err := g.countedOutputs(ctx, at.Session, p.node, p.fold.Next)
	if err != nil {
		return f, err
	}
	for _, o := range outputs {
		out := advance.Output{ID: o.ID, Payload: o.Payload}
		// Requirements are about JSON artifacts only; others are not read.
		if o.Channel == event.Artifact && o.Payload.ContentType == "application/json" {
			out.JSON, err = g.artifact(ctx, o.Payload.SHA256)
			if fault.Is(err, fault.ArtifactErased) {
				erased = err
			} else if err != nil {
				return f, err
			}
		}
		f.Outputs = append(f.Outputs, out)
	}
	return f, erased
}

// artifact reads an artifact that an event records as JSON. Bytes that do not
// parse are INVARIANT: the digest matched, so the event is wrong.
func (g *Engine) artifact(ctx context.Context, ref canon.Digest) (canon.Value, error) {
	data, err := g.Objects.Object(ctx, manifest.Artifact, ref)
	if err != nil {
		return canon.Value{}, err
	}
	v, err := canon.Parse(data)
	if err != nil {
		return v, fault.Wrap(err, fault.Invariant, "artifact %s is recorded as JSON and is none", ref)
	}
	return v, nil
}

// replayAttempt answers a recorded attempt over the log prefix that ends with
// it, and makes that prefix durable before it returns. Later events of the run
// must not change the answer (docs/design.md#answers).
func (g *Engine) replayAttempt(ctx context.Context, keys token.Keys, at Position, fold *runs.Fold,
	done runs.Attempt, req advance.Request) (Answer, error) {
	prefix, err := g.attemptPrefix(ctx, at.Session, fold, done.Index)
	if err != nil {
		return Answer{}, err
	}
	p, err := resolvePosition(prefix, at)
	if err != nil {
		return Answer{}, err
	}
	a, err := g.answerOutcome(ctx, keys, p, done.Outcome)
	if err != nil {
		return a, err
	}
	// A repeated attempt with other content is answered, not refused.
	a.warnReplay(done.Request, req.Digest())
	err = g.confirm(ctx, at.Session, prefix)
	g.putFold(at.Session, fold)
	return a, err
}
