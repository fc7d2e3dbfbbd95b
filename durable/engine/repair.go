package engine

import (
	"context"
	"slices"
	"strconv"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// RepairCall says what is to be repaired: "" for all of the store, or a session by its
// own id or by a run. Without Apply nothing changes.
type RepairCall struct {
	Ref   string
	Apply bool
}

// RepairReport is the document "repair": what was done, or would be, what is lost, and
// what else verification sees. Applied says that the steps were taken.
type RepairReport struct {
	Applied  bool            `json:"applied"`
	Steps    []RepairStep    `json:"steps"`
	Lost     Lost            `json:"lost"`
	Findings []RepairFinding `json:"findings"` // after what was applied
}

// RepairStep is one step, and which log or file it is for.
type RepairStep struct {
	SessionID string          `json:"sessionId,omitzero"` // "" where it is about the store
	Log       string          `json:"log"`                // the folder of the log, or the control file
	What      ports.RepairAct `json:"what"`
	From      string          `json:"from"`
	To        string          `json:"to"`
	Bytes     int64           `json:"bytes"`
}

// Waiting reports that something can be repaired and was not.
func (r RepairReport) Waiting() bool { return !r.Applied && len(r.Steps) > 0 }

// Hopeless reports errors that no repair takes away.
func (r RepairReport) Hopeless() bool {
	return slices.ContainsFunc(r.Findings, func(f RepairFinding) bool {
		return f.Severity == manifest.SeverityError && f.Outlook != Repairable
	})
}

// repair is one call under way.
type repair struct {
	g         *Engine
	by        Caller
	call      RepairCall
	out       RepairReport
	withSteps map[string]bool // logs and files that have steps
}

// Repair takes damage out of the way (R9), or says how it would. It deletes nothing and
// makes nothing up: what cannot be brought back is told. Each log is repaired for
// itself, so that a call that fails has done some, and the next one does the rest.
func (g *Engine) Repair(ctx context.Context, by Caller, call RepairCall) (RepairReport, error) {
	r := &repair{g: g, by: by, call: call, withSteps: map[string]bool{},
		out: RepairReport{Applied: call.Apply, Steps: []RepairStep{}, Lost: Lost{Logs: []LostOfLog{}},
			Findings: []RepairFinding{}}}
	var only id.Session
	if call.Ref != "" {
		var err error
		if only, err = g.resolveSession(ctx, call.Ref); err != nil {
			return r.out, err
		}
		if err := r.repairSession(ctx, only); err != nil {
			return r.out, err
		}
	} else if err := r.repairStore(ctx); err != nil {
		return r.out, err
	}
	var v Verification
	var err error
	switch {
	case call.Ref == "":
		v, err = g.Verify(ctx)
	case r.absent(ctx, only): // all of it lies in the quarantine
	default:
		v, err = g.VerifySession(ctx, only.String())
	}
	r.addFindings(v)
	return r.out, err
}

func (r *repair) absent(ctx context.Context, s id.Session) bool {
	all, err := r.g.Sessions.Sessions(ctx)
	return err == nil && !slices.Contains(all, s)
}

// everything repairs what belongs to the store, then its sessions. The audit log comes
// first: the others are put on record there.
func (r *repair) repairStore(ctx context.Context) error {
	store, err := r.g.Identity.StoreID(ctx, ports.ReadOnly)
	if err != nil {
		return err
	}
	var logs []string
	if !store.IsZero() { // another program's store has none, and refuses the rest below
		if logs, err = r.sideLogs(ctx, store.String()); err != nil {
			return err
		}
	}
	slices.SortStableFunc(logs,
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
	all, err := r.g.Sessions.Sessions(ctx)
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

// before sorts what is so in front of what is not.
func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func (r *repair) sideLogs(ctx context.Context, owner string) ([]string, error) {
	if r.g.SideLogs == nil {
		return nil, nil
	}
	return r.g.SideLogs.SideLogs(ctx, owner)
}

// session repairs a session's own log and then those beside it, where they still are.
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

// log repairs one log. One that cannot even be read, or is of a later version, must not
// keep the others from being repaired: verification tells of it.
func (r *repair) repairLog(ctx context.Context, log manifest.Log, target audit.Target, s id.Session) error {
	lost := newLoss(log)
	call := ports.LogRepair{Log: log, By: r.by.Actor, AtMs: r.by.AtMs, DryRun: true, Aside: lost.readQuarantined}
	if log.Table == event.Domain {
		b, _ := r.g.brief(ctx, s, r.g.headKey(ctx))
		call.Claimed = b.Head.Next
	}
	done, err := r.g.Repairs.RepairLog(ctx, call)
	if fault.Is(err, fault.SessionUnhealthy) || fault.Is(err, fault.StoreCorrupt) {
		return nil
	}
	if err == nil && len(done.Steps) > 0 && r.call.Apply {
		call.DryRun = false
		do := func() (map[string]string, error) {
			lost.reset()
			done, err = r.g.Repairs.RepairLog(ctx, call)
			r.g.dropCached(s)
			return map[string]string{"log": log.Root, "quarantine": done.Folder,
				"eventsKept": strconv.FormatInt(done.Verdict.Head.Next, 10)}, err
		}
		what := audit.Act{Action: audit.Repair, Target: target, Details: map[string]string{"log": log.Root}}
		if log.Table.Name == audit.Table.Name && log.Table.OwnerField == "storeId" {
			// A damaged audit log takes no intention: what was done is told once it can.
			var details map[string]string
			if details, err = do(); err == nil {
				err = r.g.act(ctx, r.by, what, func() (map[string]string, error) { return details, nil })
			}
		} else {
			err = r.g.act(ctx, r.by, what, do)
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
	r.out.Lost.add(lost.report(sessionID, done.Verdict.Head, call.Claimed))
	return nil
}

func (r *repair) addSteps(sessionID, log string, steps []ports.RepairStep) {
	r.withSteps[log] = true
	for _, s := range steps {
		r.out.Steps = append(r.out.Steps, RepairStep{SessionID: sessionID, Log: log, What: s.What, From: s.From,
			To: s.To, Bytes: s.Bytes})
	}
}

// settings sets aside what cannot be read of how the store is configured and whose
// commands may run: then the defaults hold, and nothing is trusted.
func (r *repair) repairSettings(ctx context.Context) error {
	for _, c := range []struct {
		file  ports.ControlFile
		check func(ports.Control) error
	}{
		{configFile, func(c ports.Control) error { _, err := configOf(c); return err }},
		{trustFile, func(c ports.Control) error { _, err := trustOf(c); return err }},
	} {
		call := ports.ControlRepair{File: c.file, By: r.by.Actor, AtMs: r.by.AtMs, DryRun: true}
		done, err := r.g.Repairs.RepairControl(ctx, call, c.check)
		if fault.Is(err, fault.StoreNewer) {
			continue
		}
		if err == nil && len(done.Steps) > 0 && r.call.Apply {
			call.DryRun = false
			err = r.g.act(ctx, r.by, audit.Act{Action: audit.Repair, Target: audit.Target{Kind: audit.OfStore},
				Details: map[string]string{"file": c.file.Name}},
				func() (map[string]string, error) {
					done, err = r.g.Repairs.RepairControl(ctx, call, c.check)
					return map[string]string{"file": c.file.Name, "quarantine": done.Folder}, err
				})
		}
		if err != nil {
			return err
		}
		r.addSteps("", c.file.Name, done.Steps)
	}
	return nil
}
