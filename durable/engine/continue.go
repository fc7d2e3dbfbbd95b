package engine

import (
	"cmp"
	"context"
	"errors"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
)

// Continue is a call with tokens. Without AckToken it rehydrates, and Request
// must be empty.
type Continue struct {
	StateToken string
	AckToken   string
	Request    advance.Request
}

// Continue rehydrates or advances the node that the tokens name. Token and lock
// errors have TOKEN_* codes here (docs/design.md#errors): TOKEN_SESSION_LOCKED
// instead of SESSION_LOCKED, TOKEN_SCOPE_MISMATCH for tokens of two nodes,
// TOKEN_BAD_SIGNATURE, TOKEN_WORKFLOW_HASH_MISMATCH. A request without an ack
// token is VALIDATION_ERROR.
func (e *Engine) Continue(ctx context.Context, by Caller, c Continue) (Answer, error) {
	keys, err := e.store.Keys(ctx, ports.ReadOnly)
	if err != nil {
		return Answer{}, e.faultWithoutKeys(ctx, c.StateToken, err)
	}
	state, err := token.ParseState(keys, c.StateToken)
	if err != nil {
		return Answer{}, err
	}
	if c.AckToken == "" {
		if c.Request.Digest() != (advance.Request{}).Digest() {
			return Answer{}, fault.New(fault.ValidationError,
				"notes, artifacts or context were sent without an ack token").
				Suggest("Add the ackToken of the same answer, or send only the state token to see what is pending.")
		}
		at, err := e.checkWorkflowHash(ctx, positionOf(state), state)
		if err != nil {
			return Answer{}, tokenFault(err)
		}
		a, err := e.Rehydrate(ctx, at)
		return a, tokenFault(err)
	}
	ack, err := token.ParseAck(keys, c.AckToken)
	if err != nil {
		return Answer{}, err
	}
	at, err := e.resolveTokens(ctx, state, ack)
	if err != nil {
		return Answer{}, tokenFault(err)
	}
	a, err := e.Advance(ctx, by, at, ack.AttemptID, c.Request)
	return a, tokenFault(err)
}

// resolveTokens returns the position that a state token and an ack or
// checkpoint token name together. The state token may name a checkpoint node;
// its parent is the position then.
func (e *Engine) resolveTokens(ctx context.Context, state token.State, t token.Attempt) (Position, error) {
	if t.SessionID != state.SessionID || t.RunID != state.RunID {
		return Position{}, e.tokenMismatch(ctx, state, t)
	}
	at, err := e.checkWorkflowHash(ctx, positionOf(state), state)
	if err == nil && at.Node != t.NodeID {
		err = e.tokenMismatch(ctx, state, t)
	}
	return at, err
}

// faultWithoutKeys explains why a token cannot be verified when the keyring
// cannot be read: first a malformed token, then the absence of a store, and
// otherwise cause.
func (e *Engine) faultWithoutKeys(ctx context.Context, stateToken string, cause error) error {
	if err := token.CheckState(stateToken); err != nil {
		return err
	}
	if store, err := e.store.StoreID(ctx, ports.ReadOnly); err == nil && store.IsZero() {
		return fault.New(fault.TokenBadSignature, "no store exists here that could have signed the token")
	}
	return cause
}

// checkWorkflowHash refuses a token whose workflow hash is not that of its run,
// and returns the position at which the run continues. With a valid signature
// that means that the session's log was replaced by another one, so the check
// comes before anything is written. The fold is cached for the call that
// follows.
func (e *Engine) checkWorkflowHash(ctx context.Context, at Position, state token.State) (Position, error) {
	h := e.TakeHistory(at.Session)
	p, err := h.OpenStep(ctx, at)
	if err != nil {
		return at, err
	}
	h.Keep()
	if hash := p.Run.Started.WorkflowHash; hash != state.WorkflowHash {
		return at, fault.New(fault.TokenWorkflowHashMismatch, "the token names workflow %s; run %s is pinned to %s",
			state.WorkflowHash, at.Run, hash)
	}
	return p.At, nil
}

// tokenFault replaces SESSION_LOCKED by the code that calls with tokens use.
func tokenFault(err error) error {
	var f *fault.Fault
	if !errors.As(err, &f) || f.Code != fault.SessionLocked {
		return err
	}
	out := *f
	out.Code = fault.TokenSessionLocked
	return &out
}

// tokenMismatch explains a pair of tokens from two nodes. With two workflows in
// one conversation tokens are easily mixed up, so the message names both runs
// and the suggestion the token to send instead (docs/design.md#tokens). t is an
// ack or a checkpoint token.
func (e *Engine) tokenMismatch(ctx context.Context, st token.State, t token.Attempt) error {
	if st.RunID == t.RunID {
		return fault.New(fault.TokenScopeMismatch,
			"the state token is of node %s and the %s token of node %s of the same run", st.NodeID, t.TokenKind,
			t.NodeID).
			Suggest("Send the two tokens of one answer; %s returns new ones.",
				fault.Command{"continue", "--run", st.RunID.String()})
	}
	a, b := e.runTitle(ctx, st.SessionID, st.RunID), e.runTitle(ctx, t.SessionID, t.RunID)
	return fault.New(fault.TokenScopeMismatch, "the state token is of run %s (%s) and the %s token of run %s (%s)",
		st.RunID, a, t.TokenKind, t.RunID, b).
		Suggest("To continue %q (%s) send the %s token that came with its state token; to continue %q (%s) send that "+
			"run's state token.",
			a, st.RunID, t.TokenKind, b, t.RunID).
		With("stateRunId", st.RunID.String()).With(t.TokenKind+"RunId", t.RunID.String()).With("stateTitle", a).
		With(t.TokenKind+"Title", b)
}

// positionOf is the node that a state token names.
func positionOf(t token.State) Position {
	return Position{Session: t.SessionID, Run: t.RunID, Node: t.NodeID}
}

// runTitle is the name of a run for messages, its workflow id without one, and
// "unknown" if it cannot be read.
func (n *Answers) runTitle(ctx context.Context, s id.Session, name id.Run) string {
	h := n.NewHistory(s)
	if _, err := h.ReadSaved(ctx); err != nil || h.Fold.Runs[name] == nil {
		return "unknown"
	}
	run := h.Fold.Runs[name]
	return cmp.Or(run.Started.Name(), run.Started.WorkflowID)
}
