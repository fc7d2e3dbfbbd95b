package ledger

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/engine/sealed"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	auditview "github.com/waybill/waybill/projections/audit"
)

// shortLog is the number of manifest records up to which the audit log is read
// from its beginning although a ledger was saved.
const shortLog = 16

// auditSeal is the context under which the key for the seal of the saved ledger
// is derived.
const auditSeal = "waybill 2026 v1 audit cache"

// writer appends to the audit log. It first reads other logs for facts
// without a line, without holding a lock, and then appends under the lock of
// the audit log.
type writer struct {
	l      *Ledger
	log    manifest.Log
	ledger *auditview.Ledger
	// savedHead is the head of the ledger in the cache.
	savedHead manifest.Head
	found     []Found

	imports *Imports
}

// Found has the facts of one log behind a head.
type Found struct {
	root string
	// reread reports a reading from the beginning, because the log has another
	// history.
	reread bool
	to     manifest.Head
	Facts  []auditview.Fact
	// Imported are facts that came with a bundle; another store decided them.
	Imported []auditview.Fact
}

// newWriter reads the audit log into a ledger of the facts that have
// lines. It starts from the saved ledger if its seal is valid under the store's
// keys, because a forged one could leave facts without a line. Otherwise it
// reads the log from the beginning. SESSION_UNHEALTHY if the audit log is
// damaged.
func (l *Ledger) newWriter(ctx context.Context, store id.Store) (*writer, error) {
	log := audit.LogOf(store)
	saved := l.savedLedger(ctx, log)
	c := &writer{l: l, log: log, savedHead: saved.Head, imports: l.NewImports()}
	// This reading takes no lock. It shows which facts already have lines, and
	// from which heads the other logs have to be read; append verifies it under
	// the lock.
	read, v, err := l.read(ctx, log, saved)
	if err == nil && v.Health != manifest.Healthy {
		err = auditFault(ports.Unhealthy(log, v))
	}
	c.ledger, c.imports.records = read, &read.Imports // no second reading for the imports
	return c, err
}

// read reads the audit log from a saved ledger on, an empty one to read all of
// it. It takes no lock.
func (l *Ledger) read(ctx context.Context, log manifest.Log, saved *auditview.Ledger) (*auditview.Ledger,
	manifest.Verdict, error) {
	r := &ledgerReader{Ledger: saved, until: saved.Head}
	reading := ports.ReadRequest{Log: log, From: saved.Head}
	var seen map[string]manifest.Head // of the saved ledger, for the first reading from the beginning
	if saved.Head.NextRecord <= shortLog {
		// A short log is read in full, which also detects damage.
		reading.From, seen = manifest.Head{}, saved.Seen
	}
	v, err := ports.Continue(ctx, l.store, reading, ports.Into(&r, func() *ledgerReader {
		fresh := &ledgerReader{Ledger: auditview.NewLedger(), until: saved.Head, seen: seen}
		seen = nil
		return fresh
	}))
	return r.Ledger, v, err
}

// ledgerReader folds the audit log from its beginning past the head at which a
// ledger was saved. The heads of other logs that the saved ledger contains are
// taken over when that head is met: the ledger is known to belong to this log
// then.
type ledgerReader struct {
	*auditview.Ledger
	until manifest.Head
	seen  map[string]manifest.Head
}

// Visit implements ports.Visitor.
func (r *ledgerReader) Visit(seg manifest.Segment, head manifest.Head) error {
	// The saved head is on this log's chain.
	if head == r.until && r.seen != nil {
		r.Seen = r.seen
	}
	return r.Ledger.Visit(seg, head)
}

