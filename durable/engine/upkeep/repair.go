package upkeep

import (
	"context"
	"slices"
	"strconv"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/settings"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/ports"
)

// RepairCall selects what to repair: the whole store, or one session by session
// or run id. Without Apply nothing changes.
type RepairCall struct {
	Ref   string
	Apply bool
}

// RepairReport is the document "repair": the steps that were or would be
// executed, what is lost, and the findings of the verification afterwards.
type RepairReport struct {
	Applied bool         `json:"applied"`
	Steps   []RepairStep `json:"steps"`
	Lost    Lost         `json:"lost"`
	// Findings are those after the steps were executed.
	Findings []RepairFinding `json:"findings"`
}

// RepairStep is one step, with the log or file that it concerns.
type RepairStep struct {
	// SessionID is "" for a file of the store.
	SessionID string `json:"sessionId,omitzero"`
	// Log is the directory of the log, or the name of the control file.
	Log   string          `json:"log"`
	What  ports.RepairAct `json:"what"`
	From  string          `json:"from"`
	To    string          `json:"to"`
	Bytes int64           `json:"bytes"`
}

// Pending reports that steps exist and were not executed.
func (r RepairReport) Pending() bool { return !r.Applied && len(r.Steps) > 0 }

// Unrepairable reports errors that no repair can remove.
func (r RepairReport) Unrepairable() bool {
	return slices.ContainsFunc(r.Findings, func(f RepairFinding) bool {
		return f.Severity == manifest.SeverityError && f.Outlook != Repairable
	})
}

// repair is one call under way.
type repair struct {
	u    *Upkeep
	by   engine.Caller
	call RepairCall
	out  RepairReport
	// withSteps has the logs and files that have steps.
	withSteps map[string]bool
}

// Repair moves damaged parts of logs and control files to the quarantine, or
// reports how it would (docs/design.md#log-tail). It deletes nothing and
// invents nothing; what cannot be recovered is reported as lost. Each log is
// repaired on its own: a call that fails may have repaired some, and the next
// one continues.
//
// Errors: those of the repair port. SESSION_LOCKED if a process writes to the
// log. What verification finds afterwards is in the report.
func (u *Upkeep) Repair(ctx context.Context, by engine.Caller, call RepairCall) (RepairReport, error) {
	r := &repair{u: u, by: by, call: call, withSteps: map[string]bool{},
		out: RepairReport{Applied: call.Apply, Steps: []RepairStep{}, Lost: Lost{Logs: []LostLog{}},
			Findings: []RepairFinding{}}}
	var only id.Session
	if call.Ref != "" {
		var err error
		if only, err = u.e.ResolveSession(ctx, call.Ref); err != nil {
			return r.out, err
		}
		if err := r.repairSession(ctx, only); err != nil {
			return r.out, err
		}
	} else if err := r.repairStore(ctx); err != nil {
		return r.out, err
	}
	var v verify.Verification
	var err error
	switch {
	case call.Ref == "":
		v, err = u.verifier.Verify(ctx)
	case r.absent(ctx, only): // the whole session was moved to the quarantine
	default:
		v, err = u.verifier.VerifySession(ctx, only.String())
	}
	r.addFindings(v)
	return r.out, err
}

// absent reports that a session is not listed any more.
func (r *repair) absent(ctx context.Context, s id.Session) bool {
	all, err := r.u.store.Sessions(ctx)
	return err == nil && !slices.Contains(all, s)
}

