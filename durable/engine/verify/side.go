package verify

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/idempotency"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	auditview "github.com/waybill/waybill/projections/audit"
)

// logCheck verifies one log by its content. ok is false if only its chain and
// digests can be verified.
type logCheck struct {
	once func(ctx context.Context) (found []manifest.Finding, ok bool, err error)
	// again repeats what once found in logs that may have changed meanwhile. nil:
	// once is repeated while no process writes to the log.
	again func(ctx context.Context) ([]manifest.Finding, error)
}

// sideLogs verifies the side logs of a session by their chains and digests, and
// its annotations by content. Damage in one of them does not affect the health
// of the session's own log (docs/design.md#side-logs).
func (w *storeCheck) sideLogs(ctx context.Context, s id.Session) ([]manifest.Finding, error) {
	return w.side(ctx, s.String(),
		func(name string) manifest.Log { return manifest.SessionSide(s, event.Opaque(name, "sessionId")) },
		map[string]logCheck{feedback.Table.Name: {once: func(ctx context.Context) ([]manifest.Finding, bool, error) {
			found, err := w.annotations(ctx, s)
			return found, true, err
		}}})
}

// storeLogs verifies the logs of the store itself, audit log, proposals and answers, and whether the audit
// log has the confirmation of the settings.
func (x *Verifier) storeLogs(ctx context.Context, w *storeCheck) (out []manifest.Finding, err error) {
	store, err := w.store.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		return nil, err
	}
	acts := auditview.NewHistory(audit.LogOf(store)) // of a store without an audit log
	var read *auditContents
	known := func(v AuditVerification, err error) ([]manifest.Finding, bool, error) {
		switch {
		case ctx.Err() != nil:
			return nil, false, ctx.Err()
		case err != nil || v.Health != manifest.Healthy:
			acts = nil // what was confirmed is not known
		case read != nil:
			acts = read.history
		}
		return v.Findings, err == nil, nil
	}
	out, err = w.side(ctx, store.String(),
		func(name string) manifest.Log { return manifest.StoreLog(store, event.Opaque(name, "storeId")) },
		map[string]logCheck{
			audit.Table.Name: {
				once: func(ctx context.Context) ([]manifest.Finding, bool, error) {
					v, contents, err := x.audit.verify(ctx)
					read = contents
					return known(v, err)
				},
				again: func(ctx context.Context) ([]manifest.Finding, error) {
					v, err := x.audit.verifyAgain(ctx, read, w.store.WithoutChanges)
					if err != nil && ctx.Err() == nil {
						return unreadableLog(read.log, err)
					}
					found, _, err := known(v, err)
					return found, err
				},
			},
			idempotency.Table.Name: {once: func(ctx context.Context) ([]manifest.Finding, bool, error) {
				found, err := w.answers(ctx, store)
				return found, true, err
			}},
			proposal.Table.Name: {once: func(ctx context.Context) ([]manifest.Finding, bool, error) {
				found, err := w.proposals(ctx, store)
				return found, true, err
			}},
		})
	if err == nil && acts != nil && !w.o.Digests {
		var found []manifest.Finding
		found, err = x.audit.currentPolicyFindings(ctx, acts, audit.LogOf(store))
		out = append(append(out, found...), actFindings(acts)...)
	}
	if w.anchored != nil {
		out = append(out, w.anchored.policyFindings()...)
	}
	return out, err
}

// side verifies the side logs of an owner, a session or the store. Logs of
// known content have their own checks, unless only digests are verified.
func (w *storeCheck) side(ctx context.Context, owner string, logOf func(name string) manifest.Log,
	checks map[string]logCheck) (out []manifest.Finding, err error) {
	names, err := w.store.SideLogs(ctx, owner)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, nil // the inspection reports the directory
	}
	for _, name := range names {
		found, err := w.confirmedSideLog(ctx, logOf(name), checks[name])
		if err != nil {
			return out, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// confirmedSideLog verifies a side log. What looks damaged is verified again
// while no process writes to the log (docs/design.md#reading).
func (w *storeCheck) confirmedSideLog(ctx context.Context, log manifest.Log, check logCheck) (out []manifest.Finding,
	err error) {
	byContent := false
	once := func() error {
		byContent, out = false, nil
		if check.once != nil && !w.o.Digests {
			if out, byContent, err = check.once(ctx); err != nil || byContent {
				return err
			}
		}
		chain, err := w.sideLog(ctx, log)
		out = append(out, chain...)
		return err
	}
	if err := once(); err != nil || !slices.ContainsFunc(out, isTransient) {
		return out, err
	}
	if check.again != nil {
		if byContent {
			return check.again(ctx)
		}
		check.once = nil // only the chain was verified
	}
	err = w.store.WithoutChanges(ctx, log, once)
	return out, err
}

// sideLog verifies the chain and digests of one log with events of any kind.
func (w *storeCheck) sideLog(ctx context.Context, log manifest.Log) (out []manifest.Finding, err error) {
	v, err := w.store.Read(ctx, ports.ReadRequest{Log: log}, ports.Skip)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return unreadableLog(log, err)
	}
	for _, f := range v.Findings {
		if f.Code != manifest.UnknownEvents { // the events are not decoded
			out = append(out, f)
		}
	}
	return out, nil
}

// unreadableLog is the finding about a log that the store refused to read. A busy
// lock is an error: nothing is known about the log.
func unreadableLog(log manifest.Log, cause error) ([]manifest.Finding, error) {
	if isBusy(cause) {
		return nil, cause
	}
	return []manifest.Finding{manifest.NewFinding(manifest.ManifestDamaged, log.Root, "the log cannot be read: %s",
		fault.Of(cause).Message)}, nil
}
