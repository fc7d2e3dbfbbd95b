package verify

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	auditview "github.com/waybill/waybill/projections/audit"
)

// AuditVerification is the document "audit_verification". OK reports that no
// finding is an error.
type AuditVerification struct {
	OK       bool               `json:"ok"`
	Health   manifest.Health    `json:"health"`
	Events   int64              `json:"events"`
	Head     manifest.Head      `json:"head"`
	Findings []manifest.Finding `json:"findings"`
}

// AuditVerify verifies the audit log: its chain and digests, that every line
// has the fact it names, and that every fact has a line. A store without an
// audit log is valid. Where the settings are kept elsewhere, it verifies the audit log of them too; the head is that of the
// store. Errors are those of reading; damage is a finding.
func (a *Auditor) AuditVerify(ctx context.Context) (AuditVerification, error) {
	out, _, err := a.verify(ctx)
	if err != nil || a.Settings == nil {
		return out, err
	}
	own, err := a.Settings.AuditVerify(ctx)
	if err != nil {
		return AuditVerification{}, err
	}
	for _, f := range own.Findings {
		f.Message = "the settings of this machine: " + f.Message
		out.Findings = append(out.Findings, f)
	}
	if out.Health == manifest.Healthy {
		out.Health = own.Health
	}
	out.OK, out.Events = out.OK && own.OK, out.Events+own.Events
	return out, nil
}

// verify is AuditVerify, and returns what it has read; nil without a store.
func (a *Auditor) verify(ctx context.Context) (AuditVerification, *auditContents, error) {
	read, err := a.readAudit(ctx)
	if err != nil || read == nil {
		return AuditVerification{OK: true, Health: manifest.Healthy, Findings: []manifest.Finding{}}, nil, err
	}
	found := a.auditFindings(ctx, read, read.history)
	if len(found) > len(read.verdict.Findings)+len(read.history.Findings) {
		if found, err = a.explainedFindings(ctx, read); err != nil {
			return AuditVerification{}, nil, err
		}
	}
	return read.verification(found), read, nil
}

// verifyAgain repeats verify for what may have changed since read was read, and updates read.
// Only the audit log is read while no process writes to it; the logs of lines without a
// fact follow after that, so that a long reading blocks no writer.
func (a *Auditor) verifyAgain(ctx context.Context, read *auditContents,
	withoutChanges func(context.Context, manifest.Log, func() error) error) (AuditVerification, error) {
	err := withoutChanges(ctx, read.log, func() (err error) {
		read.history, read.verdict, err = a.history(ctx, read.log)
		return err
	})
	if err == nil {
		err = a.readUnfounded(ctx, read)
	}
	var found []manifest.Finding
	if err == nil {
		found, err = a.explainedFindings(ctx, read)
	}
	return read.verification(found), err
}

// readUnfounded reads the logs again in which facts of lines are missing. A log that does not exist any more is
// removed from read.
func (a *Auditor) readUnfounded(ctx context.Context, read *auditContents) error {
	doubtful := map[string]bool{}
	for _, e := range read.unfounded() {
		doubtful[e.Source.Root()] = true
	}
	if len(doubtful) == 0 {
		return nil
	}
	all, err := a.ledger.Logs(ctx, read.store)
	if err != nil {
		return err
	}
	read.logs = slices.DeleteFunc(read.logs, func(row auditedLog) bool { return doubtful[row.root] })
	imports := a.ledger.NewVerifiedImports()
	for _, log := range all {
		if !doubtful[log.Root] {
			continue
		}
		row, err := a.auditedLog(ctx, log, imports)
		if err != nil {
			return err
		}
		read.logs = append(read.logs, row)
	}
	return nil
}

// explainedFindings is auditFindings with the acts that were recorded by now. Sessions may have been moved, and
// decisions made, while the logs were read. Every act is recorded before it is carried out, so these acts explain what
// changed.
func (a *Auditor) explainedFindings(ctx context.Context, read *auditContents) ([]manifest.Finding, error) {
	later, _, err := a.history(ctx, read.log)
	if err != nil {
		return nil, err
	}
	return a.auditFindings(ctx, read, later), nil
}

