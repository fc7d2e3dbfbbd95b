// Package interrupts implements the use cases of answers to suspended runs over the protocol
// (docs/design.md#openwop-interrupts): what a run waits for is read from its run events, an answer becomes an attempt, a
// decision or the end of the run, and a repeated one is found again in the log. Nothing is kept beside the store.
//
// What an answer may be, package run/interrupt says. Start reading at Interrupts.Resolve.
package interrupts

import (
	"cmp"
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/hosting"
	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/engine/wire"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/run/host"
	rules "github.com/waybill/waybill/durable/run/interrupt"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
	projection "github.com/waybill/waybill/projections/wire"
)

// Work is what a performer does with an answer at the step that is pending.
type Work struct {
	Context   canon.Value  // of the attempt
	Confirmed bool         // the step is confirmed
	Answer    *host.Answer // to a gate of the host
	// Expect is the attempt that answers the request: if the run is elsewhere, nothing is done.
	Expect id.Attempt
}

// Perform has the pending step of a run performed with an answer, and returns once that is recorded, or will not be. Its
// error is not decisive: what is on record is.
type Perform func(ctx context.Context, by engine.Caller, at engine.Position, w Work) error

// Interrupts has the use cases of one store. It is safe for concurrent use.
type Interrupts struct {
	e          *engine.Engine
	wire       *wire.Wire
	runs       hosting.Runs
	keys       ports.Keyring
	performers ports.Performers
	perform    Perform
}

// New returns the use cases of the store of an engine.
func New(e *engine.Engine, w *wire.Wire, r hosting.Runs, keys ports.Keyring, performers ports.Performers, perform Perform) Interrupts {
	return Interrupts{e, w, r, keys, performers, perform}
}

// CallbackActor is the reference of the actor of an answer that came with a token.
const CallbackActor = "callback"

// resolving is one answer on its way.
type resolving struct {
	Interrupts
	by       engine.Caller
	sent     openwop.Resolution
	view     wire.Suspended
	resume   rules.Resume
	consents ledger.Consents
}

// Resolve answers the interrupt at a node of a run. The same answer again returns what it returned; a decision about a
// step that a person approves counts with the consent of a signer only.
//
// Errors: RUN_NOT_FOUND, INTERRUPT_NOT_FOUND, VALIDATION_ERROR for an answer of another form, INTERRUPT_MISMATCH,
// INTERRUPT_FORBIDDEN, SIGNATURE_REFUSED, INTERRUPT_RESOLVED for another answer than the recorded one, INTERRUPT_EXPIRED
// where the run has ended, RUN_BLOCKED for work that lacks something, and those of an attempt.
func (x Interrupts) Resolve(ctx context.Context, by engine.Caller, run, nodeID string, in openwop.Resolution) (openwop.Resolved, error) {
	at, err := x.runs.Find(ctx, run)
	if err != nil {
		return openwop.Resolved{}, err
	}
	view, err := x.wire.Suspended(ctx, at.Run.String(), nodeID)
	if err != nil {
		return openwop.Resolved{}, err
	}
	r := resolving{Interrupts: x, by: by, sent: in, view: view, consents: consentOf(in)}
	switch {
	case view.Open != nil:
		return r.answer(ctx)
	case len(view.Resolved) > 0:
		return r.again(ctx, view.Resolved[0])
	}
	return openwop.Resolved{}, gone(view)
}

// gone is the fault for a node at which nothing waits.
func gone(view wire.Suspended) error {
	if !view.Requested {
		return fault.New(fault.InterruptNotFound, "the run waits for nothing at this node")
	}
	return fault.New(fault.InterruptExpired, "the run is %s, so that nothing waits any more", view.Status)
}

