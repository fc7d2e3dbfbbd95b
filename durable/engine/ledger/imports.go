package ledger

import (
	"context"
	"strconv"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/ports"
)

// ImportedEvents returns how many events of a log came with a bundle; these are
// its first ones. The session's import mark records the number. Without the
// mark the audit record of the import counts, so that a lost file does not turn
// imported approvals into valid ones.
func (l *Ledger) ImportedEvents(ctx context.Context, log manifest.Log, records *Imports) (int64, error) {
	s, err := id.ParseSession(log.Owner)
	if err != nil {
		return 0, nil // logs of the store itself are never imported
	}
	c, err := l.store.SessionControl(ctx, s, ports.ImportedFile)
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
		return 0, NewerControl(ports.ImportedFile, c.V)
	}
	mark, err := imported.Read(c.Data)
	if own {
		return mark.Events, err
	}
	return mark.Logs[log.Table.Name], err
}

// Imports has the imports recorded in the audit log. The log is read when it is
// first needed; callers that ask about many sessions share one Imports.
type Imports struct {
	l       *Ledger
	records map[string]importRecord // by session, nil before the reading
}

// NewImports returns an Imports that has read nothing.
func (l *Ledger) NewImports() *Imports { return &Imports{l: l} }

// importRecord states how many events of a session's logs were imported.
type importRecord struct {
	// events is the number in the session's own log.
	events      int64
	annotations int64
}

// record returns the record of a session's import, zero without one. A nil
// index has no records.
func (b *Imports) record(ctx context.Context, s id.Session) (importRecord, error) {
	if b == nil {
		return importRecord{}, nil
	}
	if b.records != nil {
		return b.records[s.String()], nil
	}
	store, err := b.l.store.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		return importRecord{}, err
	}
	var found *importVisitor
	_, err = b.l.store.Read(ctx, ports.ReadRequest{Log: audit.LogOf(store)}, ports.Into(&found, newImportVisitor))
	if err != nil {
		return importRecord{}, err
	}
	b.records = found.records
	return b.records[s.String()], nil
}

// importVisitor collects the imports recorded in the audit log.
type importVisitor struct {
	records  map[string]importRecord // by session
	intended map[id.Event]string
}

// newImportVisitor returns a visitor that has received nothing.
func newImportVisitor() *importVisitor {
	return &importVisitor{map[string]importRecord{}, map[id.Event]string{}}
}

// Visit implements ports.Visitor.
func (b *importVisitor) Visit(seg manifest.Segment, _ manifest.Head) error {
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

// NewerControl is STORE_NEWER for a control file of a later version.
func NewerControl(f ports.ControlFile, v int64) error {
	return fault.New(fault.StoreNewer, "%s is of version %d, which this binary does not know", f.Name, v)
}