// repairStore repairs the logs and settings of the store, then its sessions.
// The audit log comes first, because the other repairs are recorded there.
func (r *repair) repairStore(ctx context.Context) error {
	store, err := r.u.store.StoreID(ctx, ports.ReadOnly)
	if err != nil {
		return err
	}
	var logs []string
	if !store.IsZero() { // another program's store has no logs here; the steps below refuse it
		if logs, err = r.sideLogs(ctx, store.String()); err != nil {
			return err
		}
	}
	sorting.Stable(logs,
		func(a, b string) int { return trueFirst(a == audit.Table.Name, b == audit.Table.Name) })
	for _, name := range logs {
		log := manifest.StoreLog(store, event.Opaque(name, "storeId"))
		if err := r.repairLog(ctx, log, audit.Target{Kind: audit.OfStore}, id.Session{}); err != nil {
			return err
		}
	}
	if err := r.repairSettings(ctx); err != nil {
		return err
	}
	all, err := r.u.store.Sessions(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		if err := r.repairSession(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// trueFirst orders true before false.
func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// sideLogs lists the side logs of a session or of the store.
func (r *repair) sideLogs(ctx context.Context, owner string) ([]string, error) {
	return r.u.store.SideLogs(ctx, owner)
}

// repairSession repairs a session's own log and then its side logs.
func (r *repair) repairSession(ctx context.Context, s id.Session) error {
	target := audit.Target{Kind: audit.OfSession, ID: s.String()}
	logs, err := r.sideLogs(ctx, s.String())
	if err != nil {
		return err
	}
	if err := r.repairLog(ctx, manifest.SessionEvents(s), target, s); err != nil {
		return err
	}
	for _, name := range logs {
		if err := r.repairLog(ctx, manifest.SessionSide(s, event.Opaque(name, "sessionId")), target, s); err != nil {
			return err
		}
	}
	return r.trimImportMark(ctx, s)
}

// repairLog repairs one log: first a dry run that finds the steps, then the
// steps as an audited act. A log that cannot be read at all, or has a later
// version, is left to the verification, so that it does not block the others.
func (r *repair) repairLog(ctx context.Context, log manifest.Log, target audit.Target, s id.Session) error {
	lost := newLoss(log)
	call := ports.LogRepair{Log: log, By: r.by.Actor, AtMs: r.by.AtMs, DryRun: true, Quarantine: lost.readQuarantined}
	// Only session logs have a head cache that can prove a loss.
	if log.Table == event.Domain {
		b, _ := r.u.e.Brief(ctx, s, r.u.e.HeadKey(ctx))
		call.ExpectedNext = b.Head.Next
	}
	done, err := r.u.store.RepairLog(ctx, call)
	if fault.Is(err, fault.SessionUnhealthy) || fault.Is(err, fault.StoreCorrupt) {
		return nil
	}
	if err == nil && len(done.Steps) > 0 && r.call.Apply {
		// The port finds the damage again under its lock: it may differ from
		// the dry run.
		call.DryRun = false
		do := func() (map[string]string, error) {
			lost.reset()
			done, err = r.u.store.RepairLog(ctx, call)
			r.u.e.Drop(s)
			return map[string]string{"log": log.Root, "quarantine": done.QuarantinePlace,
				"eventsKept": strconv.FormatInt(done.Verdict.Head.Next, 10)}, err
		}
		what := audit.Act{Action: audit.Repair, Target: target, Details: map[string]string{"log": log.Root}}
		if log.Table.Name == audit.Table.Name && log.Table.OwnerField == "storeId" {
			// A damaged audit log does not accept an intention; the repair is
			// recorded after it.
			var details map[string]string
			if details, err = do(); err == nil {
				err = r.u.ledger.Act(ctx, r.by, what, func() (map[string]string, error) { return details, nil })
			}
		} else {
			err = r.u.ledger.Act(ctx, r.by, what, do)
		}
	}
	if err != nil || len(done.Steps) == 0 {
		return err
	}
	sessionID := ""
	if !s.IsZero() {
		sessionID = s.String()
	}
	r.addSteps(sessionID, log.Root, done.Steps)
	r.out.Lost.add(lost.report(sessionID, done.Verdict.Head, call.ExpectedNext))
	return nil
}

// addSteps adds the steps of a log or file to the report.
func (r *repair) addSteps(sessionID, log string, steps []ports.RepairStep) {
	r.withSteps[log] = true
	for _, s := range steps {
		r.out.Steps = append(r.out.Steps, RepairStep{SessionID: sessionID, Log: log, What: s.What, From: s.From,
			To: s.To, Bytes: s.Bytes})
	}
}

// repairSettings moves unreadable configuration, trust and key files to the
// quarantine. The defaults apply afterwards, no workflow is trusted, and no key
// of a program counts.
func (r *repair) repairSettings(ctx context.Context) error {
	for _, c := range []struct {
		file  ports.ControlFile
		check func(ports.Control) error
	}{
		{settings.ConfigFile, func(c ports.Control) error { _, err := settings.ConfigOf(c); return err }},
		{settings.TrustFile, func(c ports.Control) error { _, err := settings.TrustOf(c); return err }},
		{settings.HTTPKeysFile, func(c ports.Control) error { _, err := settings.HTTPKeysOf(c); return err }},
	} {
		call := ports.ControlRepair{File: c.file, By: r.by.Actor, AtMs: r.by.AtMs, DryRun: true}
		done, err := r.u.store.RepairControl(ctx, call, c.check)
		if fault.Is(err, fault.StoreNewer) {
			continue
		}
		if err == nil && len(done.Steps) > 0 && r.call.Apply {
			call.DryRun = false
			err = r.u.ledger.Act(ctx, r.by, audit.Act{Action: audit.Repair, Target: audit.Target{Kind: audit.OfStore},
				Details: map[string]string{"file": c.file.Name}},
				func() (map[string]string, error) {
					done, err = r.u.store.RepairControl(ctx, call, c.check)
					return map[string]string{"file": c.file.Name, "quarantine": done.QuarantinePlace}, err
				})
		}
		if err != nil {
			return err
		}
		if len(done.Steps) > 0 {
			r.addSteps("", c.file.Name, done.Steps)
		}
	}
	return nil
}
