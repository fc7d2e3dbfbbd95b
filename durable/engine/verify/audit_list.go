package verify

import (
	"cmp"
	"context"
	"slices"

	"github.com/waybill/waybill/durable/engine/ledger"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	auditview "github.com/waybill/waybill/projections/audit"
)

// AuditStore is what reading the audit log requires of a store.
type AuditStore interface {
	ports.Logs
	ports.Identity
	ports.Trash
	ports.Controls
	ports.Objects
	ports.Availability
}

// Auditor lists and verifies the audit log of a store.
type Auditor struct {
	ledger *ledger.Ledger
	store  AuditStore
	// Settings is the auditor of the store with the settings, if that is another one; nil: the store has its own. Its acts are
	// listed with those of the store.
	Settings *Auditor
}

// NewAuditor returns the auditor of the store of a ledger.
func NewAuditor(l *ledger.Ledger, s AuditStore) *Auditor { return &Auditor{ledger: l, store: s} }

// ofSettings is the auditor of the store with the settings.
func (a *Auditor) ofSettings() *Auditor {
	if a.Settings != nil {
		return a.Settings
	}
	return a
}

// AuditQuery selects audit entries. The zero query selects all.
type AuditQuery struct {
	// SinceMs is in milliseconds since 1970; 0 means from the first entry on.
	SinceMs int64
	Action  audit.Action // "": every action
	// Limit keeps the newest entries only; 0 means all.
	Limit int
}

// AuditTrail is the document "audit": the decisions about a store, the newest
// last. Complete reports that none can be missing: every log was read to its
// end and understood.
type AuditTrail struct {
	Entries  []auditview.Entry  `json:"entries"`
	Complete bool               `json:"complete"`
	Findings []manifest.Finding `json:"findings"`
}

// AuditList returns the recorded acts. Facts whose lines are not written yet
// are included: a reader completes the history in memory from all other logs,
// read from their beginnings, so that no cache can hide an entry
// (docs/design.md#side-logs). It appends nothing. Logs that cannot be read make
// the history incomplete and are named in Findings, unless that is an error of session.Whole.
func (a *Auditor) AuditList(ctx context.Context, q AuditQuery) (AuditTrail, error) {
	out, err := session.Whole(a.store, func() (AuditTrail, error) { return a.list(ctx, q) })
	if a.Settings != nil && err == nil {
		var more AuditTrail
		more, err = a.Settings.list(ctx, q)
		out.Entries = append(out.Entries, more.Entries...)
		slices.SortStableFunc(out.Entries, func(a, b auditview.Entry) int { return cmp.Compare(a.AtMs, b.AtMs) })
		out.Complete, out.Findings = out.Complete && more.Complete, append(out.Findings, more.Findings...)
	}
	if n := len(out.Entries); q.Limit > 0 && n > q.Limit {
		out.Entries = out.Entries[n-q.Limit:]
	}
	return out, err
}

// list is AuditList for this store alone, without a limit.
func (a *Auditor) list(ctx context.Context, q AuditQuery) (AuditTrail, error) {
	out := AuditTrail{Entries: []auditview.Entry{}, Complete: true, Findings: []manifest.Finding{}}
	read, err := a.readAudit(ctx)
	if err != nil || read == nil {
		return out, err
	}
	out.Complete = read.verdict.Health == manifest.Healthy
	out.Findings = append(out.Findings, read.verdict.Findings...)
	for _, s := range read.logs {
		for _, f := range s.facts {
			read.history.AddUnwritten(f)
		}
		if s.finding != nil {
			out.Complete = false
			out.Findings = append(out.Findings, *s.finding)
		}
	}
	for _, e := range read.history.EntriesByTime() {
		if e.AtMs >= q.SinceMs && (q.Action == "" || q.Action == e.Action) {
			out.Entries = append(out.Entries, e)
		}
	}
	return out, nil
}

// auditContents is the audit log with the facts of all other logs.
type auditContents struct {
	store   id.Store
	log     manifest.Log
	history *auditview.History
	verdict manifest.Verdict
	logs    []auditedLog
}

// auditedLog is a log with facts, as read for the audit history.
type auditedLog struct {
	root     string
	facts    []auditview.Fact
	imported []auditview.Fact // came with a bundle
	// finding is the reason why more facts may exist; nil without one.
	finding *manifest.Finding
}

// readAudit reads the audit log, and then every log with facts. In this order
// each line that was read has its fact in a log that is read later. It is nil
// in a directory without a store of this program.
func (a *Auditor) readAudit(ctx context.Context) (*auditContents, error) {
	store, err := a.store.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		return nil, err
	}
	out := &auditContents{store: store, log: audit.LogOf(store)}
	if out.history, out.verdict, err = a.history(ctx, out.log); err != nil {
		return nil, err
	}
	all, err := a.ledger.Logs(ctx, store)
	if err != nil {
		return nil, err
	}
	imports := a.ledger.NewVerifiedImports()
	for _, log := range all {
		row, err := a.auditedLog(ctx, log, imports)
		if err != nil {
			return nil, err
		}
		out.logs = append(out.logs, row)
	}
	return out, nil
}

// history reads the audit log.
func (a *Auditor) history(ctx context.Context, log manifest.Log) (h *auditview.History, v manifest.Verdict, err error) {
	v, err = a.store.Read(ctx, ports.ReadRequest{Log: log},
		ports.Into(&h, func() *auditview.History { return auditview.NewHistory(log) }))
	return h, v, err
}

// auditedLog reads one log from its beginning. A log that cannot be read is a
// finding and no error, so that the others are still reported.
func (a *Auditor) auditedLog(ctx context.Context, log manifest.Log, imports *ledger.Imports) (auditedLog, error) {
	found, v, err := a.ledger.Facts(ctx, log, manifest.Head{}, imports)
	out := auditedLog{root: log.Root, facts: found.Facts, imported: found.Imported}
	switch {
	case ctx.Err() != nil:
		return out, fault.Wrap(ctx.Err(), fault.Interrupted, "reading was interrupted")
	case err != nil:
		f := manifest.NewFinding(manifest.AuditIncomplete, log.Root, "the decisions in this log cannot be read: %s",
			fault.Of(err).Message)
		out.finding, out.facts = &f, nil // it is not known which facts are this store's
	case v.Health == manifest.UnknownVersion && a.allImported(ctx, log, v.Head, imports):
		// A session of another program that was imported in full: its decisions
		// were made elsewhere and need no lines here.
	case v.Damaged(), v.Health == manifest.UnknownVersion:
		f := manifest.NewFinding(manifest.AuditIncomplete, log.Root,
			"the log is %s: it may contain more decisions", v.Health)
		out.finding = &f
	}
	return out, nil
}

// allImported reports that all events of a log up to a head came with a bundle.
func (a *Auditor) allImported(ctx context.Context, log manifest.Log, head manifest.Head, imports *ledger.Imports) bool {
	span, err := a.ledger.ImportedEvents(ctx, log, imports)
	return err == nil && span.From == 0 && span.Events >= head.Next
}
