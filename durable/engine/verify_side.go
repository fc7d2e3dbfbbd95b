package engine

import (
	"context"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// sideLogs verifies the side logs of a session by their chains and digests, and
// its annotations by content. Damage in one of them does not affect the health
// of the session's own log (docs/design.md#side-logs).
func (w *verifier) sideLogs(ctx context.Context, s id.Session) ([]manifest.Finding, error) {
	return w.side(ctx, s.String(),
		func(name string) manifest.Log { return manifest.SessionSide(s, event.Opaque(name, "sessionId")) })
}

// storeLogs verifies the logs of the store itself: audit log and proposals.
func (w *verifier) storeLogs(ctx context.Context) (out []manifest.Finding, err error) {
	if w.g.Identity == nil || w.g.SideLogs == nil {
		return nil, nil
	}
	store, err := w.g.Identity.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		return nil, err
	}
	return w.side(ctx, store.String(),
		func(name string) manifest.Log { return manifest.StoreLog(store, event.Opaque(name, "storeId")) })
}

// side verifies the side logs of an owner, a session or the store. Logs of
// known content have their own checks, unless only digests are verified.
func (w *verifier) side(ctx context.Context, owner string,
	logOf func(name string) manifest.Log) (out []manifest.Finding, err error) {
	if w.g.SideLogs == nil {
		return nil, nil
	}
	names, err := w.g.SideLogs.SideLogs(ctx, owner)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, nil // the inspection reports the directory
	}
	for _, name := range names {
		log := logOf(name)
		if log.Table.Name == audit.Table.Name && log.Table.OwnerField == "storeId" && !w.o.Digests {
			found, _, err := w.g.verifyAudit(ctx)
			if ctx.Err() != nil {
				return out, ctx.Err()
			}
			out = append(out, found...)
			if err == nil {
				continue
			}
		}
		check := func() ([]manifest.Finding, error) { return w.sideLog(ctx, log) }
		if session, err := id.ParseSession(owner); err == nil && name == feedback.Table.Name && !w.o.Digests {
			check = func() ([]manifest.Finding, error) { return w.annotations(ctx, session) }
		}
		if store, err := id.ParseStore(owner); err == nil && name == proposal.Table.Name && !w.o.Digests {
			check = func() ([]manifest.Finding, error) { return w.proposals(ctx, store) }
		}
		found, err := check()
		if err != nil {
			return out, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// sideLog verifies the chain and digests of one log with events of any kind.
func (w *verifier) sideLog(ctx context.Context, log manifest.Log) (out []manifest.Finding, err error) {
	v, err := w.g.Logs.Read(ctx, ports.ReadRequest{Log: log}, funcVisitor{func(manifest.Segment) error { return nil },
		func() {}})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return unreadableLog(log, err), nil
	}
	for _, f := range v.Findings {
		if f.Code != manifest.UnknownEvents { // the events are not decoded
			out = append(out, f)
		}
	}
	return out, nil
}

// unreadableLog is the finding about a log that the store refused to read.
func unreadableLog(log manifest.Log, cause error) []manifest.Finding {
	return []manifest.Finding{manifest.NewFinding(manifest.ManifestDamaged, log.Root, "the log cannot be read: %s",
		fault.Of(cause).Message)}
}