// answer gives the answer to the open interrupt.
func (r resolving) answer(ctx context.Context) (out openwop.Resolved, err error) {
	open := *r.view.Open
	if r.resume, err = open.Read(r.sent.ResumeValue); err != nil {
		return out, err
	}
	if r.resume.Action == "ask" {
		return stateOf(r.view, open), nil // a question exits no interrupt, and is no fact about the run
	}
	if err := r.refuse(open); err != nil {
		return out, err
	}
	if given, done, err := r.repeated(open); done || err != nil {
		return given, err
	}
	acted := r.act(ctx, open)
	after, err := r.wire.Suspended(ctx, r.view.Run.String(), open.NodeID)
	if err != nil {
		return out, cmp.Or(acted, err)
	}
	r.view = after
	if after.Open != nil && after.Open.ID == open.ID {
		if given, done, err := r.repeated(*after.Open); done || err != nil {
			return given, err
		}
		if acted == nil && open.Kind == openwop.ApprovalInterrupt {
			return stateOf(after, open), nil // others have to approve too, or the step is sent back
		}
		return out, cmp.Or(acted, error(fault.New(fault.StoreConflict, "the answer was not recorded; send it again")))
	}
	for _, resolved := range after.Resolved {
		if resolved.ID == open.ID {
			return r.again(ctx, resolved)
		}
	}
	if acted == nil { // the run ended with it, or the step continues
		return stateOf(after, open), nil
	}
	if fault.Is(acted, fault.RunClosed) {
		return out, gone(after)
	}
	return out, acted
}

// refuse refuses what the caller may not answer.
func (r resolving) refuse(open projection.Interrupt) error {
	switch {
	case open.Gate != nil && open.Kind == openwop.ApprovalInterrupt && !host.Allows(*open.Gate, r.name()):
		return fault.New(fault.InterruptForbidden, "the gate names who may answer it, and the answer is by none of them")
	case r.consents != nil && !open.Human:
		return fault.New(fault.ValidationError, "nothing about this interrupt is signed").With("pointer", "/signature")
	}
	return nil
}

// name is the one who answers: the name in the answer, else the caller.
func (r resolving) name() string { return cmp.Or(r.resume.By, r.by.Actor.Ref, string(r.by.Actor.Kind)) }

// repeated finds the answer of the same name to a gate that waits for others.
func (r resolving) repeated(open projection.Interrupt) (out openwop.Resolved, done bool, err error) {
	if open.Gate == nil {
		return out, false, nil
	}
	last, ok := host.TallyOf(open.Answers).Last[r.name()]
	switch {
	case !ok:
		return out, false, nil
	case last.Digest == r.resume.Digest:
		return stateOf(r.view, open), true, nil
	}
	return out, false, fault.New(fault.InterruptResolved, "another answer of this name is on record; this one was not recorded")
}

// again compares an answer with the one that resolved an interrupt.
func (r resolving) again(ctx context.Context, of projection.Resolution) (out openwop.Resolved, err error) {
	if r.resume, err = of.Read(r.sent.ResumeValue); err != nil {
		return out, err
	}
	same, err := r.same(ctx, of)
	switch {
	case err != nil:
		return out, err
	case !same:
		return out, fault.New(fault.InterruptResolved, "the interrupt has another answer already; this one was not recorded")
	}
	return stateOf(r.view, of.Interrupt), nil
}

// stateOf is the answer to a resolution.
func stateOf(view wire.Suspended, of projection.Interrupt) openwop.Resolved {
	return openwop.Resolved{RunID: view.Run.String(), NodeID: of.NodeID, InterruptID: of.ID, Status: view.Status}
}

// positionOf is where the answer to an interrupt is an attempt, and which one.
func positionOf(view wire.Suspended, of projection.Interrupt) (engine.Position, id.Attempt) {
	return engine.Position{Session: view.Session, Run: view.Run, Node: of.At}, id.NextAttempt(of.At, id.OpAck, int(of.Attempts))
}

