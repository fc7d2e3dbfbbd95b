package engine

import (
	"context"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	auditview "github.com/waybill/waybill/projections/audit"
)

// act performs an operation that has no log of its own between two lines of the
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
func (g *Engine) act(ctx context.Context, by Caller, what audit.Act,
	do func() (details map[string]string, err error)) error {
	unrecorded := func() error { _, err := do(); return err }
	if g.Controls == nil {
		return unrecorded()
	}
	if err := what.Check(); err != nil {
		return err
	}
	// Recording must not create a store that the act itself would not create.
	store, err := g.Identity.StoreID(ctx, ports.Create(what.Action.CreatesStore()))
	if err != nil {
		return err
	}
	if store.IsZero() {
		return unrecorded()
	}
	intended, err := g.intend(ctx, store, by, what)
	if err != nil {
		return err
	}
	details, failure := do()
	// The outcome is recorded even if the context has ended: the act was begun.
	_ = g.conclude(context.WithoutCancel(ctx), store, by, intended, details, failure)
	return failure
}

// intend commits the intention. The lines of all facts that have none are
// written before it, so that the audit log is in order.
func (g *Engine) intend(ctx context.Context, store id.Store, by Caller, what audit.Act) (intended id.Event, err error) {
	c, err := g.newAuditWriter(ctx, store)
	if err != nil {
		return intended, err
	}
	all, err := g.auditedLogs(ctx, store)
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
func (g *Engine) conclude(ctx context.Context, store id.Store, by Caller, intended id.Event, details map[string]string,
	failure error) error {
	c, err := g.newAuditWriter(ctx, store)
	if err != nil {
		return err
	}
	return c.write(ctx, func(next int64) event.Event {
		return event.New(c.log.Owner, next, event.Scope{}, by.Actor, by.AtMs,
			audit.Conclude(intended, details, failure))
	})
}

// notePendingAudit remembers that a committed plan contains facts that need a
// line in the audit log. The caller holds the lock of another log, so the line
// is written later, by writePendingAudit.
func (g *Engine) notePendingAudit(plan manifest.Plan) {
	if g.Controls == nil {
		return
	}
	for _, e := range plan.Events {
		if _, ok := auditview.FactOf(plan.Log, e); ok {
			g.mu.Lock()
			if g.pendingAudit == nil {
				g.pendingAudit = map[string]manifest.Log{}
			}
			g.pendingAudit[plan.Log.Root] = plan.Log
			g.mu.Unlock()
			return
		}
	}
}

// auditedLogs lists the logs whose facts have audit lines: the events and
// annotations of every session, and the store's proposals.
func (g *Engine) auditedLogs(ctx context.Context, store id.Store) (out []manifest.Log, err error) {
	all, err := g.Sessions.Sessions(ctx)
	for _, s := range all {
		out = append(out, manifest.SessionEvents(s), annotationsLog(s))
	}
	return append(out, proposalsLog(store)), err
}

// writePendingAudit writes the lines that notePendingAudit remembered. Use
// cases defer it, so that it runs after their locks are released. It is best
// effort: the facts are committed, the call has succeeded, and the next writer
// of the audit log adds lines that are missing.
func (g *Engine) writePendingAudit(ctx context.Context) {
	g.mu.Lock()
	pending := g.pendingAudit
	g.pendingAudit = nil
	g.mu.Unlock()
	if len(pending) == 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	store, err := g.Identity.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		return
	}
	c, err := g.newAuditWriter(ctx, store)
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
	return f.Suggest("See what is wrong with 'waybill audit verify', and repair it with 'waybill repair'.")
}
