package verify

import (
	"context"
	"path"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// missingImportMark reports a session that came with a bundle and has no mark
// of that any more. The import shows in the session's first event if it was
// imported as new, and in the audit log; without either it cannot be detected.
// A verification by digests decodes neither and skips the check.
func (w *storeCheck) missingImportMark(ctx context.Context, s id.Session, from *event.ImportedFrom) []manifest.Finding {
	if w.bundle || w.o.Digests {
		return nil
	}
	if c, err := w.store.SessionControl(ctx, s, ports.ImportedFile); err != nil || c.V != 0 {
		return nil // the inspection reports damaged marks
	}
	problem := ""
	switch {
	case w.auditedImports(ctx)[s.String()]: // the audit log replaces the file
		problem = "it is missing, and the audit log records that the session was imported; only that log " +
			"distinguishes imported approvals"
	case from != nil:
		problem = "it is missing, and the session's first event records an import; imported approvals count as if " +
			"they were given here"
	default:
		return nil
	}
	at := path.Join(manifest.SessionEvents(s).Root, ports.ImportedFile.Name)
	return []manifest.Finding{manifest.NewFinding(manifest.ControlMissing, at, "%s", problem)}
}

// auditedImports returns the sessions that were imported according to the audit
// log, which is read once for all of them. Damage of the audit log is reported
// where that is verified.
func (w *storeCheck) auditedImports(ctx context.Context) map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.imported != nil {
		return w.imported
	}
	w.imported = map[string]bool{}
	store, err := w.store.StoreID(ctx, ports.ReadOnly)
	if err == nil && !store.IsZero() {
		_, _ = w.store.Read(ctx, ports.ReadRequest{Log: audit.LogOf(store)},
			ports.Each(func(seg manifest.Segment, _ manifest.Head) error {
				for _, e := range seg.Events {
					if p, ok := e.Data.(audit.Intended); ok && p.Action == audit.Import {
						w.imported[p.Target.ID] = true
					}
				}
				return nil
			}))
	}
	return w.imported
}
