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
	"github.com/waybill/waybill/projections/runs"
)

// CheckpointCall is a call with tokens that records work in progress at a
// pending step. Request may carry notes and artifacts, and nothing else.
type CheckpointCall struct {
	StateToken      string
	CheckpointToken string
	Request         advance.Request
}

// Checkpoint records a checkpoint at the node that the tokens name. The answer
// is of kind "step" and its tokens name the parent node of the checkpoint,
// where the run continues (docs/design.md#edges-and-tips). Errors: TOKEN_* for
// tokens that are malformed, of another store or of two nodes; otherwise as
// CheckpointAt.
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

// CheckpointAt records a checkpoint at a position, for callers that need no
// token. attempt is the CheckpointID of an answer. A repeated call with the
// same one is answered from the log prefix that ends with the checkpoint
// (docs/design.md#answers). Errors: RUN_CLOSED, VALIDATION_ERROR, and INVARIANT
// for a checkpoint id that is not the next one.
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

// planCheckpoint decides a checkpoint over the fold as it is under the lock.
// Replay uses it with recorded inputs.
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

// openStep opens a position at the node where the run continues. A token can
// name a checkpoint node; the run continues at its parent, so that is the
// returned node (docs/design.md#edges-and-tips).
func (g *Engine) openStep(ctx context.Context, at Position, f *runs.Fold) (resolvedPosition, error) {
	p, err := g.openPosition(ctx, at, f)
	if err != nil || p.node.Kind != event.CheckpointNode || p.node.Parent == nil {
		return p, err
	}
	at.Node = *p.node.Parent
	return g.openPosition(ctx, at, f)
}

// hasCheckpoint reports whether the node has the checkpoint with this node id.
func (p resolvedPosition) hasCheckpoint(point id.Node) bool {
	return slices.Contains(p.node.Checkpoints, point)
}

// nextCheckpoint is the checkpoint id that answers about the node carry now. It
// is derived from the node and its number of checkpoints (docs/design.md#ids).
func nextCheckpoint(n *runs.Node) id.Attempt {
	return id.NextAttempt(n.ID, id.OpCheckpoint, len(n.Checkpoints))
}

// checkTakesFacts refuses with RUN_CLOSED to add events to a run that is closed
// or whose cancellation was requested (docs/design.md#ends-and-branches).
func checkTakesFacts(p resolvedPosition) error {
	if p.run.Closed != nil || p.run.CancelRequested != nil {
		return fault.New(fault.RunClosed, "run %s is closed: it takes no further steps", p.run.ID)
	}
	return nil
}

// commitPlanned looks a position up again under the session's lock and appends
// the plan for it. An empty plan appends nothing and leaves appended false:
// what was requested is recorded already.
func (g *Engine) commitPlanned(ctx context.Context, at Position, fold *runs.Fold,
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

// answerCommitted renders the answer over a fold that contains the events just
// appended. Its errors become STORE_ANSWER_UNREAD, because the call itself
// succeeded.
func (g *Engine) answerCommitted(ctx context.Context, keys token.Keys, at Position, fold *runs.Fold) (Answer,
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

// replayCheckpoint answers a recorded checkpoint over the log prefix that ends
// with it, and warns if the request carries other notes or artifacts than the
// recorded ones.
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
