package ledger

import (
	"context"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/ports"
	auditview "github.com/waybill/waybill/projections/audit"
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
	if c.V == 0 {
		return records.events(ctx, log.Root)
	}
	if c.V != imported.Version {
		return 0, NewerControl(ports.ImportedFile, c.V)
	}
	mark, err := imported.Read(c.Data)
	if log.Root == manifest.SessionEvents(s).Root {
		return mark.Events, err
	}
	return mark.Logs[log.Table.Name], err
}

// ImportedOfLog is ImportedEvents of one log, without records that several calls share.
func (l *Ledger) ImportedOfLog(ctx context.Context, log manifest.Log) (int64, error) {
	return l.ImportedEvents(ctx, log, l.NewImports())
}

// ImportedOf is ImportedEvents for the events of a session.
func (l *Ledger) ImportedOf(ctx context.Context, s id.Session) (int64, error) {
	return l.ImportedEvents(ctx, manifest.SessionEvents(s), l.NewImports())
}

// Imports has the imports recorded in the audit log. The log is read when it is
// first needed; callers that ask about many sessions share one Imports.
type Imports struct {
	l        *Ledger
	complete bool
	records  *auditview.Imports // nil before the reading
}

// NewImports returns an Imports that has read nothing. It reads the audit log
// from the saved ledger on.
func (l *Ledger) NewImports() *Imports { return &Imports{l: l} }

// NewVerifiedImports is NewImports for callers that list or verify: it reads the
// audit log from its beginning, and no saved ledger.
func (l *Ledger) NewVerifiedImports() *Imports { return &Imports{l: l, complete: true} }

// events returns the recorded number of imported events of the log at root. A
// nil index has no records. Of a damaged audit log the valid part counts.
func (b *Imports) events(ctx context.Context, root string) (int64, error) {
	if b == nil {
		return 0, nil
	}
	if b.records == nil {
		store, err := b.l.store.StoreID(ctx, ports.ReadOnly)
		if err != nil || store.IsZero() {
			return 0, err
		}
		saved := auditview.NewLedger()
		if !b.complete {
			saved = b.l.savedLedger(ctx, audit.LogOf(store))
		}
		read, _, err := b.l.read(ctx, audit.LogOf(store), saved)
		if err != nil {
			return 0, err
		}
		b.records = &read.Imports
	}
	return b.records.Events(root), nil
}

// NewerControl is STORE_NEWER for a control file of a later version.
func NewerControl(f ports.ControlFile, v int64) error {
	return fault.New(fault.StoreNewer, "%s is of version %d, which this binary does not know", f.Name, v)
}
