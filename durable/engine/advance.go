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
	"github.com/waybill/waybill/projections"
)

// Rehydrate answers what is pending at a position. It writes nothing, and gives
// the same bytes for the same log. Only where the keyring is lost is a new one made:
// old tokens are void then, runs are not.
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
	// Tokens for a node that was only read must not outlive it.
	err = g.confirm(ctx, at.Session, fold)
	g.putFold(at.Session, fold)
	return a, err
}

// Advance carries an attempt at a position: it is decided and recorded once; the
// same attempt again is answered from the log (locks 1.2; R15, R16).
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
	recorded, _ := p.node.Attempt(attempt)
	a, err := g.answerOutcome(ctx, keys, p, recorded.Outcome)
	if err != nil {
		return Answer{}, answerUnread(err)
	}
	g.putFold(at.Session, fold)
	return a, nil
}

// attempt looks again under the lock, decides and appends. It returns the
// recorded attempt when another caller was first.
func (g *Engine) attempt(ctx context.Context, by Caller, at Position, attempt id.Attempt, req advance.Request,
	fold *projections.Fold) (done *projections.Attempt, err error) {
	log := manifest.SessionEvents(at.Session)
	inside := func(w ports.Witness, _ manifest.Verdict) error {
		p, err := resolvePosition(fold, at)
		if err != nil {
			return err
		}
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
	err = ports.WithHealthySession(ctx, g.Locks, g.Logs, log, fold.Head, fold, inside)
	if errors.Is(err, manifest.ErrNotOnChain) {
		fold.Reset()
		err = ports.WithHealthySession(ctx, g.Locks, g.Logs, log, manifest.Head{}, fold, inside)
	}
	return done, err
}

// knowNext keeps the state at the node that a decision made, so that the answer
// and the next attempt need no disk for it.
func (g *Engine) cacheNextState(d advance.Decided) {
	for _, e := range d.Events {
		if n, ok := e.Data.(event.NodeCreated); ok {
			g.cacheState(n.SnapshotRef, d.State)
		}
	}
}

// mayAttempt refuses attempts at a closed run, and attempts that no answer over
// this log can have handed out: their outcome should be on record and is not
// (locks 1.2, fail closed).
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

// facts collects what a decision looks at. Artifacts are read only where they are
// JSON: nothing else can be required. One that was erased counts as one without
// content: where it is required it has to be handed in again, and elsewhere the run
// goes on without.
func (g *Engine) facts(ctx context.Context, at Position, p resolvedPosition) (advance.Facts, error) {
	f, err := g.completeFacts(ctx, at, p)
	if fault.Is(err, fault.ArtifactErased) {
		err = nil
	}
	return f, err
}

// wholeFacts is facts for those who have to know all of it: with ARTIFACT_ERASED they
// are as facts gives them.
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

// replay answers a recorded attempt over the log prefix that ends with it, once
// that prefix is sure to survive a power cut.
func (g *Engine) replayAttempt(ctx context.Context, keys token.Keys, at Position, fold *projections.Fold,
	done projections.Attempt, req advance.Request) (Answer, error) {
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
	a.warnReplay(done.Request, req.Digest())
	err = g.confirm(ctx, at.Session, prefix)
	g.putFold(at.Session, fold)
	return a, err
}