// savedLedger loads the saved ledger of the audit log. Anything wrong with it
// (absent, too long, another format, another seal) results in an empty ledger
// and costs a reading.
func (l *Ledger) savedLedger(ctx context.Context, log manifest.Log) *auditview.Ledger {
	empty := auditview.NewLedger()
	key := sealed.Key(ctx, l.store)
	if key == nil {
		return empty
	}
	data, err := l.store.CachedHead(ctx, log, auditview.LedgerFormat, limits.AuditCacheBytesMax+1)
	if err != nil || len(data) > limits.AuditCacheBytesMax {
		return empty
	}
	doc, ok := sealed.Open(data, auditSeal, key)
	if !ok {
		return empty
	}
	if saved, err := auditview.LoadLedger(doc); err == nil {
		return saved
	}
	return empty
}

// collectFacts reads the facts of a log that may have no line. A log that
// cannot be read, or whose facts cannot be made durable, is skipped, so that it
// does not block the lines of others; a later writer finds them. The only error
// is the end of the context.
func (c *writer) collectFacts(ctx context.Context, log manifest.Log) error {
	from := c.ledger.Seen[log.Root]
	found, v, err := c.l.Facts(ctx, log, from, c.imports)
	if ctx.Err() != nil {
		return fault.Wrap(ctx.Err(), fault.Interrupted, "the call was interrupted")
	}
	if err != nil || found.to == from {
		return nil
	}
	if found.reread && c.ledger.Partial {
		// Lines that the pruned ledger left out decide which of the facts have
		// lines.
		if err := c.reload(ctx); err != nil {
			return nil
		}
	}
	if len(c.ledger.Missing(found.Facts)) > 0 {
		// A line must not survive a power cut that its fact does not survive,
		// and the reading may have seen unsynced bytes
		// (docs/design.md#reading).
		if err := c.l.store.Confirm(ctx, log, v.Head); err != nil {
			return nil
		}
	}
	c.found = append(c.found, found)
	return nil
}

// reload replaces a pruned ledger by one folded from the beginning of the audit
// log. The heads of the other logs remain.
func (c *writer) reload(ctx context.Context) error {
	var l *auditview.Ledger
	v, err := c.l.store.Read(ctx, ports.ReadRequest{Log: c.log}, ports.Into(&l, auditview.NewLedger))
	if err == nil && v.Health != manifest.Healthy {
		err = auditFault(ports.Unhealthy(c.log, v))
	}
	if err == nil {
		l.Seen = c.ledger.Seen
		c.ledger = l
	}
	return err
}

// Facts reads the facts of a log behind a head, or from its beginning if
// the log does not contain that head. Facts of imported events were decided in
// another store and are returned separately.
func (l *Ledger) Facts(ctx context.Context, log manifest.Log, from manifest.Head,
	imports *Imports) (out Found, v manifest.Verdict, err error) {
	facts := auditview.NewFacts(log, from)
	whole, again := false, false
	v, err = ports.Continue(ctx, l.store, ports.ReadRequest{Log: log, From: from}, func(at manifest.Head) ports.Visitor {
		if at.IsZero() {
			facts = auditview.NewFacts(log, at)
			out.reread = !from.IsZero()
			whole = true
		}
		return ports.VisitorFunc(func(seg manifest.Segment, head manifest.Head) error {
			again = again || replays(seg)
			return facts.Visit(seg, head)
		})
	})
	out.root, out.to, out.Facts = log.Root, facts.Head, facts.Facts
	if err != nil || len(out.Facts) == 0 {
		return out, v, err
	}
	foreign, err := l.ImportedEvents(ctx, log, imports)
	if err != nil {
		return out, v, err
	}
	// What a replay decides again was decided in its source.
	if !whole {
		again, err = l.isReplay(ctx, log)
	}
	all := out.Facts
	out.Facts = nil
	for _, f := range all {
		if again || foreign.Has(f.Source.EventIndex) {
			out.Imported = append(out.Imported, f)
		} else {
			out.Facts = append(out.Facts, f)
		}
	}
	return out, v, err
}

// errRead ends a reading after the first segment.
var errRead = errors.New("read")

