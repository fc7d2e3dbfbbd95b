package engine

import (
	"context"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
)

// Turns decides about the ends of agents' turns, of which hooks of clients ask.
type Turns struct{ e *Engine }

// NewTurns returns the turns of agents at the runs of an engine.
func NewTurns(e *Engine) Turns { return Turns{e} }

// End decides whether the end of an agent's turn is refused at a position, and
// records that (docs/design.md#guard). refusals is how often the node was refused
// in the chat, with this time; 0: the turn ends. It is counted in the log, under
// its lock. activity is Run.LastIndex as the caller read it when it found that the
// agent can perform the step: a run that changed since then, or was closed, refuses
// nothing.
//
// With an error nothing is refused: an agent could be held for ever if refusals
// were not counted. Errors are those of Advance about the log, and SESSION_LOCKED.
func (x Turns) End(ctx context.Context, at Position, activity int64, t advance.Turn) (refusals int64, err error) {
	e := x.e
	defer e.ledger.WritePending(ctx)
	h := e.TakeHistory(at.Session)
	p, err := h.Open(ctx, at)
	if err != nil {
		return 0, err
	}
	// Decided first without a lock: a turn that just ends takes none.
	if plan, _ := endTurn(p, activity, t); len(plan.Events) == 0 {
		h.Keep()
		return 0, nil
	}
	_, err = e.CommitAt(ctx, h, at, func(p session.Resolved) (plan manifest.Plan, err error) {
		plan, refusals = endTurn(p, activity, t)
		return plan, nil
	})
	if err != nil {
		return 0, err
	}
	h.Keep()
	return refusals, nil
}

// endTurn is advance.EndTurn at a position, without a plan if the run has changed.
func endTurn(p session.Resolved, activity int64, t advance.Turn) (manifest.Plan, int64) {
	if p.Run.LastIndex != activity || p.Run.Tip != p.Node.ID || p.TakesFacts() != nil || p.Run.Paused() {
		return manifest.Plan{}, 0
	}
	return advance.EndTurn(TurnFactsOf(p, t), t)
}

// TurnFactsOf collects what advance.EndTurn and advance.NoteTurn need to know about a chat.
func TurnFactsOf(p session.Resolved, t advance.Turn) advance.TurnFacts {
	chat := p.Node.GuardedChat(t.Client, t.Chat)
	return advance.TurnFacts{Session: p.At.Session, Run: p.At.Run, Node: p.Node.ID, Next: p.Fold.Next,
		Refusals: chat.Refusals, LetGo: chat.LetGo, Chats: len(p.Node.Guarded)}
}