// Callback returns how another system answers the interrupt that a run waits with, nil for a run that waits for none.
// The token follows from the log and the key of the store.
func (x Interrupts) Callback(ctx context.Context, run string) (*openwop.Callback, error) {
	view, err := x.wire.Suspended(ctx, run, "")
	if err != nil || view.Open == nil || view.Open.Kind != openwop.ExternalEventInterrupt {
		return nil, err
	}
	keys, err := x.keys.Keys(ctx, ports.MayCreate)
	if err != nil {
		return nil, err
	}
	text := token.MintInterrupt(keys.Current, token.Interrupt{InterruptID: view.Open.ID, NodeID: view.Open.NodeID, RunID: view.Run})
	return &openwop.Callback{InterruptToken: text, CallbackURL: "/v1/interrupts/" + text}, nil
}

// opened returns the interrupt that a token is of. Errors: INTERRUPT_NOT_FOUND for a text that is no token of this store,
// INTERRUPT_RESOLVED, INTERRUPT_EXPIRED, INTERRUPT_FORBIDDEN for an interrupt that no token answers.
func (x Interrupts) opened(ctx context.Context, text string) (view wire.Suspended, err error) {
	keys, err := x.keys.Keys(ctx, ports.MayCreate)
	if err != nil {
		return view, err
	}
	t, err := token.ParseInterrupt(keys, text)
	if err != nil {
		return view, err
	}
	if view, err = x.wire.Suspended(ctx, t.RunID.String(), t.NodeID); err != nil {
		if fault.Is(err, fault.RunNotFound) {
			err = fault.New(fault.InterruptExpired, "the run of the token is not in the store any more")
		}
		return view, err
	}
	switch {
	case view.Open != nil && view.Open.ID == t.InterruptID && view.Open.Kind != openwop.ExternalEventInterrupt:
		return view, fault.New(fault.InterruptForbidden, "this interrupt is answered with a key")
	case view.Open != nil && view.Open.ID == t.InterruptID:
		return view, nil
	}
	for _, resolved := range view.Resolved {
		if resolved.ID == t.InterruptID && !timedOut(resolved) {
			return view, fault.New(fault.InterruptResolved, "the interrupt of the token is resolved")
		}
	}
	return view, fault.New(fault.InterruptExpired, "the interrupt of the token waits no more: its time is over, or the run has ended")
}

// timedOut reports a gate that had no answer in time.
func timedOut(r projection.Resolution) bool {
	return len(r.Answers) > 0 && r.Answers[len(r.Answers)-1].Action == event.RespondTimeout
}

// Inspect describes the interrupt of a token. Errors as of opened.
func (x Interrupts) Inspect(ctx context.Context, text string) (openwop.OpenInterrupt, error) {
	view, err := x.opened(ctx, text)
	if err != nil {
		return openwop.OpenInterrupt{}, err
	}
	open := *view.Open
	out := openwop.OpenInterrupt{RunID: view.Run.String(), NodeID: open.NodeID, InterruptID: open.ID, Kind: open.Kind,
		Key: view.Run.String() + ":" + open.ID, ResumeSchema: open.Schema(), Data: open.Data, RequestedAt: event.TimeText(open.AtMs)}
	if expires, limited := host.ExpiresAt(*open.Gate, open.AtMs); limited {
		out.ExpiresAt = event.TimeText(expires)
	}
	return out, nil
}

// ResolveToken answers the interrupt of a token, which is the credential. Errors as of Inspect and Resolve. read returns the
// request, and is called for a valid token only.
func (x Interrupts) ResolveToken(ctx context.Context, by engine.Caller, text string, read func() (openwop.Resolution, error)) (
	openwop.Resolved, error) {
	view, err := x.opened(ctx, text)
	if err != nil {
		return openwop.Resolved{}, err
	}
	in, err := read()
	if err != nil {
		return openwop.Resolved{}, err
	}
	return resolving{Interrupts: x, by: by, sent: in, view: view, consents: consentOf(in)}.answer(ctx)
}