// isReplay reports a log of a session that replays another one.
func (l *Ledger) isReplay(ctx context.Context, log manifest.Log) (is bool, err error) {
	if log.Table.Name != event.Domain.Name {
		return false, nil
	}
	_, err = l.store.Read(ctx, ports.ReadRequest{Log: log}, ports.Each(func(seg manifest.Segment, _ manifest.Head) error {
		is = replays(seg)
		return errRead
	}))
	if errors.Is(err, errRead) {
		err = nil
	}
	return is, err
}

// replays reports the first segment of a session that replays another one.
func replays(seg manifest.Segment) bool {
	for _, e := range seg.Events {
		if s, ok := e.Data.(event.RunStarted); ok && s.ForkedFrom.IsReplay() {
			return true
		}
	}
	return false
}

// write appends the missing lines and, if last is not nil, the event that last
// creates for the next index. With nothing to append it takes no lock.
// STORE_CONFLICT if the audit log was replaced since it was read.
func (c *writer) write(ctx context.Context, last func(next int64) event.Event) error {
	facts := 0
	for _, f := range c.found {
		facts += len(f.Facts)
	}
	// Without lines to add, the heads are not worth a write.
	if facts == 0 && last == nil {
		return nil
	}
	inside := func(w ports.Witness, _ manifest.Verdict) error { return c.append(ctx, w, last) }
	err := ports.WithHealthySession(ctx, c.l.store, c.l.store, c.log, c.ledger.Head,
		ports.Into(&c.ledger, auditview.NewLedger), inside)
	if errors.Is(err, manifest.ErrNotOnChain) {
		// The log that the ledger was read from is gone, and the list of
		// missing lines with it.
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

// append commits under the lock. The gate has brought the ledger to the head of
// the log, so that of two writers that read the same fact the second one finds
// its line. Lines are committed in groups of at most limits.AuditLinesMax.
func (c *writer) append(ctx context.Context, w ports.Witness, last func(next int64) event.Event) error {
	var missing []auditview.Fact
	for _, f := range c.found {
		missing = append(missing, c.ledger.Missing(f.Facts)...)
	}
	for len(missing) > 0 || last != nil {
		plan := manifest.Plan{Log: c.log}
		next := c.ledger.Head.Next
		for len(missing) > 0 && len(plan.Events) < limits.AuditLinesMax {
			f := missing[0]
			plan.Events = append(plan.Events, event.New(c.log.Owner, next, event.Scope{}, f.Actor, f.AtMs, f.Recorded))
			next, missing = next+1, missing[1:]
		}
		// The last event follows all lines, also in a group of its own.
		if len(missing) == 0 && last != nil {
			plan.Events = append(plan.Events, last(next))
			last = nil
		}
		head, err := c.l.store.Append(ctx, w, c.ledger.Head, plan)
		if err != nil {
			return err
		}
		if err := c.ledger.Visit(manifest.Segment{Events: plan.Events}, head); err != nil {
			return err
		}
	}
	return nil
}

// auditSaveShare limits how often the ledger is saved: it is written once more
// than one sixteenth of the known logs has news. Reading these again costs no
// more than writing all of them.
const auditSaveShare = 16

// save writes the ledger to the cache. Errors are ignored: the cache saves time
// only.
func (c *writer) save(ctx context.Context) {
	unsaved := int64(len(c.found)) + c.ledger.Head.NextRecord - c.savedHead.NextRecord
	key := sealed.Key(ctx, c.l.store)
	if key == nil || unsaved*auditSaveShare < int64(len(c.ledger.Seen)) {
		return
	}
	c.ledger.Prune()
	doc, err := c.ledger.Save()
	if err == nil && len(doc) < limits.AuditCacheBytesMax-1024 {
		_ = c.l.store.StoreHead(ctx, c.log, auditview.LedgerFormat, sealed.Append(nil, auditSeal, key, doc))
	}
}
