package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/warning"
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
func (e *Engine) Checkpoint(ctx context.Context, by Caller, c CheckpointCall) (Answer, error) {
	keys, err := e.store.Keys(ctx, ports.ReadOnly)
	if err != nil {
		return Answer{}, e.faultWithoutKeys(ctx, c.StateToken, err)
	}
	state, err := token.ParseState(keys, c.StateToken)
	if err != nil {
		return Answer{}, err
	}
	point, err := token.ParseCheckpoint(keys, c.CheckpointToken)
	if err != nil {
		return Answer{}, err
	}
	at, err := e.resolveTokens(ctx, state, point)
	if err != nil {
		return Answer{}, tokenFault(err)
	}
	a, err := e.CheckpointAt(ctx, by, at, point.AttemptID, c.Request)
	return a, tokenFault(err)
}

// CheckpointAt records a checkpoint at a position, for callers that need no
// token. attempt is the CheckpointID of an answer. A repeated call with the
// same one is answered from the log prefix that ends with the checkpoint
// (docs/design.md#answers). Errors: RUN_CLOSED, RUN_PAUSED, VALIDATION_ERROR, also for the
// result of a command, and INVARIANT for a checkpoint id that is not the next
// one.
func (e *Engine) CheckpointAt(ctx context.Context, by Caller, at Position, attempt id.Attempt,
	req advance.Request) (Answer, error) {
	h := e.TakeHistory(at.Session)
	p, err := h.OpenStep(ctx, at)
	if err != nil {
		return Answer{}, err
	}
	at = p.At
	keys, err := e.store.Keys(ctx, ports.MayCreate)
	if err != nil {
		return Answer{}, err
	}
	point := id.ChildNode(at.Node, attempt, id.OpCheckpoint)
	if hasCheckpoint(p, point) {
		h.Keep()
		return e.replayCheckpoint(ctx, keys, at, attempt, req)
	}
	if err := req.RefuseObserved(at.Run); err != nil {
		return Answer{}, err
	}
	appended, err := e.CommitAt(ctx, h, at, func(p session.Resolved) (manifest.Plan, error) {
		if hasCheckpoint(p, point) {
			return manifest.Plan{}, nil
		}
		return e.PlanCheckpoint(ctx, p, advance.Attempt{ID: attempt, Request: req, Actor: by.Actor, AtMs: by.AtMs})
	})
	if err != nil {
		return Answer{}, err
	}
	if !appended { // another caller was first
		return e.replayCheckpoint(ctx, keys, at, attempt, req)
	}
	a, err := e.answerCommitted(ctx, keys, at, h)
	if err != nil {
		return a, err
	}
	call := warning.Call{Origin: id.FromAttempt(attempt, id.OpCheckpoint), Request: req}
	if err := e.warnSecrets(ctx, &a, h.Fold, call); err != nil {
		return Answer{}, answerUnread(err)
	}
	return a, nil
}

// PlanCheckpoint decides a checkpoint over the fold as it is under the lock.
// Replay uses it with recorded inputs.
func (e *Engine) PlanCheckpoint(ctx context.Context, p session.Resolved, a advance.Attempt) (manifest.Plan, error) {
	if err := cmp.Or(p.TakesFacts(), p.TakesAttempt(false)); err != nil {
		return manifest.Plan{}, err
	}
	if a.ID != NextCheckpoint(p.Node) {
		return manifest.Plan{},
			fault.New(fault.Invariant,
				"the checkpoint is not the next one of node %s and is not recorded: the log lost facts, or the token "+
					"is of another log", p.Node.ID)
	}
	w, state, err := e.Load(ctx, p)
	if err != nil {
		return manifest.Plan{}, err
	}
	facts := advance.Facts{Session: p.At.Session, Run: p.At.Run, Node: p.At.Node, Next: p.Fold.Next, State: state,
		SnapshotRef: p.Node.SnapshotRef}
	return advance.Checkpoint(w, facts, a)
}

// hasCheckpoint reports whether the node has the checkpoint with this node id.
func hasCheckpoint(p session.Resolved, point id.Node) bool {
	return slices.Contains(p.Node.Checkpoints, point)
}

// NextCheckpoint is the checkpoint id that answers about the node carry now. It
// is derived from the node and its number of checkpoints (docs/design.md#ids).
func NextCheckpoint(n *runs.Node) id.Attempt {
	return id.NextAttempt(n.ID, id.OpCheckpoint, len(n.Checkpoints))
}

// CommitAt is commit with the plan for a position, resolved under the lock.
func (e *Engine) CommitAt(ctx context.Context, h *session.History, at Position,
	plan func(session.Resolved) (manifest.Plan, error)) (appended bool, err error) {
	return e.commit(ctx, h, func(manifest.Verdict) (manifest.Plan, error) {
		p, err := session.Resolve(h.Fold, at)
		if err != nil {
			return manifest.Plan{}, err
		}
		return plan(p)
	})
}

// answerCommitted renders the answer over a fold that contains the events just
// appended. Its errors become STORE_ANSWER_UNREAD, because the call itself
// succeeded.
func (e *Engine) answerCommitted(ctx context.Context, keys token.Keys, at Position, h *session.History) (Answer, error) {
	p, err := session.Resolve(h.Fold, at)
	if err != nil {
		return Answer{}, err
	}
	a, err := e.AnswerAt(ctx, keys, p)
	if err != nil {
		return Answer{}, answerUnread(err)
	}
	h.Keep()
	return a, nil
}

// replayCheckpoint answers a recorded checkpoint over the log prefix that ends
// with it, and warns if the request carries other notes or artifacts than the
// recorded ones.
func (e *Engine) replayCheckpoint(ctx context.Context, keys token.Keys, at Position, attempt id.Attempt,
	req advance.Request) (Answer, error) {
	point := id.ChildNode(at.Node, attempt, id.OpCheckpoint)
	prefix, err := e.NewHistory(at.Session).Prefix(ctx, func(seg manifest.Segment) bool {
		return slices.ContainsFunc(seg.Events, func(e event.Event) bool {
			_, created := e.Data.(event.NodeCreated)
			return created && e.Scope.NodeID == point
		})
	})
	if err != nil {
		return Answer{}, err
	}
	p, err := session.Resolve(prefix.Fold, at)
	if err != nil {
		return Answer{}, err
	}
	a, err := e.AnswerAt(ctx, keys, p)
	if err != nil {
		return a, err
	}
	var have []event.OutputPayload
	for _, o := range p.Run.Node(point).Outputs {
		have = append(have, o.Payload)
	}
	call := warning.Call{Origin: id.FromAttempt(attempt, id.OpCheckpoint)}
	same := slices.Equal(have, req.Payloads())
	if same {
		call.Request = req
	}
	if err := e.warnSecrets(ctx, &a, prefix.Fold, call); err != nil {
		return a, err
	}
	if !same {
		a.warnDiffers("This checkpoint is recorded with other content; the recorded answer is returned and nothing " +
			"was stored.")
	}
	return a, prefix.Confirm(ctx)
}
