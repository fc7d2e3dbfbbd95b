package engine

import (
	"context"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// act carries out what has no log of its own between two lines of the audit log: it
// was intended, and it was done or failed (R10). A crash in between leaves the first
// alone, which is what it looks like to whoever reads the log. What do returns as
// details stands with the outcome. Where the intention cannot be recorded, nothing
// is done.
//
// The error is do's, or says why do was not called. That the outcome could not be
// recorded is no error: the act stands, and the open intention tells that it was begun.
//
// The caller has refused before what would be refused in any case: an intention that is
// recorded stays, and with actions that make a store, so does the store. Neither the
// lock of a log nor the store's own may be held.
func (g *Engine) act(ctx context.Context, by Caller, what audit.Act,
	do func() (details map[string]string, err error)) error {
	unrecorded := func() error { _, err := do(); return err }
	if g.Controls == nil {
		return unrecorded()
	}
	if err := what.Check(); err != nil {
		return err
	}
	// Recording must not bring a store into being that the act itself would not.
	store, err := g.Identity.StoreID(ctx, ports.Create(what.Action.MakesStore()))
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
	// A person who interrupts what they began has begun it all the same.
	_ = g.conclude(context.WithoutCancel(ctx), store, by, intended, details, failure)
	return failure
}

// intend commits the intention, behind the lines of all facts that had none.
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

// conclude commits what became of an intention.
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

// owe notes that a plan holds facts that want a line in the audit log.
func (g *Engine) notePendingAudit(plan manifest.Plan) {
	if g.Controls == nil {
		return
	}
	for _, e := range plan.Events {
		if _, ok := projections.AuditFactOf(plan.Log, e); ok {
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

// auditedLogs are all logs whose facts have lines: of every session its own and its
// annotations, and the store's proposals.
func (g *Engine) auditedLogs(ctx context.Context, store id.Store) (out []manifest.Log, err error) {
	all, err := g.Sessions.Sessions(ctx)
	for _, s := range all {
		out = append(out, manifest.SessionEvents(s), annotationsLog(s))
	}
	return append(out, proposalsLog(store)), err
}

// settle writes the lines that are owed, best effort: the facts are committed, so that
// the call that brought them stands, and whoever writes to the audit log next completes
// it. It is called when no lock is held.
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

// auditFault says of the audit log what the gate says of any log.
func auditFault(err error) error {
	if !fault.Is(err, fault.SessionUnhealthy) {
		return err
	}
	f := fault.Wrap(err, fault.SessionUnhealthy, "the audit log takes no lines, and without one nothing was done: %s",
		fault.Of(err).Message)
	f.Details = fault.Of(err).Details
	return f.Suggest("See what is wrong with 'waybill audit verify'; 'waybill repair' is the way out.")
}
