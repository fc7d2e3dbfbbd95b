package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// CheckpointCall is a call with tokens that keeps what is done so far at a pending
// step. Request holds notes or artifacts, and nothing else.
type CheckpointCall struct {
	StateToken      string
	CheckpointToken string
	Request         advance.Request
}

// Checkpoint keeps a checkpoint of what the tokens name. The answer is of kind
// "step", and its tokens name the node that the checkpoint stands beside (R17).
func (g *Engine) Checkpoint(ctx context.Context, by Caller, c CheckpointCall) (Answer, error) {
	keys, err := g.Keyring.Keys(ctx, ports.ReadOnly)
	if err != nil {
		return Answer{}, g.faultWithoutKeys(ctx, c.StateToken, err)
	}
	state, err := token.ParseState(keys, c.StateToken)
	if err != nil {
		return Answer{}, err
	}
	point, err := token.ParseCheckpoint(keys, c.CheckpointToken)
	if err != nil {
		return Answer{}, err
	}
	at, err := g.resolveTokens(ctx, state, point)
	if err != nil {
		return Answer{}, tokenFault(err)
	}
	a, err := g.CheckpointAt(ctx, by, at, point.AttemptID, c.Request)
	return a, tokenFault(err)
}

// CheckpointAt keeps a checkpoint at a position, for callers that need no token:
// attempt is the CheckpointID of an answer. The same one again is answered from
// the log over its prefix (locks, "Checkpoint idempotency"; R15).
func (g *Engine) CheckpointAt(ctx context.Context, by Caller, at Position, attempt id.Attempt,
	req advance.Request) (Answer, error) {
	fold := g.takeFold(at.Session)
	p, err := g.openStep(ctx, at, fold)
	if err != nil {
		return Answer{}, err
	}
	at.Node = p.node.ID
	keys, err := g.Keyring.Keys(ctx, ports.MayCreate)
	if err != nil {
		return Answer{}, err
	}
	point := id.ChildNode(at.Node, attempt, id.OpCheckpoint)
	if p.hasCheckpoint(point) {
		g.putFold(at.Session, fold)
		return g.replayCheckpoint(ctx, keys, at, point, req)
	}
	appended, err := g.commitPlanned(ctx, at, fold, func(p resolvedPosition) (manifest.Plan, error) {
		if p.hasCheckpoint(point) {
			return manifest.Plan{}, nil
		}
		return g.planCheckpoint(ctx, p, at, advance.Attempt{ID: attempt, Request: req, Actor: by.Actor, AtMs: by.AtMs})
	})
	if err != nil {
		return Answer{}, err
	}
	if !appended { // another caller was first
		return g.replayCheckpoint(ctx, keys, at, point, req)
	}
	return g.answerCommitted(ctx, keys, at, fold)
}

func (g *Engine) planCheckpoint(ctx context.Context, p resolvedPosition, at Position, a advance.Attempt) (manifest.Plan,
	error) {
	if err := checkTakesFacts(p); err != nil {
		return manifest.Plan{}, err
	}
	if a.ID != nextCheckpoint(p.node) {
		return manifest.Plan{},
			fault.New(fault.Invariant,
				"the checkpoint is not the next one of node %s and is not recorded: the log lost facts, or the token "+
					"is of another log", p.node.ID)
	}
	state, err := g.state(ctx, p.node)
	if err != nil {
		return manifest.Plan{}, err
	}
	w, err := g.workflow(ctx, p.run.Started.WorkflowHash)
	if err != nil {
		return manifest.Plan{}, err
	}
	facts := advance.Facts{Session: at.Session, Run: at.Run, Node: at.Node, Next: p.fold.Next, State: state,
		SnapshotRef: p.node.SnapshotRef}
	return advance.Checkpoint(w, facts, a)
}

// stand opens a position at the node where work goes on: a checkpoint is no such
// node, whatever a token from elsewhere names, but stands beside one (R17).
func (g *Engine) openStep(ctx context.Context, at Position, f *projections.Fold) (resolvedPosition, error) {
	p, err := g.openPosition(ctx, at, f)
	if err != nil || p.node.Kind != event.CheckpointNode || p.node.Parent == nil {
		return p, err
	}
	at.Node = *p.node.Parent
	return g.openPosition(ctx, at, f)
}

// kept reports whether the node has this checkpoint.
func (p resolvedPosition) hasCheckpoint(point id.Node) bool {
	return slices.Contains(p.node.Checkpoints, point)
}

// nextCheckpoint is the checkpoint that callers are handed now (R3).
func nextCheckpoint(n *projections.Node) id.Attempt {
	return id.NextAttempt(n.ID, id.OpCheckpoint, len(n.Checkpoints))
}

// takesMore refuses facts for a run that is closed, or about to be (R23).
func checkTakesFacts(p resolvedPosition) error {
	if p.run.Closed != nil || p.run.CancelRequested != nil {
		return fault.New(fault.RunClosed, "run %s is closed: it takes no further steps", p.run.ID)
	}
	return nil
}

// record looks at a position again under the session's lock, and appends what is
// planned for it; an empty plan says that nothing is left to record.
func (g *Engine) commitPlanned(ctx context.Context, at Position, fold *projections.Fold,
	plan func(resolvedPosition) (manifest.Plan, error)) (appended bool, err error) {
	log := manifest.SessionEvents(at.Session)
	inside := func(w ports.Witness, _ manifest.Verdict) error {
		p, err := resolvePosition(fold, at)
		if err != nil {
			return err
		}
		planned, err := plan(p)
		if err != nil || len(planned.Events) == 0 {
			return err
		}
		appended = true
		return g.append(ctx, w, fold, planned)
	}
	err = ports.WithHealthySession(ctx, g.Locks, g.Logs, log, fold.Head, fold, inside)
	if errors.Is(err, manifest.ErrNotOnChain) {
		fold.Reset()
		err = ports.WithHealthySession(ctx, g.Locks, g.Logs, log, manifest.Head{}, fold, inside)
	}
	return appended, err
}

// recorded answers over a fold that holds what was just appended.
func (g *Engine) answerCommitted(ctx context.Context, keys token.Keys, at Position, fold *projections.Fold) (Answer,
	error) {
	p, err := resolvePosition(fold, at)
	if err != nil {
		return Answer{}, err
	}
	a, err := g.answer(ctx, keys, p)
	if err != nil {
		return Answer{}, answerUnread(err)
	}
	g.putFold(at.Session, fold)
	return a, nil
}

// replayCheckpoint answers a recorded checkpoint over the prefix that ends with it.
func (g *Engine) replayCheckpoint(ctx context.Context, keys token.Keys, at Position, point id.Node,
	req advance.Request) (Answer, error) {
	prefix, err := g.foldPrefix(ctx, at.Session, func(seg manifest.Segment) bool {
		return slices.ContainsFunc(seg.Events, func(e event.Event) bool {
			_, created := e.Data.(event.NodeCreated)
			return created && e.Scope.NodeID == point
		})
	})
	if err != nil {
		return Answer{}, err
	}
	p, err := resolvePosition(prefix, at)
	if err != nil {
		return Answer{}, err
	}
	a, err := g.answer(ctx, keys, p)
	if err != nil {
		return a, err
	}
	var have []event.OutputPayload
	for _, o := range p.run.Node(point).Outputs {
		have = append(have, o.Payload)
	}
	if !slices.Equal(have, req.Payloads()) {
		a.warnDiffers("This checkpoint is recorded with other content; the recorded answer is returned and nothing " +
			"was stored.")
	}
	return a, g.confirm(ctx, at.Session, prefix)
}
