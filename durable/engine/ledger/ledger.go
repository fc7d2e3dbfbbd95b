// Package ledger writes the audit log of a store: the intention and outcome of
// operations that have no log of their own, and a line for each decision that is
// recorded in another log. It also determines which events of a log were
// imported, since the audit log records that.
//
// It performs none of the operations and decides none. Start reading at
// Ledger.Act.
package ledger

import (
	"context"
	"sync"

	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/ports"
	auditview "github.com/waybill/waybill/projections/audit"
)

// Store is what the audit log requires of a store.
type Store interface {
	ports.Logs
	ports.Locks
	ports.Sessions
	ports.SessionControls
	ports.Identity
	ports.Keyring
	ports.HeadCache
}

// Caller identifies who makes a call, and when. Both end in the events that the
// call appends.
type Caller struct {
	// Actor is recorded in every event that the call appends.
	Actor event.Actor
	// Assumed reports that Actor.Ref is the default identity, and not a name that
	// the caller gave.
	Assumed bool
	// AtMs is the clock reading, in milliseconds since 1970.
	AtMs int64
	// Account is the account that the process runs as; zero where the platform has none.
	Account config.Account
	// Observe returns what the process sees of its workspace now; nil: nothing. An attempt records what of it
	// is new (docs/design.md#observations).
	Observe func() []event.ObservationRecorded
	// Traceparent is the trace context of the call, "" without one. It is recorded with an attempt.
	Traceparent string
	// Consents obtains a person's signature where the store requires one; nil: the caller brings none.
	Consents Consents
	// Signer is who signed the consent that the call brings; zero until it was checked.
	Signer consent.By
}

// Consents obtains the signature of a person (docs/design.md#signed-consent).
type Consents interface {
	// Consent returns a signature over a payload of the subject that make returns for its moment, in
	// milliseconds since 1970. make may be called several times; its error ends the call. The error
	// SIGNATURE_REQUIRED means that no signature was made. Nothing is trusted about the result.
	Consent(ctx context.Context, make func(atMs int64) (consent.Subject, error)) (consent.Given, error)
}

// Party returns who the caller is for the settings.
func (c Caller) Party() config.Party { return config.Party{Account: c.Account, Signer: c.Signer} }

// SignedBy returns the caller as a person who signed what it brings: the name is that of the signer.
func (c Caller) SignedBy(by consent.By) Caller {
	c.Actor, c.Assumed, c.Signer = event.Actor{Kind: event.Human, Ref: by.Principal}, false, by
	return c
}

// Approver returns the caller as the records of approvals name it: a default
// identity never names who approved (docs/design.md#identity).
func (c Caller) Approver() Caller {
	if c.Assumed {
		c.Actor.Ref = ""
	}
	return c
}

// Ledger is the audit log of one store. It is safe for concurrent use.
type Ledger struct {
	store Store

	mu sync.Mutex
	// pending has the logs with facts whose audit lines are not written yet, by
	// the directory of each.
	pending map[string]manifest.Log

	confirmed confirmedReading
}

// New returns the ledger of a store.
func New(s Store) *Ledger { return &Ledger{store: s, pending: map[string]manifest.Log{}} }

// Act performs an operation that has no log of its own between two lines of the
// audit log: the intention, and the outcome (docs/design.md#side-logs). A crash
// in between leaves the intention alone, which a reader sees as an act with an
// unknown outcome. The details that do returns are recorded with the outcome;
// of its error only the code is. If the intention cannot be recorded, do is not
// called.
//
// The returned error is that of do, or the reason why do was not called. A
// failure to record the outcome is no error: the act is done, and the intention
// shows that it was begun.
//
// The caller must have refused what is refused in any case: a recorded
// intention cannot be withdrawn, and actions that create a store leave it
// behind. Neither the lock of a log nor that of the store may be held.
//
//go:noinline
func (l *Ledger) Act(ctx context.Context, by Caller, what audit.Act,
	do func() (details map[string]string, err error)) error {
	_, err := l.ActOnRecord(ctx, by, what, do)
	return err
}

// ActOnRecord is Act for an operation that counts only with its outcome in the audit log.
// unrecorded is the reason why the outcome could not be recorded, nil if it was, or if err is
// returned.
func (l *Ledger) ActOnRecord(ctx context.Context, by Caller, what audit.Act,
	do func() (details map[string]string, err error)) (unrecorded, err error) {
	if err := what.Check(); err != nil {
		return nil, err
	}
	// Recording must not create a store that the act itself would not create.
	store, err := l.store.StoreID(ctx, ports.Create(what.Action.CreatesStore()))
	if err != nil {
		return nil, err
	}
	if store.IsZero() {
		_, err := do()
		return nil, err
	}
	intended, err := l.intend(ctx, store, by, what)
	if err != nil {
		return nil, err
	}
	details, failure := do()
	// The outcome is recorded even if the context has ended: the act was begun.
	unrecorded = l.conclude(context.WithoutCancel(ctx), store, by, intended, details, failure)
	if failure != nil {
		return nil, failure
	}
	return unrecorded, nil
}

