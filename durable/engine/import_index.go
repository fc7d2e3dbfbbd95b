package engine

import (
	"context"
	"strconv"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// countedOutputs returns a node's outputs without the approvals that came with
// a bundle: these are displayed, but no person of this store gave them
// (docs/design.md#requirements-on-the-caller). next is the index of the event
// that a decision would create. A decision that was made before the import
// counted those approvals, so replay passes its original index.
func (g *Engine) countedOutputs(ctx context.Context, s id.Session, n *runs.Node,
	next int64) ([]runs.Output,
	error) {
	if n.Approvals == 0 {
		return n.Outputs, nil
	}
	foreign, err := g.importedSessionEvents(ctx, s)
	if err != nil || next < foreign {
		return n.Outputs, err
	}
	var out []runs.Output
	for _, o := range n.Outputs {
		if o.Payload.ArtifactKind != advance.ApprovalKind || o.Index >= foreign {
			out = append(out, o)
		}
	}
	return out, nil
}

// importedEvents returns how many events of a log came with a bundle; these are
// its first ones. The session's import mark records the number. Without the
// mark the audit record of the import counts, so that a lost file does not turn
// imported approvals into valid ones.
func (g *Engine) importedEvents(ctx context.Context, log manifest.Log, records *importIndex) (int64, error) {
	s, err := id.ParseSession(log.Owner)
	if err != nil || g.SessionControls == nil {
		return 0, nil // logs of the store itself are never imported
	}
	c, err := g.SessionControls.SessionControl(ctx, s, ports.ImportedFile)
	if err != nil {
		return 0, err
	}
	own := log.Root == manifest.SessionEvents(s).Root
	if c.V == 0 {
		r, err := records.record(ctx, s)
		switch {
		case own:
			return r.events, err
		case log.Table.Name == audit.Annotations:
			return r.annotations, err
		}
		return 0, err
	}
	if c.V != imported.Version {
		return 0, newerControl(ports.ImportedFile, c.V)
	}
	mark, err := imported.Read(c.Data)
	if own {
		return mark.Events, err
	}
	return mark.Logs[log.Table.Name], err
}

// importedSessionEvents is importedEvents for a session's own log.
func (g *Engine) importedSessionEvents(ctx context.Context, s id.Session) (int64, error) {
	return g.importedEvents(ctx, manifest.SessionEvents(s), &importIndex{g: g})
}

// importIndex is a visitor that collects the imports recorded in the audit log.
// It is read when first needed; callers that ask about many sessions share one.
type importIndex struct {
	g        *Engine
	records  map[string]importRecord // by session
	intended map[id.Event]string
}

// importRecord states how many events of a session's logs were imported.
type importRecord struct {
	// events is the number in the session's own log.
	events      int64
	annotations int64
}

// record returns the record of a session's import, zero without one. A nil
// index has no records.
func (b *importIndex) record(ctx context.Context, s id.Session) (importRecord, error) {
	if b == nil {
		return importRecord{}, nil
	}
	if b.records != nil || b.g.Controls == nil { // no audit log without control files
		return b.records[s.String()], nil
	}
	store, err := b.g.Identity.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		return importRecord{}, err
	}
	b.Reset()
	if _, err = b.g.Logs.Read(ctx, ports.ReadRequest{Log: manifest.StoreLog(store, audit.Table)}, b); err != nil {
		b.records = nil
		return importRecord{}, err
	}
	return b.records[s.String()], nil
}

// Reset implements ports.Visitor.
func (b *importIndex) Reset() {
	b.records, b.intended = map[string]importRecord{}, map[id.Event]string{}
}

// Visit implements ports.Visitor.
func (b *importIndex) Visit(seg manifest.Segment, _ manifest.Head) error {
	for _, e := range seg.Events {
		switch p := e.Data.(type) {
		case audit.Intended:
			if p.Action == audit.Import {
				r := b.records[p.Target.ID]
				r.events = numberIn(p.Details["events"], r.events)
				b.records[p.Target.ID], b.intended[e.ID] = r, p.Target.ID
			}
		case audit.Done:
			if s, ok := b.intended[p.IntendedEventID]; ok {
				r := b.records[s]
				r.annotations = numberIn(p.Details["annotations"], r.annotations)
				b.records[s] = r
			}
		}
	}
	return nil
}

// numberIn parses a number of a record; an invalid one results in known.
func numberIn(text string, known int64) int64 {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	return known
}
