package engine

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// auditSeal is the context under which the key of the saved ledger's seal is derived.
const auditSeal = "waybill 2026 v1 audit cache"

// auditCourse is one writing to the audit log: it looks at other logs for facts that have
// no line yet, without holding a lock, and then appends under the audit log's own.
type auditWriter struct {
	g         *Engine
	log       manifest.Log
	ledger    *projections.AuditLedger
	savedHead manifest.Head // up to where the ledger lies on the disk
	found     []logFacts

	imports *importIndex
}

// foundFacts are the facts of one log from a head on.
type logFacts struct {
	root     string
	reread   bool // read from the beginning, since the log has another history
	to       manifest.Head
	facts    []projections.AuditFact
	imported []projections.AuditFact // those that came with a bundle, and are none of this store
}

func auditLog(store id.Store) manifest.Log { return manifest.StoreLog(store, audit.Table) }

// auditCourse begins with the ledger that was saved, where that is sealed under the
// store's keys: nobody else can make one that lets facts go unrecorded. Else it begins
// with an empty one, which costs a full reading.
func (g *Engine) newAuditWriter(ctx context.Context, store id.Store) (*auditWriter, error) {
	c := &auditWriter{g: g, log: auditLog(store), ledger: g.savedLedger(ctx, auditLog(store)),
		imports: &importIndex{g: g}}
	c.savedHead = c.ledger.Head
	// Without the lock, only to know before sessions are looked at which of their facts
	// want a line, and from where on they must be read.
	r := &ledgerReader{AuditLedger: c.ledger, until: c.savedHead}
	reading := ports.Reading{Log: c.log, From: c.savedHead}
	if c.savedHead.NextRecord <= shortLog {
		// Reading all of it takes no longer, and meets what is damaged.
		r.restart()
		reading.From = manifest.Head{}
	}
	v, err := g.Logs.Read(ctx, reading, r)
	if errors.Is(err, manifest.ErrNotOnChain) {
		r.Reset()
		v, err = g.Logs.Read(ctx, ports.Reading{Log: c.log}, r)
	}
	if err == nil && v.Health != manifest.Healthy {
		err = auditFault(ports.Unhealthy(c.log, v))
	}
	c.ledger = r.AuditLedger
	return c, err
}

// rereading folds a log from its beginning up to where a ledger was saved, and on. What
// that saw of other logs counts once its head is met: it is of this log then.
type ledgerReader struct {
	*projections.AuditLedger
	until manifest.Head
	seen  map[string]manifest.Head
}

func (r *ledgerReader) restart() {
	r.seen = r.Seen
	r.AuditLedger = projections.NewAuditLedger()
}

// Reset implements ports.Visitor.
func (r *ledgerReader) Reset() { r.AuditLedger, r.seen = projections.NewAuditLedger(), nil }

// Visit implements ports.Visitor.
func (r *ledgerReader) Visit(seg manifest.Segment, head manifest.Head) error {
	if head == r.until && r.seen != nil {
		r.Seen = r.seen
	}
	return r.AuditLedger.Visit(seg, head)
}

func (g *Engine) auditKey(ctx context.Context) *token.Key {
	if g.Heads == nil {
		return nil
	}
	keys, err := g.Keyring.Keys(ctx, ports.ReadOnly)
	if err != nil {
		return nil
	}
	return &keys.Current
}

func (g *Engine) savedLedger(ctx context.Context, log manifest.Log) *projections.AuditLedger {
	empty := projections.NewAuditLedger()
	key := g.auditKey(ctx)
	if key == nil {
		return empty
	}
	data, err := g.Heads.CachedHead(ctx, log, projections.AuditLedgerFormat, limits.AuditCacheBytesMax+1)
	if err != nil || len(data) > limits.AuditCacheBytesMax {
		return empty
	}
	doc, ok := openSealed(data, auditSeal, key)
	if !ok {
		return empty
	}
	if saved, err := projections.LoadAuditLedger(doc); err == nil {
		return saved
	}
	return empty
}

// look takes up the facts of a log that may have no line. One that cannot be read, or
// whose facts are not sure to survive a power cut, is left for later: it must not keep
// others from being recorded. The error is the end of the call alone.
func (c *auditWriter) collectFacts(ctx context.Context, log manifest.Log) error {
	from := c.ledger.Seen[log.Root]
	found, v, err := c.g.auditFacts(ctx, log, from, c.imports)
	if ctx.Err() != nil {
		return fault.Wrap(ctx.Err(), fault.Interrupted, "the call was interrupted")
	}
	if err != nil || found.to == from {
		return nil
	}
	if found.reread && c.ledger.Partial {
		// Which of its facts have lines shows in lines that were left out.
		if err := c.reload(ctx); err != nil {
			return nil
		}
	}
	if len(c.ledger.Missing(found.facts)) > 0 {
		// A line must not outlive its fact: what was read may be in memory only (R8).
		if err := c.g.Logs.Confirm(ctx, log, v.Head); err != nil {
			return nil
		}
	}
	c.found = append(c.found, found)
	return nil
}

