package engine

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// Continue is a call with tokens: without AckToken it rehydrates.
type Continue struct {
	StateToken string
	AckToken   string
	Request    advance.Request
}

// Continue rehydrates or advances what the tokens name. Only TOKEN_* codes speak
// of tokens and locks here (locks section 12).
func (g *Engine) Continue(ctx context.Context, by Caller, c Continue) (Answer, error) {
	keys, err := g.Keyring.Keys(ctx, ports.ReadOnly)
	if err != nil {
		return Answer{}, g.faultWithoutKeys(ctx, c.StateToken, err)
	}
	state, err := token.ParseState(keys, c.StateToken)
	if err != nil {
		return Answer{}, err
	}
	if c.AckToken == "" {
		if c.Request.Digest() != (advance.Request{}).Digest() {
			return Answer{}, fault.New(fault.ValidationError,
				"notes, artifacts or context were sent without an ack token").
				Suggest("Send the ackToken of the same answer along, or nothing but the state token to see what is " +
					"pending.")
		}
		at, err := g.checkWorkflowHash(ctx, Position{state.SessionID, state.RunID, state.NodeID}, state)
		if err != nil {
			return Answer{}, tokenFault(err)
		}
		a, err := g.Rehydrate(ctx, at)
		return a, tokenFault(err)
	}
	ack, err := token.ParseAck(keys, c.AckToken)
	if err != nil {
		return Answer{}, err
	}
	at, err := g.resolveTokens(ctx, state, ack)
	if err != nil {
		return Answer{}, tokenFault(err)
	}
	a, err := g.Advance(ctx, by, at, ack.AttemptID, c.Request)
	return a, tokenFault(err)
}

// meant is the position that a state token and the token of an attempt name
// together. The state token may be a checkpoint's: the step is the one beside it.
func (g *Engine) resolveTokens(ctx context.Context, state token.State, t token.Attempt) (Position, error) {
	if t.SessionID != state.SessionID || t.RunID != state.RunID {
		return Position{}, g.tokenMismatch(ctx, state, t)
	}
	at, err := g.checkWorkflowHash(ctx, Position{state.SessionID, state.RunID, state.NodeID}, state)
	if err == nil && at.Node != t.NodeID {
		err = g.tokenMismatch(ctx, state, t)
	}
	return at, err
}

// withoutKeys says what is wrong with a token where no keys are: a typing mistake
// first; then, that no store is here which could have signed it.
func (g *Engine) faultWithoutKeys(ctx context.Context, stateToken string, cause error) error {
	if err := token.CheckState(stateToken); err != nil {
		return err
	}
	if store, err := g.Identity.StoreID(ctx, ports.ReadOnly); err == nil && store.IsZero() {
		return fault.New(fault.TokenBadSignature, "there is no store here that could have signed the token")
	}
	return cause
}

// checkHash refuses a token that names another workflow than its run's. With
// valid signatures that takes a log that was put in another's place, so it is
// looked at before anything is written. What is read here is kept for the call,
// which is about the position that comes back: where work goes on.
func (g *Engine) checkWorkflowHash(ctx context.Context, at Position, state token.State) (Position, error) {
	fold := g.takeFold(at.Session)
	p, err := g.openStep(ctx, at, fold)
	if err != nil {
		return at, err
	}
	g.putFold(at.Session, fold)
	if hash := p.run.Started.WorkflowHash; hash != state.WorkflowHash {
		return at, fault.New(fault.TokenWorkflowHashMismatch, "the token names workflow %s; run %s is pinned to %s",
			state.WorkflowHash, at.Run, hash)
	}
	at.Node = p.node.ID
	return at, nil
}

// tokenFault gives a busy session the code of token-driven calls.
func tokenFault(err error) error {
	var f *fault.Fault
	if !errors.As(err, &f) || f.Code != fault.SessionLocked {
		return err
	}
	out := *f
	out.Code = fault.TokenSessionLocked
	return &out
}

// mismatch explains a pair of tokens from two places: two workflows in one chat
// are easily mixed up, so both are named, and what to send instead (R25). t is an
// ack or a checkpoint token.
func (g *Engine) tokenMismatch(ctx context.Context, st token.State, t token.Attempt) error {
	if st.RunID == t.RunID {
		return fault.New(fault.TokenScopeMismatch,
			"the state token is of node %s and the %s token of node %s of the same run", st.NodeID, t.TokenKind,
			t.NodeID).
			Suggest("Send the two tokens of one answer; 'waybill continue --run %s' gives fresh ones.", st.RunID)
	}
	a, b := g.runTitle(ctx, st.SessionID, st.RunID), g.runTitle(ctx, t.SessionID, t.RunID)
	return fault.New(fault.TokenScopeMismatch, "the state token is of run %s (%s) and the %s token of run %s (%s)",
		st.RunID, a, t.TokenKind, t.RunID, b).
		Suggest("To go on with %q (%s) send the %s token that came with its state token; to go on with %q (%s) send "+
			"that run's state token.",
			a, st.RunID, t.TokenKind, b, t.RunID).
		With("stateRunId", st.RunID.String()).With(t.TokenKind+"RunId", t.RunID.String()).With("stateTitle", a).
		With(t.TokenKind+"Title", b)
}

// title is what people call a run, for messages; what cannot be read is unknown.
func (g *Engine) runTitle(ctx context.Context, s id.Session, r id.Run) string {
	f := projections.NewFold()
	if _, err := g.readFromSaved(ctx, s, f); err != nil || f.Runs[r] == nil {
		return "unknown"
	}
	run := f.Runs[r]
	if run.Started.Title != "" {
		return run.Started.Title
	}
	return run.Started.WorkflowID
}
