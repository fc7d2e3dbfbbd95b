package engine

import (
	"context"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// AuditQuery says which acts are asked for.
type AuditQuery struct {
	SinceMs int64        // clock reading in milliseconds since 1970; 0: from the first on
	Action  audit.Action // "": every action
	Limit   int          // the newest so many; 0: all
}

// AuditTrail is the document "audit": what people decided about a store, the newest
// last. Complete says that nothing can be missing: every log was read to its end and
// understood.
type AuditTrail struct {
	Entries  []projections.AuditEntry `json:"entries"`
	Complete bool                     `json:"complete"`
	Findings []manifest.Finding       `json:"findings"`
}

// AuditList tells what is on record. Facts whose lines are not written yet are among
// the entries: a reader completes the log in memory, from all other logs and their
// beginnings, so that nothing that was saved to be faster can hide one (R10).
func (g *Engine) AuditList(ctx context.Context, q AuditQuery) (AuditTrail, error) {
	out := AuditTrail{Entries: []projections.AuditEntry{}, Complete: true, Findings: []manifest.Finding{}}
	read, err := g.readAudit(ctx)
	if err != nil || read == nil {
		return out, err
	}
	out.Complete = read.verdict.Health == manifest.Healthy
	out.Findings = append(out.Findings, read.verdict.Findings...)
	for _, s := range read.logs {
		for _, f := range s.facts {
			read.trail.Complete(f)
		}
		if s.finding != nil {
			out.Complete = false
			out.Findings = append(out.Findings, *s.finding)
		}
	}
	for _, e := range read.trail.Newest() {
		if e.AtMs >= q.SinceMs && (q.Action == "" || q.Action == e.Action) {
			out.Entries = append(out.Entries, e)
		}
	}
	if n := len(out.Entries); q.Limit > 0 && n > q.Limit {
		out.Entries = out.Entries[n-q.Limit:]
	}
	return out, nil
}

// auditRead is the audit log and all that it should tell of.
type auditContents struct {
	log     manifest.Log
	trail   *projections.AuditTrail
	verdict manifest.Verdict
	logs    []auditedLog
}

// auditedLog is a log with facts as a reader of the audit log sees it.
type auditedLog struct {
	root     string
	facts    []projections.AuditFact
	imported []projections.AuditFact // that came with a bundle
	finding  *manifest.Finding       // why there may be more facts than these
}

// readAudit reads the audit log, and then every log with facts: a line that was written
// before the one was read is about a fact that the other holds. It is nil where there
// is no store of ours.
func (g *Engine) readAudit(ctx context.Context) (*auditContents, error) {
	store, err := g.Identity.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		return nil, err
	}
	out := &auditContents{log: auditLog(store), trail: projections.NewAuditTrail(auditLog(store))}
	if out.verdict, err = g.Logs.Read(ctx, ports.Reading{Log: out.log}, out.trail); err != nil {
		return nil, err
	}
	all, err := g.auditedLogs(ctx, store)
	if err != nil {
		return nil, err
	}
	imports := &importIndex{g: g}
	for _, log := range all {
		row, err := g.auditedLog(ctx, log, imports)
		if err != nil {
			return nil, err
		}
		out.logs = append(out.logs, row)
	}
	return out, nil
}

// auditedLog reads one log whole. One that cannot be read is no error: the others must
// be told of.
func (g *Engine) auditedLog(ctx context.Context, log manifest.Log, imports *importIndex) (auditedLog, error) {
	found, v, err := g.auditFacts(ctx, log, manifest.Head{}, imports)
	out := auditedLog{root: log.Root, facts: found.facts, imported: found.imported}
	switch {
	case ctx.Err() != nil:
		return out, fault.Wrap(ctx.Err(), fault.Interrupted, "reading was interrupted")
	case err != nil:
		f := manifest.NewFinding(manifest.AuditIncomplete, log.Root, "what was decided here cannot be read: %s",
			fault.Of(err).Message)
		out.finding, out.facts = &f, nil // which of them are of this store may be what is not known
	case v.Health == manifest.UnknownVersion && g.allImported(ctx, log, v.Head, imports):
		// Another program's session, as a bundle brought it: it was decided elsewhere, so
		// that none of it has or wants a line, whatever it says.
	case v.Damaged(), v.Health == manifest.UnknownVersion:
		f := manifest.NewFinding(manifest.AuditIncomplete, log.Root,
			"the log is %s: there may be more that was decided here", v.Health)
		out.finding = &f
	}
	return out, nil
}

// allBrought reports a log that came with a bundle up to this head.
func (g *Engine) allImported(ctx context.Context, log manifest.Log, head manifest.Head, imports *importIndex) bool {
	n, err := g.importedEvents(ctx, log, imports)
	return err == nil && n >= head.Next
}