// whole folds the audit log from its beginning; what was seen of the other logs counts
// as before.
func (c *auditWriter) reload(ctx context.Context) error {
	l := projections.NewAuditLedger()
	v, err := c.g.Logs.Read(ctx, ports.Reading{Log: c.log}, l)
	if err == nil && v.Health != manifest.Healthy {
		err = auditFault(ports.Unhealthy(c.log, v))
	}
	if err == nil {
		l.Seen = c.ledger.Seen
		c.ledger = l
	}
	return err
}

// auditFacts reads the facts of a log from a head on; from the beginning where that is
// no head of it any more. What came with a bundle stands in the beginning.
func (g *Engine) auditFacts(ctx context.Context, log manifest.Log, from manifest.Head,
	imports *importIndex) (out logFacts, v manifest.Verdict, err error) {
	facts := projections.NewAuditFacts(log, from)
	v, err = g.Logs.Read(ctx, ports.Reading{Log: log, From: from}, facts)
	if out.reread = errors.Is(err, manifest.ErrNotOnChain); out.reread {
		facts.Reset()
		v, err = g.Logs.Read(ctx, ports.Reading{Log: log}, facts)
	}
	out.root, out.to, out.facts = log.Root, facts.Head, facts.Facts
	if err != nil || len(out.facts) == 0 {
		return out, v, err
	}
	if !from.IsZero() && !out.reread {
		imports = nil // what the records tell of was looked at before; reading them is long
	}
	foreign, err := g.importedEvents(ctx, log, imports)
	n := 0
	for n < len(out.facts) && out.facts[n].Source.EventIndex < foreign {
		n++
	}
	out.imported, out.facts = out.facts[:n], out.facts[n:]
	return out, v, err
}

// write appends the lines that are missing and, where there is one, the event that last
// makes of the index that it will have. Without either nothing is locked or written.
func (c *auditWriter) write(ctx context.Context, last func(next int64) event.Event) error {
	facts := 0
	for _, f := range c.found {
		facts += len(f.facts)
	}
	if facts == 0 && last == nil {
		return nil
	}
	inside := func(w ports.Witness, _ manifest.Verdict) error { return c.append(ctx, w, last) }
	err := ports.WithHealthySession(ctx, c.g.Locks, c.g.Logs, c.log, c.ledger.Head, c.ledger, inside)
	if errors.Is(err, manifest.ErrNotOnChain) {
		// What the ledger was read from a moment ago is gone, and with it the measure of
		// what was missing.
		return fault.New(fault.StoreConflict, "the audit log changed while it was written to")
	}
	if err != nil {
		return auditFault(err)
	}
	for _, f := range c.found {
		c.ledger.Seen[f.root] = f.to
	}
	c.save(ctx)
	return nil
}

// append commits under the lock: by now the ledger stands where the log does, so that
// of two who saw the same fact the second finds its line.
func (c *auditWriter) append(ctx context.Context, w ports.Witness, last func(next int64) event.Event) error {
	var missing []projections.AuditFact
	for _, f := range c.found {
		missing = append(missing, c.ledger.Missing(f.facts)...)
	}
	for len(missing) > 0 || last != nil {
		plan := manifest.Plan{Log: c.log}
		next := c.ledger.Head.Next
		for len(missing) > 0 && len(plan.Events) < limits.AuditLinesMax {
			f := missing[0]
			plan.Events = append(plan.Events, event.New(c.log.Owner, next, event.Scope{}, f.Actor, f.AtMs, f.Recorded))
			next, missing = next+1, missing[1:]
		}
		if len(missing) == 0 && last != nil {
			plan.Events = append(plan.Events, last(next))
			last = nil
		}
		head, err := c.g.Logs.Append(ctx, w, c.ledger.Head, plan)
		if err != nil {
			return err
		}
		if err := c.ledger.Visit(manifest.Segment{Events: plan.Events}, head); err != nil {
			return err
		}
	}
	return nil
}

// auditSaveShare is which share of the logs the saved ledger may know too little of:
// reading them again takes no longer than writing all of the others.
const auditSaveShare = 16

// save keeps the ledger for the next writing. What comes of it matters to nobody.
func (c *auditWriter) save(ctx context.Context) {
	unsaved := int64(len(c.found)) + c.ledger.Head.NextRecord - c.savedHead.NextRecord
	key := c.g.auditKey(ctx)
	if key == nil || unsaved*auditSaveShare < int64(len(c.ledger.Seen)) {
		return
	}
	c.ledger.Prune()
	doc, err := c.ledger.Save()
	if err == nil && len(doc) < limits.AuditCacheBytesMax-1024 {
		_ = c.g.Heads.KeepHead(ctx, c.log, projections.AuditLedgerFormat, appendSealed(nil, auditSeal, key, doc))
	}
}