// verification returns the document about the findings in what was read.
func (c *auditContents) verification(found []manifest.Finding) AuditVerification {
	out := AuditVerification{OK: true, Health: c.verdict.Health, Head: c.verdict.Head, Events: c.verdict.Head.Next,
		Findings: append([]manifest.Finding{}, found...)}
	for _, f := range out.Findings {
		out.OK = out.OK && f.Severity != manifest.SeverityError
	}
	return out
}

// unfounded returns the entries whose log does not have their fact. Acts have no source; a line must match its fact in
// all members.
func (c *auditContents) unfounded() (out []auditview.Entry) {
	facts := map[id.Event][]auditview.Fact{}
	for _, s := range c.logs {
		for _, f := range slices.Concat(s.imported, s.facts) {
			facts[f.Source.EventID] = append(facts[f.Source.EventID], f)
		}
	}
	for _, e := range c.history.Entries {
		if e.Source != nil && !slices.ContainsFunc(facts[e.Source.EventID], func(f auditview.Fact) bool {
			return f.Source == *e.Source && f.Action == e.Action && f.Target == e.Target
		}) {
			out = append(out, e)
		}
	}
	return out
}

// auditFindings compares lines and facts in both directions. A missing line is
// a warning, because the next writer adds it; a line without a fact is an error
// unless a recorded act explains the loss. later is the audit log as it was read last.
func (a *Auditor) auditFindings(ctx context.Context, read *auditContents, later *auditview.History) []manifest.Finding {
	out := slices.Concat(read.verdict.Findings, read.history.Findings)
	rows := map[string]auditedLog{}
	for _, s := range read.logs {
		rows[s.root] = s
		missing := 0
		for _, f := range s.facts {
			if !later.Has(f) {
				missing++
			}
		}
		if missing > 0 {
			// Either a call was interrupted, or its line is being written now.
			out = append(out, manifest.NewFinding(manifest.AuditIncomplete, s.root,
				"%d decisions made here have no line in the audit log yet; the next audit write adds them", missing))
		}
		if s.finding != nil {
			out = append(out, *s.finding)
		}
	}
	explained := a.lossExplainer(ctx, later)
	for _, e := range read.unfounded() {
		row, exists := rows[e.Source.Root()]
		code, problem := manifest.AuditUnfounded, "records a fact that the log does not contain"
		if !exists {
			code, problem = manifest.AuditSessionMissing,
				"is about a session that does not exist, and no deletion is recorded"
		}
		if row.finding == nil && !explained(*e.Source, exists) {
			out = append(out, manifest.NewFinding(code, read.log.Root, "the line %s %s: event %d of %s", e.EventID,
				problem, e.Source.EventIndex, e.Source.Root()))
		}
	}
	return out
}

// lossExplainer returns a function that reports whether a recorded act explains
// that a fact is absent. A session that does not exist was deleted or is in the
// trash; a cleanup and the emptying of the trash are recorded without session
// ids and explain any. An existing session may have lost its end to a repair,
// or be an older copy that was restored.
func (a *Auditor) lossExplainer(ctx context.Context, h *auditview.History) func(from audit.Source, exists bool) bool {
	acted := map[audit.Action]map[string]bool{}
	for _, e := range h.Entries {
		if acted[e.Action] == nil {
			acted[e.Action] = map[string]bool{}
		}
		acted[e.Action][e.Target.ID] = true
	}
	all, _ := a.store.TrashEntries(ctx)
	for _, t := range all {
		if acted[audit.Delete] == nil {
			acted[audit.Delete] = map[string]bool{}
		}
		acted[audit.Delete][t.Session.String()] = true
	}
	return func(from audit.Source, exists bool) bool {
		name := from.SessionID.String()
		if from.SessionID.IsZero() { // logs of the store are repaired under the store itself
			return acted[audit.Repair][""]
		}
		if exists {
			return acted[audit.Repair][name] || acted[audit.Delete][name]
		}
		return acted[audit.Delete][name] || len(acted[audit.GC]) > 0 || len(acted[audit.EmptyTrash]) > 0
	}
}