// Confirmed returns what a person confirmed last of the settings that decide who may do what, and
// of the list of trusted workflow versions. It reads the audit log from the saved ledger on and
// takes no lock. SESSION_UNHEALTHY if the audit log is damaged.
func (l *Ledger) Confirmed(ctx context.Context) (auditview.Confirmed, error) {
	store, err := l.store.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		return auditview.Confirmed{}, err
	}
	c, err := l.newWriter(ctx, store)
	if err != nil {
		return auditview.Confirmed{}, err
	}
	return c.ledger.Confirmed, nil
}

// StoreID returns the id of the store, zero if there is none.
func (l *Ledger) StoreID(ctx context.Context) (id.Store, error) {
	return l.store.StoreID(ctx, ports.ReadOnly)
}

// Intended reports whether an action on a target was begun in this store, with any outcome. It reads all
// of the audit log and takes no lock. SESSION_UNHEALTHY if the audit log is damaged.
func (l *Ledger) Intended(ctx context.Context, action audit.Action, target audit.Target) (found bool, err error) {
	store, err := l.store.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		return false, err
	}
	log := audit.LogOf(store)
	v, err := l.store.Read(ctx, ports.ReadRequest{Log: log}, ports.Each(func(seg manifest.Segment, _ manifest.Head) error {
		for _, e := range seg.Events {
			p, ok := e.Data.(audit.Intended)
			found = found || ok && !e.Foreign() && p.Action == action && p.Target == target
		}
		return nil
	}))
	if err == nil && v.Health != manifest.Healthy {
		err = auditFault(ports.Unhealthy(log, v))
	}
	return found, err
}

// intend commits the intention. The lines of all facts that have none are
// written before it, so that the audit log is in order.
func (l *Ledger) intend(ctx context.Context, store id.Store, by Caller, what audit.Act) (intended id.Event, err error) {
	c, err := l.newWriter(ctx, store)
	if err != nil {
		return intended, err
	}
	all, err := l.Logs(ctx, store)
	if err != nil {
		return intended, err
	}
	for _, log := range all {
		if err := c.collectFacts(ctx, log); err != nil {
			return intended, err
		}
	}
	err = c.write(ctx, func(next int64) event.Event {
		e := event.New(c.log.Owner, next, event.Scope{}, by.Actor, by.AtMs, audit.Intend(what, next))
		intended = e.ID
		return e
	})
	return intended, err
}

// conclude commits the outcome of an intention.
func (l *Ledger) conclude(ctx context.Context, store id.Store, by Caller, intended id.Event, details map[string]string,
	failure error) error {
	c, err := l.newWriter(ctx, store)
	if err != nil {
		return err
	}
	return c.write(ctx, func(next int64) event.Event {
		return event.New(c.log.Owner, next, event.Scope{}, by.Actor, by.AtMs,
			audit.Conclude(intended, details, failure))
	})
}

// Note remembers that a committed plan contains facts that need a
// line in the audit log. The caller holds the lock of another log, so the line
// is written later, by WritePending.
func (l *Ledger) Note(plan manifest.Plan) {
	for _, e := range plan.Events {
		if _, ok := auditview.FactOf(plan.Log, e); ok {
			l.mu.Lock()
			l.pending[plan.Log.Root] = plan.Log
			l.mu.Unlock()
			return
		}
	}
}

// Logs lists the logs whose facts have audit lines: the events and
// annotations of every session, and the store's proposals.
func (l *Ledger) Logs(ctx context.Context, store id.Store) (out []manifest.Log, err error) {
	all, err := l.store.Sessions(ctx)
	for _, s := range all {
		out = append(out, manifest.SessionEvents(s), feedback.LogOf(s))
	}
	return append(out, proposal.LogOf(store)), err
}

// WritePending writes the lines that Note remembered. Use cases defer it, so that it runs after their locks are released. It is best
// effort: the facts are committed, the call has succeeded, and the next writer
// of the audit log adds lines that are missing.
func (l *Ledger) WritePending(ctx context.Context) {
	l.mu.Lock()
	pending := l.pending
	l.pending = map[string]manifest.Log{}
	l.mu.Unlock()
	if len(pending) == 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	store, err := l.store.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		return
	}
	c, err := l.newWriter(ctx, store)
	if err != nil {
		return
	}
	for _, log := range pending {
		if c.collectFacts(ctx, log) != nil {
			return
		}
	}
	_ = c.write(ctx, nil)
}

// auditFault describes an unhealthy audit log. Nothing that must be audited is
// done until it is repaired.
func auditFault(err error) error {
	if !fault.Is(err, fault.SessionUnhealthy) {
		return err
	}
	f := fault.Wrap(err, fault.SessionUnhealthy, "the audit log cannot be written, so nothing was done: %s",
		fault.Of(err).Message)
	f.Details = fault.Of(err).Details
	return f.Suggest("See what is wrong with %s, and repair it with %s.",
		fault.Command{"audit", "verify"}, fault.Command{"repair"})
}
