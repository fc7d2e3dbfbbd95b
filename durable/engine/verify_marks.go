package engine

import (
	"context"
	"path"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// unmarked tells of a session that came with a bundle and does not say so any more. That
// it did is what its first event says, of one that was imported as new, or what the
// audit log says. Without either there is nothing to tell it by. A verification of
// digests alone decodes neither, and does not ask.
func (w *verifier) missingImportMark(ctx context.Context, s id.Session, from *event.ImportedFrom) []manifest.Finding {
	if w.g.Marks == nil || w.o.Digests {
		return nil
	}
	if c, err := w.g.Marks.SessionControl(ctx, s, ports.ImportedFile); err != nil || c.V != 0 {
		return nil // what is wrong with one that is there is the inspection's to tell
	}
	problem := ""
	switch {
	case w.auditedImports(ctx)[s.String()]: // it counts in the file's place
		problem = "it is gone, and the audit log says that the session came with a bundle; approvals that came along " +
			"are told by that log alone"
	case from != nil:
		problem = "it is gone, and the session says that it came with a bundle; approvals that came along count as " +
			"if " +
			"they were given here"
	default:
		return nil
	}
	at := path.Join(manifest.SessionEvents(s).Root, ports.ImportedFile.Name)
	return []manifest.Finding{manifest.NewFinding(manifest.ControlMissing, at, "%s", problem)}
}

// imports are the sessions that came with a bundle by what the audit log says, which is
// read once for all of them. What cannot be read of it is told where it is verified.
func (w *verifier) auditedImports(ctx context.Context) map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.imported != nil {
		return w.imported
	}
	w.imported = map[string]bool{}
	if w.g.Controls == nil {
		return w.imported // nothing is audited here
	}
	store, err := w.g.Identity.StoreID(ctx, ports.ReadOnly)
	if err == nil && !store.IsZero() {
		_, _ = w.g.Logs.Read(ctx, ports.Reading{Log: manifest.StoreLog(store, audit.Table)},
			segmentFunc(func(seg manifest.Segment) error {
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
