package engine

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections"
)

// AuditVerification is the document "audit_verification". OK says that no finding is an
// error.
type AuditVerification struct {
	OK       bool               `json:"ok"`
	Health   manifest.Health    `json:"health"`
	Events   int64              `json:"events"`
	Head     manifest.Head      `json:"head"`
	Findings []manifest.Finding `json:"findings"`
}

// AuditVerify checks the audit log: its chain and digests, that every line has the fact
// that it is about, and every fact its line. A store without one is as it should be.
func (g *Engine) AuditVerify(ctx context.Context) (AuditVerification, error) {
	out := AuditVerification{OK: true, Health: manifest.Healthy, Findings: []manifest.Finding{}}
	read, err := g.readAudit(ctx)
	if err != nil || read == nil {
		return out, err
	}
	out.Health, out.Head, out.Events = read.verdict.Health, read.verdict.Head, read.verdict.Head.Next
	out.Findings = append(out.Findings, g.auditFindings(ctx, read)...)
	for _, f := range out.Findings {
		out.OK = out.OK && f.Severity != manifest.SeverityError
	}
	return out, nil
}

// verifyAudit is AuditVerify for the verification of the whole store. The head is that
// of the audit log.
func (g *Engine) verifyAudit(ctx context.Context) ([]manifest.Finding, manifest.Head, error) {
	v, err := g.AuditVerify(ctx)
	return v.Findings, v.Head, err
}

func (g *Engine) auditFindings(ctx context.Context, read *auditContents) []manifest.Finding {
	out := slices.Concat(read.verdict.Findings, read.trail.Findings)
	rows := map[string]auditedLog{}
	facts := map[id.Event][]projections.AuditFact{}
	for _, s := range read.logs {
		rows[s.root] = s
		missing := 0
		for _, f := range slices.Concat(s.imported, s.facts) {
			facts[f.Source.EventID] = append(facts[f.Source.EventID], f)
		}
		for _, f := range s.facts {
			if !read.trail.Has(f) {
				missing++
			}
		}
		if missing > 0 {
			// A call was interrupted, or its line is being written at this moment.
			out = append(out, manifest.NewFinding(manifest.AuditIncomplete, s.root,
				"%d of what was decided here has no line in the audit log yet; the next one that is written "+
					"completes it", missing))
		}
		if s.finding != nil {
			out = append(out, *s.finding)
		}
	}
	explained := g.lossExplainer(ctx, read)
	for _, e := range read.trail.Entries {
		if e.Source == nil || slices.ContainsFunc(facts[e.Source.EventID], func(f projections.AuditFact) bool {
			return f.Source == *e.Source && f.Action == e.Action && f.Target == e.Target
		}) {
			continue
		}
		row, exists := rows[e.Source.Root()]
		code, problem := manifest.AuditUnfounded, "says what the log does not hold"
		if !exists {
			code, problem = manifest.AuditSessionMissing, "is about a session that is not here, and nobody deleted it"
		}
		if row.finding == nil && !explained(*e.Source, exists) {
			out = append(out, manifest.NewFinding(code, read.log.Root, "the line %s %s: event %d of %s", e.EventID,
				problem, e.Source.EventIndex, e.Source.Root()))
		}
	}
	return out
}

// lostFor tells where it is explained that a fact is not there. A session that is gone
// was deleted or lies in the trash; what a cleanup takes, and what goes when the trash
// is emptied, is recorded without the names of sessions. From one that is there a
// repair may have taken the end away, or a restored one may be an older one.
func (g *Engine) lossExplainer(ctx context.Context, read *auditContents) func(from audit.Source, exists bool) bool {
	acted := map[audit.Action]map[string]bool{}
	for _, e := range read.trail.Entries {
		if acted[e.Action] == nil {
			acted[e.Action] = map[string]bool{}
		}
		acted[e.Action][e.Target.ID] = true
	}
	if g.Trash != nil {
		all, _ := g.Trash.Trashed(ctx)
		for _, t := range all {
			if acted[audit.Delete] == nil {
				acted[audit.Delete] = map[string]bool{}
			}
			acted[audit.Delete][t.Session.String()] = true
		}
	}
	return func(from audit.Source, exists bool) bool {
		name := from.SessionID.String()
		if from.SessionID.IsZero() { // a repair of the store's log is one of the store
			return acted[audit.Repair][""]
		}
		if exists {
			return acted[audit.Repair][name] || acted[audit.Delete][name]
		}
		return acted[audit.Delete][name] || len(acted[audit.GC]) > 0 || len(acted[audit.EmptyTrash]) > 0
	}
}
